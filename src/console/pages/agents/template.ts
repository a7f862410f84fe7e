/** A manifest to begin with; its comments say what can be changed. */
export const template = `# An agent: what to do, with which model, in which sandbox, with which tools and limits.
apiVersion: svc.dev/v1
kind: Agent
metadata:
  name: my-agent
  # Another text under the same version becomes a revision of it.
  version: "0.1.0"
  description: Greets the input, and keeps the greeting in a file
  # labels: { team: support }

spec:
  runtime:
    # What the sandbox has: a language and its version.
    language: python
    version: "3.12"
    # An alias of the service's models; \`default\` is always there.
    model: default

  task:
    # What the agent is told; its input follows. Where no model is connected, the block \`svc-script\` plays the model.
    instruction: |
      Greet whom the input names, in one sentence. Write the greeting to /workspace/greeting.txt as well.

      \`\`\`svc-script
      [
        {"content": "I write it down first.",
         "tool_calls": [{"name": "fs.write",
                         "arguments": {"path": "/workspace/greeting.txt", "content": "Hello from my-agent!\\n"}}]},
        {"content": "Hello from my-agent!"}
      ]
      \`\`\`

  execution:
    # \`iterative\` tries again, with the validators' remarks, until they are met.
    mode: one-shot
    validation:
      - { type: regex, pattern: "Hello" }

  # Tools that the model may call.
  tools: [fs.write, fs.read]

  security:
    # No network unless it is named: { mode: allowlist, allowlist: [api.example.com] }
    # network: { mode: none }
    resources:
      cpu: 500 # thousandths of a core
      memory: 256Mi
      timeout: 5m

  # What the input looks like; the form to run the agent is made of it.
  # input_schema:
  #   type: object
  #   properties: { name: { type: string } }
`;
