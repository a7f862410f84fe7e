/** What a new workflow begins with. */

export const templates: readonly { readonly name: string; readonly text: string }[] = [
  {
    name: "A person decides",
    text: `apiVersion: svc.dev/v1
kind: Workflow
metadata:
  name: ask-a-person
  version: "1.0.0"
  description: Asks a person and goes on as they decide
  input_schema:
    type: object
    required: [subject]
    properties:
      subject: { type: string }
spec:
  initial_state: ASK
  states:
    ASK:
      kind: Human
      prompt: "Go on with {{input.subject}}?"
      timeout: 1d
      transitions:
        - { condition: approved, target: DONE }
        - { condition: rejected, target: REFUSED }
        - { condition: on_timeout, target: REFUSED }
    DONE: { kind: System, command: noop, transitions: [] }
    REFUSED: { kind: System, command: noop, outcome: failed, transitions: [] }
`,
  },
  {
    name: "Wait for a signal",
    text: `apiVersion: svc.dev/v1
kind: Workflow
metadata:
  name: wait-for-a-signal
  version: "1.0.0"
spec:
  initial_state: WAIT
  states:
    WAIT:
      kind: Wait
      signal: ready
      timeout: 1h
      transitions:
        - { condition: on_timeout, target: LATE }
        - { target: DONE }
    DONE: { kind: System, command: noop, transitions: [] }
    LATE: { kind: System, command: noop, outcome: failed, transitions: [] }
`,
  },
];
