/** A manifest to begin with, whose comments tell what may be changed. It deploys as it is, and a script answers where no model does. */

/** @param name as manifests have it @returns the text of a manifest, YAML */
export const firstAgent = (
  name: string,
): string => `# An agent: what to do, with which model, in which sandbox, with which tools and limits.
# Deploy it with \`svc agents deploy\`, run it with \`svc run ${name} "some input"\`.
# All fields: docs/reference/agents.md, or {service}/schemas/agent.json for your editor.
apiVersion: svc.dev/v1
kind: Agent
metadata:
  name: ${name}
  # Deploying another text under the same version makes a revision of it.
  version: "0.1.0"
  description: Greets the input, and keeps the greeting in a file
  # labels: { team: support }

spec:
  runtime:
    # What the sandbox has: a language and its version, or \`image: registry.example/me/image:tag\`.
    language: python
    version: "3.12"
    # An alias of the service's models; \`default\` is always there.
    model: default

  task:
    # What the agent is told. Its input comes after it. The block \`svc-script\` is for services without a model key:
    # there it plays the model. Take it out once you have a key.
    instruction: |
      Greet whom the input names, in one sentence. Write the greeting to /workspace/greeting.txt as well.

      \`\`\`svc-script
      [
        {"content": "I write it down first.",
         "tool_calls": [{"name": "fs.write",
                         "arguments": {"path": "/workspace/greeting.txt", "content": "Hello from ${name}!\\n"}}]},
        {"content": "Hello from ${name}!"}
      ]
      \`\`\`

  execution:
    # \`iterative\` tries again, with the validators' remarks, until they are met.
    mode: one-shot
    # max_iterations: 5
    # Judged after each try; others are json_schema, exit_code, semantic and multi_judge.
    validation:
      - { type: regex, pattern: "Hello" }

  # Tools that the model may call; \`svc tools list\` tells which there are.
  tools: [fs.write, fs.read]

  security:
    # No network unless it is named: { mode: allowlist, allowlist: [api.example.com] }
    # network: { mode: none }
    resources:
      cpu: 500 # thousandths of a core
      memory: 256Mi
      timeout: 5m

  # When it starts by itself.
  # schedule: { type: cron, cron: "0 8 * * 1-5", timezone: Europe/Berlin }

  # What its input must look like; the console makes a form of it.
  # input_schema:
  #   type: object
  #   properties: { name: { type: string } }
`;
