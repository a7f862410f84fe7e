/**
 * What an execution is to do, settled before it starts and never changed afterwards.
 *
 * The header is what the actor decides by; it stays in the state, so it is kept small. The plan holds
 * the bulk (instruction, input, schemas); it is written once to the log `plan` and read from there by
 * the activities.
 */
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { AnyJson } from "../json.ts";
import { ToolEntry } from "../tool/catalog.ts";

const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

export const Warning = Type.Object({ code: Type.String(), message: Type.String() });
export type Warning = Static<typeof Warning>;

export const Mode = Type.Union([Type.Literal("one-shot"), Type.Literal("iterative")]);

export const Trigger = Type.Union([
  Type.Literal("api"),
  Type.Literal("tool"),
  Type.Literal("workflow"),
  Type.Literal("schedule"),
  Type.Literal("stimulus"),
  Type.Literal("validator"),
  Type.Literal("output_handler"),
]);

export const Hierarchy = Type.Object({
  parent_execution_id: Nullable(Type.String()),
  depth: Type.Integer({ minimum: 0 }),
  path: Type.Array(Type.String()),
  swarm_id: Nullable(Type.String()),
});

/** Where the agent lives; `sandbox` and `egress_enforced` are known only once a node picked it up. */
export const RuntimeFacts = Type.Object({
  isolation: Type.String(),
  image: Nullable(Type.String()),
  sandbox: Nullable(Type.String()),
  egress_enforced: Nullable(Type.Boolean()),
});
export type RuntimeFacts = Static<typeof RuntimeFacts>;

export const Volume = Type.Object({
  name: Type.String(),
  volume_id: Type.String(),
  mount_path: Type.String(),
  access_mode: Type.String(),
});

/** The node settings that bind this execution, fixed at its start. */
const Bounds = Type.Object({
  /** SVC_LOOP_MAX_ROUNDS */
  max_rounds: Type.Integer({ minimum: 1 }),
  /** SVC_DISPATCH_GRACE_SECONDS, in milliseconds: how long a dispatch may be overdue. */
  dispatch_grace_ms: Type.Integer({ minimum: 0 }),
  /** SVC_TOOL_PARALLELISM: read-only calls under way at once. */
  tool_parallelism: Type.Integer({ minimum: 1 }),
  /** SVC_TOOL_MESSAGE_MAX_BYTES: longer tool messages are trimmed for the model. */
  tool_message_bytes: Type.Integer({ minimum: 256 }),
});

export const Header = Type.Object({
  agent_id: Type.String(),
  agent_name: Type.String(),
  agent_version: Type.String(),
  agent_revision: Type.Integer(),
  mode: Mode,
  max_iterations: Type.Integer({ minimum: 1, maximum: 20 }),
  timeout_ms: Type.Integer({ minimum: 1 }),
  iteration_timeout_ms: Type.Integer({ minimum: 1 }),
  /** Total budget of one model call with its retries. */
  llm_timeout_ms: Type.Integer({ minimum: 1 }),
  intent: Nullable(Type.String()),
  labels: Type.Record(Type.String(), Type.String()),
  trigger: Trigger,
  workflow_name: Nullable(Type.String()),
  workflow_execution_id: Nullable(Type.String()),
  hierarchy: Hierarchy,
  security_context: Nullable(Type.String()),
  initiating_user_sub: Nullable(Type.String()),
  runtime: RuntimeFacts,
  volumes: Type.Array(Volume),
  /** What was already worth a warning at the start; more may join while it runs. */
  warnings: Type.Array(Warning),
  bounds: Bounds,
});
export type Header = Static<typeof Header>;

const Passing = { min_score: Type.Number(), min_confidence: Type.Number() };

export const Validator = Type.Union([
  Type.Object({ type: Type.Literal("exit_code"), expected: Type.Integer(), ...Passing }),
  Type.Object({
    type: Type.Literal("json_schema"),
    schema: AnyJson,
    target_path: Nullable(Type.String()),
    ...Passing,
  }),
  Type.Object({
    type: Type.Literal("regex"),
    pattern: Type.String(),
    target: Type.Union([Type.Literal("stdout"), Type.Literal("stderr")]),
    flags: Type.String(),
    ...Passing,
  }),
]);
export type Validator = Static<typeof Validator>;

export const Plan = Type.Object({
  instruction: Type.String(),
  description: Nullable(Type.String()),
  /** Null: the default prompt. */
  prompt_template: Nullable(Type.String()),
  input_data: AnyJson,
  agentskills: Type.Array(Type.String()),
  /** The loaded `spec.context` items as one text, "" without any. */
  context: Type.String(),
  /** The caller's value after schema defaults and attachment folding. */
  input: AnyJson,
  context_overrides: AnyJson,
  attachments: Type.Array(AnyJson),
  model: Type.Object({ alias: Type.String(), temperature: Nullable(Type.Number()) }),
  /** The effective tools, resolved at the start. */
  tools: Type.Array(ToolEntry),
  validators: Type.Array(Validator, { maxItems: 16 }),
  /** The manifest's merged environment; references are resolved at launch, never stored resolved. */
  env: Type.Record(Type.String(), Type.String()),
  resources: Type.Object({
    cpu_millicores: Type.Integer(),
    memory_bytes: Type.Integer(),
    disk_bytes: Type.Integer(),
    processes: Type.Integer(),
  }),
  /** `spec.security.filesystem`, applied exactly by the fs tools. */
  filesystem: Type.Object({
    read: Type.Array(Type.String()),
    write: Type.Array(Type.String()),
    read_only: Type.Boolean(),
  }),
  /** `spec.security.network`, or null. */
  network: AnyJson,
  startup_script: Nullable(Type.String()),
  bootstrap_path: Nullable(Type.String()),
});
export type Plan = Static<typeof Plan>;

/** The log that holds the plan as its only entry. */
export const PLAN_LOG = "plan";
/** One entry per finished iteration that another one may follow; see `history.ts`. */
export const HISTORY_LOG = "history";
/** The exchange of one sandbox instance with the gateway; see `conversation.ts`. */
export const loopLog = (instanceId: string): string => `loop:${instanceId}`;
