/** The samples. Their manifests lie beside the features that run them, where tests run each of them to its end. */

export interface SampleEntry {
  readonly id: string;
  readonly kind: "agent" | "workflow" | "webhook";
  readonly title: string;
  readonly description: string;
  /** In the order of deploying; `file` is a path below `src/features`. */
  readonly manifests: readonly { readonly kind: "agent" | "workflow"; readonly name: string; readonly file: string }[];
  readonly requests: readonly {
    readonly method: string;
    readonly path: string;
    readonly body: { readonly [member: string]: string | { readonly [member: string]: string | readonly string[] } };
    readonly summary: string;
  }[];
}

export const samples: readonly SampleEntry[] = [
  {
    id: "hello-agent",
    kind: "agent",
    title: "An agent that counts, writes and reads",
    description:
      "Counts to ten in a real process, writes a note into its workspace and reads it back. Needs no model key.",
    manifests: [{ kind: "agent", name: "hello-agent", file: "agents/sample/hello-agent.yaml" }],
    requests: [
      {
        method: "POST",
        path: "/v1/agents/{agent_id}/execute",
        body: { input: "Say hello" },
        summary: "Starts the agent",
      },
    ],
  },
  {
    id: "release-notes",
    kind: "workflow",
    title: "A workflow that waits for your approval",
    description: "An agent writes release notes, a judge has it improve them, and a person releases them: you.",
    manifests: [
      { kind: "agent", name: "release-writer", file: "workflows/sample/agents/release-writer.yaml" },
      { kind: "agent", name: "release-critic", file: "workflows/sample/agents/release-critic.yaml" },
      { kind: "workflow", name: "release-notes", file: "workflows/sample/release-notes.yaml" },
    ],
    requests: [
      {
        method: "POST",
        path: "/v1/workflows/temporal/execute",
        body: {
          workflow_name: "release-notes",
          input: { changes: ["Workflows hold for people", "Decisions resume them"] },
        },
        summary: "Starts the workflow",
      },
    ],
  },
  {
    id: "webhook",
    kind: "webhook",
    title: "A webhook that starts a workflow",
    description: "Takes deliveries from the source `sample`, and runs a workflow for each. The second request is one.",
    manifests: [{ kind: "workflow", name: "on-stimulus", file: "workflows/sample/on-stimulus.yaml" }],
    requests: [
      {
        method: "POST",
        path: "/v1/stimulus-routes",
        body: { source: "sample", workflow: "on-stimulus", description: "A first webhook" },
        summary: "Makes the source; 409 where it is there already",
      },
      {
        method: "POST",
        path: "/v1/stimuli",
        body: { source: "sample", content: '{"hello": "world"}' },
        summary: "Sends a first delivery",
      },
    ],
  },
];
