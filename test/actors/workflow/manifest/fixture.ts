/** A node's offer and small good manifests, for tests of both. */
import type { Json } from "../../../../actors/kernel/json.ts";
import type { Definition, State } from "../../../../actors/workflow/definition.ts";
import type { JudgedWorkflow, WorkflowOffer } from "../../../../actors/workflow/manifest/judged.ts";
import { judgeWorkflow } from "../../../../actors/workflow/manifest/manifest.ts";
import { furtherStates } from "./further-states.ts";

export type Tree = { [key: string]: Json | undefined };

export const offer: WorkflowOffer = {
  isolations: ["docker"],
  defaultIsolation: "docker",
  openEgress: true,
  rootAllowed: false,
  email: false,
  imageRegistries: null,
  localImages: null,
};

/** The states of a manifest around one state `A`; `B` is where it may go, `END` the end. */
export function around(state: Json): Tree {
  return {
    apiVersion: "svc.dev/v1",
    kind: "Workflow",
    metadata: { name: "sample" },
    spec: {
      initial_state: "A",
      storage: { workspace: {}, shared_volumes: [{ name: "cache" }] },
      states: {
        A: state,
        B: { kind: "System", command: "noop", transitions: [{ target: "END" }] },
        END: { kind: "System", command: "noop", transitions: [] },
      },
    },
  };
}

const on = (...conditions: Tree[]): Json => [...conditions, { target: "B" }] as Json;

const firstStates = {
  Agent: {
    kind: "Agent",
    agent: "writer",
    input: { text: "{{input.text}}", deep: [{ of: "{{workflow.name}}" }], n: 3 },
    intent: "write {{input.what}}",
    isolation: "docker",
    temperature: 0.3,
    judges: [{ agent_id: "critic", input_template: "Judge {{output}}", weight: 2 }],
    judge_threshold: 0.9,
    max_iterations: 3,
    pre_execution_validator: { agent_id: "gate", input_template: "{{input}}" },
    volumes: [{ name: "cache", mount_path: "/workspace/cache", read_only: true }],
    output_handler: { type: "agent", agent_id: "filer", timeout_seconds: 60, required: true },
    timeout: "1h 30m",
    max_state_visits: 20,
    transitions: on({ condition: "score_above", threshold: 0.8, target: "B", feedback: "{{state_output.error}}" }),
  },
  System: {
    kind: "System",
    command: "printf %s {{input.invoice}} | wc -c",
    env: { A: "{{input.a}}", B: "plain" },
    workdir: "/workspace/sub",
    image: "alpine:3.20",
    network_mode: "bridge",
    resources: { cpu: 250, memory: "128Mi", timeout: "20s" },
    transitions: on({ condition: "exit_code", value: 3, target: "END" }),
  },
  Human: {
    kind: "Human",
    prompt: "Release {{input.invoice}}?",
    timeout: "2h",
    default_response: "no",
    reject_on_timeout: true,
    approvers: ["user:u-1", "email:a@example.com", "role:lead"],
    required_role: "lead",
    quorum: 2,
    forbid_initiator: true,
    allow_agents: true,
    notify: [{ type: "webhook", url: "https://example.com/hook", secret: "s3cret" }],
    remind_after: "30m",
    escalate: { after: "1h", approvers: ["role:boss"], notify: [{ type: "webhook", url: "https://example.com/esc" }] },
    transitions: on(
      { condition: "approved", target: "END" },
      { condition: "input_equals", value: "later", target: "A" },
    ),
  },
  ParallelAgents: {
    kind: "ParallelAgents",
    agents: [
      { agent: "one", input: "{{input}}", weight: 2, timeout_seconds: 30, poll_interval_ms: 500 },
      { agent: "{{input.second}}", input: { x: 1 } },
    ],
    consensus: {
      strategy: "best_of_n",
      threshold: 0.6,
      min_agreement_confidence: 0.5,
      n: 1,
      min_judges_required: 1,
      confidence_weighting: { agreement_factor: 0.6, self_confidence_factor: 0.4 },
    },
    judges_for_parallel: [{ agent_id: "11111111-2222-4333-8444-55555555ABCD" }],
    output_handler: { type: "webhook", url: "https://example.com/{{input.id}}", headers: { "X-Id": "{{input.id}}" } },
    transitions: on({ condition: "consensus", threshold: 0.7, target: "END" }),
  },
  ContainerRun: {
    kind: "ContainerRun",
    name: "build",
    image: "rust:1.75",
    command: ["cargo", "build", "{{input.flags}}"],
    image_pull_policy: "Always",
    env: { RUST_LOG: "info" },
    workdir: "/src",
    volumes: [{ name: "workspace", mount_path: "/src" }],
    resources: { cpu: "1.5", memory: "1Gi", timeout: "15m" },
    retry: { max_attempts: 0, backoff: "5s" },
    shell: false,
    read_only_root_filesystem: true,
    run_as_user: 1001,
    network_mode: "none",
    transitions: on({ condition: "exit_code_zero", target: "END" }),
  },
  ParallelContainerRun: {
    kind: "ParallelContainerRun",
    steps: [
      { name: "lint", image: "node:22", command: ["npm", "run", "lint"], resources: { timeout: "1m" } },
      { name: "test", image: "node:22", command: ["npm test", "{{input.only}}"], shell: true },
    ],
    completion: "best_effort",
    transitions: on({ condition: "on_failure", target: "END" }),
  },
  Subworkflow: {
    kind: "Subworkflow",
    workflow_id: "child",
    mode: "blocking",
    result_key: "child_result",
    input: { of: "{{input}}" },
    transitions: on({ condition: "custom", expression: "child_result.score > 0.5 && input.go", target: "END" }),
  },
} as const satisfies Record<string, Json>;
export type FirstKind = keyof typeof firstStates;

