/** The states that start agents, commands and workflows, and those that ask people. */
import { type Static, Type } from "@sinclair/typebox";
import { OutputHandler } from "../../agent/manifest/execution/results.ts";
import { Notify } from "../../approval/messages.ts";
import { AnyJson } from "../../kernel/json.ts";
import { Milliseconds, Nullable } from "../../kernel/schema.ts";
import { common, Judge, oneOf, StateMount, Template } from "./parts.ts";

export const AgentState = Type.Object({
  kind: Type.Literal("Agent"),
  ...common,
  agent: Template,
  /** Templates in every text, at any depth. */
  input: AnyJson,
  intent: Nullable(Template),
  isolation: oneOf("inherit", "docker", "process", "firecracker"),
  temperature: Nullable(Type.Number()),
  judges: Type.Array(Judge),
  judge_threshold: Type.Number(),
  max_iterations: Type.Integer({ minimum: 1, maximum: 20 }),
  pre_execution_validator: Nullable(Type.Object({ agent: Type.String(), input_template: Nullable(Template) })),
  volumes: Type.Array(StateMount),
  output_handler: Nullable(OutputHandler),
});
export type AgentState = Static<typeof AgentState>;

export const Resources = Type.Object({
  cpu_millicores: Type.Integer({ minimum: 1 }),
  memory_bytes: Type.Integer({ minimum: 1 }),
});

/** A text is for a shell, a list is the arguments themselves (docs/reference/workflows.md). */
export const Command = Type.Union([
  Type.Object({ form: Type.Literal("text"), text: Template }),
  Type.Object({ form: Type.Literal("list"), list: Type.Array(Template) }),
]);
export type Command = Static<typeof Command>;

const NetworkMode = oneOf("none", "default");

export const SystemState = Type.Object({
  kind: Type.Literal("System"),
  ...common,
  /** The exact texts `noop` and `update_blackboard` start no process. */
  command: Command,
  env: Type.Record(Type.String(), Template),
  workdir: Template,
  /** Null: SVC_SYSTEM_IMAGE. */
  image: Nullable(Template),
  network_mode: NetworkMode,
  resources: Resources,
});
export type SystemState = Static<typeof SystemState>;

const container = {
  name: Template,
  image: Template,
  command: Type.Array(Template, { minItems: 1 }),
  env: Type.Record(Type.String(), Template),
  workdir: Template,
  volumes: Type.Array(StateMount),
  resources: Resources,
  registry_credentials: Nullable(Type.String()),
  /** The elements are one text for a shell. */
  shell: Type.Boolean(),
  network_mode: NetworkMode,
};

export const ContainerRunState = Type.Object({
  kind: Type.Literal("ContainerRun"),
  ...common,
  ...container,
  image_pull_policy: oneOf("Always", "IfNotPresent", "Never"),
  /** Of infrastructure faults; `backoff_ms` null: attempt × 1 s. */
  retry: Type.Object({ max_attempts: Type.Integer({ minimum: 1, maximum: 10 }), backoff_ms: Nullable(Milliseconds) }),
  read_only_root_filesystem: Type.Boolean(),
  run_as_user: Nullable(Type.Integer({ minimum: 0 })),
  output_handler: Nullable(OutputHandler),
});
export type ContainerRunState = Static<typeof ContainerRunState>;

/** One of the containers that a state runs at once. */
export const Step = Type.Object({ ...container, timeout_ms: Nullable(Milliseconds) });
export type Step = Static<typeof Step>;

export const ParallelContainerRunState = Type.Object({
  kind: Type.Literal("ParallelContainerRun"),
  ...common,
  steps: Type.Array(Step, { minItems: 1, maxItems: 20 }),
  completion: oneOf("all_succeed", "any_succeed", "best_effort"),
});
export type ParallelContainerRunState = Static<typeof ParallelContainerRunState>;

export const HumanState = Type.Object({
  kind: Type.Literal("Human"),
  ...common,
  prompt: Template,
  default_response: Nullable(Type.String()),
  reject_on_timeout: Type.Boolean(),
  /** `user:<sub>`, `email:<address>`, `role:<role>`; empty: every caller with the scope. */
  approvers: Type.Array(Type.String()),
  /** A role that every decider must hold, beside being an approver. */
  required_role: Nullable(Type.String()),
  /** Different people who must approve before it counts; one rejection is enough. */
  quorum: Type.Integer({ minimum: 1, maximum: 20 }),
  forbid_initiator: Type.Boolean(),
  allow_agents: Type.Boolean(),
  notify: Type.Array(Notify),
  remind_after_ms: Nullable(Milliseconds),
  escalate: Nullable(
    Type.Object({ after_ms: Milliseconds, approvers: Type.Array(Type.String()), notify: Type.Array(Notify) }),
  ),
});
export type HumanState = Static<typeof HumanState>;

export const Consensus = Type.Object({
  strategy: oneOf("weighted_average", "majority", "unanimous", "best_of_n"),
  threshold: Type.Number(),
  /** What the confidence must reach for `binary_valid`; null: any. */
  agreement: Nullable(Type.Number()),
  n: Nullable(Type.Integer({ minimum: 1 })),
  min_judges_required: Type.Integer({ minimum: 1 }),
  agreement_factor: Type.Number(),
  self_confidence_factor: Type.Number(),
});
export type Consensus = Static<typeof Consensus>;

export const ParallelAgentsState = Type.Object({
  kind: Type.Literal("ParallelAgents"),
  ...common,
  agents: Type.Array(
    Type.Object({
      agent: Template,
      input: AnyJson,
      weight: Type.Number({ exclusiveMinimum: 0 }),
      timeout_ms: Milliseconds,
    }),
    { minItems: 1, maxItems: 20 },
  ),
  consensus: Consensus,
  judges_for_parallel: Type.Array(Judge),
  output_handler: Nullable(OutputHandler),
});
export type ParallelAgentsState = Static<typeof ParallelAgentsState>;

export const SubworkflowState = Type.Object({
  kind: Type.Literal("Subworkflow"),
  ...common,
  workflow: Template,
  mode: oneOf("blocking", "fire_and_forget"),
  /** Set exactly when blocking. */
  result_key: Nullable(Type.String()),
  input: AnyJson,
});
export type SubworkflowState = Static<typeof SubworkflowState>;
