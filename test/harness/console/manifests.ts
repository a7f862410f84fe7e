/** Agents and workflows that leave behind every state a console has to show. */

const agent = (name: string, description: string, script: object, rest = "") => `apiVersion: svc.dev/v1
kind: Agent
metadata:
  name: ${name}
  version: "1.0.0"
  description: ${description}
  labels: { team: support, role: worker }
spec:
  runtime: { language: python, version: "3.12", model: default }
  task:
    instruction: |
      ${description}.

      \`\`\`svc-script
      ${JSON.stringify(script)}
      \`\`\`
${rest}`;

const command = (script: string, timeout = 60) => ({
  name: "cmd.run",
  arguments: { command: "sh", args: ["-c", script], timeout_secs: timeout },
});

export const agents = {
  summarizer: agent("summarizer", "Summarises what it is given", [
    { content: "**Three tickets** came in; all are answered.\n\n1. Invoice\n2. Access\n3. Hardware" },
  ]),
  /** Ends only when it is told to. */
  watcher: agent(
    "watcher-of-the-queue-of-tickets-in-europe",
    "Watches a queue until it is told to stop",
    [{ content: "I watch it.", tool_calls: [command("echo watching; sleep 3000", 3_600)] }],
    `  execution: { mode: one-shot, iteration_timeout: 1h }
  security: { resources: { timeout: 1h } }
  tools: [cmd.run]
`,
  ),
  /** Waits for a person. */
  releaser: agent(
    "releaser",
    "Publishes the notes of a release",
    [
      {
        content: "The notes are ready, so I publish them.",
        tool_calls: [{ name: "cmd.run", arguments: { command: "echo", args: ["publish", "--to", "everyone"] } }],
      },
      { content: "Published." },
    ],
    `  input_schema:
    type: string
  tools:
    - name: cmd.run
      approval: { editable: true, timeout_seconds: 3600, on_timeout: reject, remember: execution }
`,
  ),
  /** Never says what it has to say. */
  checker: agent(
    "checker",
    "Writes a report that its checks refuse",
    [
      {
        content: "First a look.",
        tool_calls: [command("echo looking; echo 'Traceback (most recent call last): KeyError: orders' >&2; exit 3")],
      },
      { content: "I could not find the numbers." },
    ],
    `  execution:
    mode: iterative
    max_iterations: 2
    validation:
      - { type: regex, pattern: "^# Report of the incident, with its causes, its duration and what is done about it" }
  tools: [cmd.run]
`,
  ),
} as const;

export const longWorkflowName = "ship-what-was-ordered-after-somebody-agreed";

/** Asks a person after a check that fails. */
export const approvalWorkflow = `apiVersion: svc.dev/v1
kind: Workflow
metadata:
  name: ${longWorkflowName}
  version: "1.0.0"
  description: Ships an order once a person agrees
  input_schema:
    type: object
    required: [item]
    properties: { item: { type: string, title: Item }, note: { type: string } }
spec:
  initial_state: CHECK
  states:
    CHECK:
      kind: System
      command: "echo weighing; exit 3"
      transitions:
        - { condition: exit_code_non_zero, target: ASK }
        - { condition: exit_code_zero, target: DONE }
    ASK:
      kind: Human
      prompt: "Ship {{input.item}}? {{input.note}}"
      timeout: 1d
      transitions:
        - { condition: approved, target: DONE }
        - { condition: rejected, target: STOPPED }
    DONE: { kind: System, command: noop, transitions: [] }
    STOPPED: { kind: System, command: noop, outcome: failed, transitions: [] }
`;

/** Fails with a long error. */
export const failingWorkflow = `apiVersion: svc.dev/v1
kind: Workflow
metadata:
  name: nightly-import
  version: "2.3.1"
  description: Imports the orders of a day
spec:
  initial_state: FETCH
  states:
    FETCH:
      kind: System
      command: "echo fetching; i=0; while [ $i -lt 30 ]; do echo \\"line $i: column customer_reference is longer than 64 characters\\" >&2; i=$((i+1)); done; exit 7"
      transitions: [{ condition: on_success, target: STORE }]
    STORE: { kind: System, command: noop, transitions: [] }
`;