/** One good state of every kind that says everything. */
export const states = { ...firstStates, ...furtherStates };
export type Kind = keyof typeof states;

/** A copy with one member of any depth replaced; undefined removes it. The path is dotted; `-` appends to a list. */
export function withMember(whole: Json, path: string, value: Json | undefined): Json {
  const root = structuredClone(whole) as Tree;
  const keys = path.split(".");
  const last = keys.pop() ?? "";
  const holder = keys.reduce<Tree>((node, key) => {
    if (!Object.hasOwn(node, key)) node[key] = {};
    return node[key] as Tree;
  }, root);
  if (value === undefined) delete holder[last];
  else Object.defineProperty(holder, last, { value, enumerable: true, writable: true, configurable: true });
  return root as Json;
}

export interface Reading {
  /** Path and code of each. */
  readonly issues: readonly (readonly [path: string, code: string])[];
  readonly warnings: readonly (readonly [path: string, code: string])[];
  readonly judged: JudgedWorkflow;
}

export function reading(document: Json, over: Partial<WorkflowOffer> = {}): Reading {
  const judged = judgeWorkflow(document, { ...offer, ...over });
  const { issues, warnings } = judged;
  return {
    issues: issues.map(({ path, code }) => [path, code]),
    warnings: warnings.map(({ path, code }) => [path, code]),
    judged,
  };
}

/** @throws when the manifest is refused */
export function definitionOf(document: Json, over: Partial<WorkflowOffer> = {}): Definition {
  const { judged } = reading(document, over);
  if (judged.issues.length > 0) throw new Error(`refused: ${JSON.stringify(judged.issues)}`);
  return judged.definition;
}

/** The state `A` of a good manifest around it. */
export function stateOf(state: Json, over: Partial<WorkflowOffer> = {}): State {
  const read = definitionOf(around(state) as Json, over).states.A;
  if (read === undefined) throw new Error("no state A");
  return read;
}
