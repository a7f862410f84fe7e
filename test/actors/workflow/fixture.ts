/** Definitions and headers for tests, everything at its default. */
import type { Json } from "../../../actors/kernel/json.ts";
import type { WaitState } from "../../../actors/workflow/definition/outside-states.ts";
import type { Condition, Transition } from "../../../actors/workflow/definition/parts.ts";
import type { HumanState, SystemState } from "../../../actors/workflow/definition/states.ts";
import type { Definition, State } from "../../../actors/workflow/definition.ts";
import type { RunHeader } from "../../../actors/workflow/run/state.ts";

const common = { timeout_ms: null, max_state_visits: 5, outcome: "completed" as const };

type Way = readonly [condition: string | Condition, target: string, feedback?: string];

/** Transitions from short notes; a condition that is a text is one without further members. */
export function ways(...list: readonly Way[]): Transition[] {
  return list.map(([condition, target, feedback]) => {
    const rule = (typeof condition === "string" ? { on: condition } : condition) as Condition;
    return { condition: rule.on, rule, target, feedback: feedback ?? null };
  });
}

export function system(text: string, transitions: Transition[], change: Partial<SystemState> = {}): SystemState {
  return {
    kind: "System",
    ...common,
    timeout_ms: 600_000,
    transitions,
    command: { form: "text", text },
    env: {},
    workdir: "/workspace",
    image: null,
    network_mode: "none",
    resources: { cpu_millicores: 500, memory_bytes: 268_435_456 },
    ...change,
  };
}

export const noop = (...list: readonly Way[]): SystemState => system("noop", ways(...list));

/** A state that writes to the blackboard. */
export const writes = (env: Record<string, string>, ...list: readonly Way[]): SystemState =>
  system("update_blackboard", ways(...list), { env });

export function human(transitions: Transition[], change: Partial<HumanState> = {}): HumanState {
  return {
    kind: "Human",
    ...common,
    timeout_ms: 3_600_000,
    transitions,
    prompt: "Go on?",
    default_response: null,
    reject_on_timeout: false,
    approvers: [],
    required_role: null,
    quorum: 1,
    forbid_initiator: false,
    allow_agents: false,
    notify: [],
    remind_after_ms: null,
    escalate: null,
    ...change,
  };
}

export function agent(transitions: Transition[], change: object = {}): State {
  return {
    kind: "Agent",
    ...common,
    transitions,
    agent: "writer",
    input: "{{input.text}}",
    intent: null,
    isolation: "inherit",
    temperature: null,
    judges: [],
    judge_threshold: 0.8,
    max_iterations: 10,
    pre_execution_validator: null,
    volumes: [],
    output_handler: null,
    ...change,
  };
}

export function subworkflow(transitions: Transition[], change: object = {}): State {
  return {
    kind: "Subworkflow",
    ...common,
    transitions,
    workflow: "inner",
    mode: "blocking",
    result_key: "inner",
    input: {},
    ...change,
  };
}

const container = {
  name: "box",
  image: "alpine:3",
  command: ["true"],
  env: {},
  workdir: "/workspace",
  volumes: [],
  resources: { cpu_millicores: 500, memory_bytes: 268_435_456 },
  registry_credentials: null,
  shell: false,
  network_mode: "none" as const,
};

export function containerRun(transitions: Transition[], change: object = {}): State {
  return {
    kind: "ContainerRun",
    ...common,
    timeout_ms: 600_000,
    transitions,
    ...container,
    image_pull_policy: "IfNotPresent",
    retry: { max_attempts: 1, backoff_ms: null },
    read_only_root_filesystem: false,
    run_as_user: null,
    output_handler: null,
    ...change,
  };
}

/** Two containers at once. */
export function parallelContainers(transitions: Transition[], change: object = {}): State {
  const steps = ["one", "two"].map((name) => ({ ...container, name, timeout_ms: null }));
  return {
    kind: "ParallelContainerRun",
    ...common,
    timeout_ms: 600_000,
    transitions,
    steps,
    completion: "all_succeed",
    ...change,
  };
}

/** Two agents at once. */
export function parallelAgents(transitions: Transition[], change: object = {}): State {
  return {
    kind: "ParallelAgents",
    ...common,
    transitions,
    agents: ["one", "two"].map((name) => ({ agent: name, input: "{{input.text}}", weight: 1, timeout_ms: 600_000 })),
    consensus: {
      strategy: "weighted_average",
      threshold: 0.7,
      agreement: null,
      n: null,
      min_judges_required: 1,
      agreement_factor: 0.7,
      self_confidence_factor: 0.3,
    },
    judges_for_parallel: [],
    output_handler: null,
    ...change,
  };
}

/** Waits for what is awaited; a text is the name of a signal. */
export function wait(awaited: string | WaitState["for"], transitions: Transition[], change: object = {}): WaitState {
  const what = typeof awaited === "string" ? ({ what: "signal", signal: awaited } as const) : awaited;
  return { kind: "Wait", ...common, transitions, for: what, ...change };
}

/**
 * A Branch and the states of its branches, each of which begins with its first.
 * @param join how many must succeed
 */
export function branches(
  name: string,
  join: number,
  lines: Record<string, Record<string, State>>,
  transitions: Transition[] = [],
  change: object = {},
): Record<string, State> {
  const inner = Object.entries(lines).flatMap(([line, states]) =>
    Object.entries(states).map(([state, one]) => [state, { ...one, branch: { state: name, name: line } }]),
  );
  const begun = Object.entries(lines).map(([line, states]) => ({
    name: line,
    initial_state: Object.keys(states)[0] ?? "",
  }));
  return {
    [name]: { kind: "Branch", ...common, transitions, branches: begun, join, ...change },
    ...Object.fromEntries(inner),
  };
}

/** A workflow of these states; it begins with the first. */
export function definitionOf(states: Record<string, State>, change: Partial<Definition> = {}): Definition {
  return {
    name: "sample",
    version: "1.2.0",
    input_schema: null,
    output_schema: null,
    output_template: null,
    context: {},
    initial_state: Object.keys(states)[0] ?? "",
    max_total_transitions: 50,
    storage: { workspace: null, shared_volumes: [] },
    states,
    ...change,
  };
}

export const runId = "0190f3c4-0000-7000-8000-000000000001";

export function headerOf(change: Partial<RunHeader> = {}): RunHeader {
  return {
    workflow_id: "0190f3c2-6d1e-7a55-9c1f-2f6d0c5b8e22",
    workflow_name: "sample",
    workflow_version: "1.2.0",
    tenant_id: "north",
    intent: "",
    attachments: [],
    initiated_by: { kind: "user", sub: "ada", email: "ada@north.example" },
    security_context: null,
    parent: null,
    depth: 0,
    root_execution_id: runId,
    path: [],
    retry_of: null,
    stimulus_id: null,
    timeout_ms: null,
    volumes: [],
    ...change,
  };
}

/** A Human result as approvals give it. */
export function decided(decision: string, change: Record<string, Json> = {}): Record<string, Json> {
  const failed = decision === "rejected" || decision === "timed_out";
  return {
    status: failed ? "failed" : "success",
    decision,
    response: decision,
    feedback: "",
    payload: null,
    approved_by: null,
    rejected_by: null,
    decided_by: { sub: "bob", kind: "user", email: "bob@north.example" },
    decided_at: "2031-05-02T06:00:00.000Z",
    timeout: false,
    approval_id: "",
    ...change,
  };
}
