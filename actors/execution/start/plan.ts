/**
 * What an execution is to do, settled before it starts and never changed afterwards.
 *
 * The header is what the actor decides by; it stays in the state, so it is kept small. The plan holds
 * the bulk (instruction, input, schemas); it is written once to the log `plan` and read from there by
 * the activities.
 */

import { type Static, Type } from "@sinclair/typebox";
import { Delivery, JudgeValidator, OutputHandler, Validator } from "../../agent/manifest/execution/results.ts";
import type { NetworkSpec } from "../../agent/manifest/spec.ts";
import { Starter } from "../../identity/starter.ts";
import { defineLog } from "../../kernel/effect.ts";
import { AnyJson } from "../../kernel/json.ts";
import { Nullable } from "../../kernel/schema.ts";
import { Ceilings } from "../../policy/ceilings.ts";
import { CountedFor } from "../../policy/rates/counted.ts";
import { ToolApproval } from "../../policy/security/spec.ts";
import { ToolEntry } from "../../tool/catalog.ts";

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

/** Generations below a root. */
export const maxDepth = 3;

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
export type Volume = Static<typeof Volume>;

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
  /** SVC_TOOL_WAIT_MAX_SECONDS, in milliseconds: how long deadlines stand still in all; absent: from an earlier version. */
  tool_wait_max_ms: Type.Optional(Type.Integer({ minimum: 0 })),
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
  /** Once as many tokens are used, prompts and replies together, no further model call begins; null: any number. */
  max_tokens: Nullable(Type.Integer({ minimum: 1 })),
  intent: Nullable(Type.String()),
  labels: Type.Record(Type.String(), Type.String()),
  trigger: Trigger,
  workflow_name: Nullable(Type.String()),
  workflow_execution_id: Nullable(Type.String()),
  hierarchy: Hierarchy,
  /** The child record of items of a Map that hears of it in place of the run, its parent; absent: none. */
  told: Type.Optional(Type.String()),
  security_context: Nullable(Type.String()),
  initiating_user_sub: Nullable(Type.String()),
  /** For whom its management tools act; absent: there are none. */
  starter: Type.Optional(Starter),
  /** Security contexts that bind it beside its own; absent: none. */
  context_ceilings: Type.Optional(Ceilings),
  /** Whose rates its model and tool calls count in beside the tenant's. */
  counted_for: Type.Optional(CountedFor),
  /** The execution that this one repeats. */
  retry_of: Nullable(Type.String()),
  runtime: RuntimeFacts,
  /** The agent brings nothing to run: the node that has it asks the model itself, without an instance of its own. */
  inline: Type.Optional(Type.Literal(true)),
  volumes: Type.Array(Volume),
  /** What was already worth a warning at the start; more may join while it runs. */
  warnings: Type.Array(Warning),
  bounds: Bounds,
});
export type Header = Static<typeof Header>;

/** A volume of the run, settled at its start. `/workspace` itself is always one of them. */
export const MountPlan = Type.Object({
  name: Type.String(),
  volume_id: Type.String(),
  mount_path: Type.String(),
  storage_class: Type.Union([Type.Literal("ephemeral"), Type.Literal("persistent")]),
  access_mode: Type.Union([Type.Literal("read-only"), Type.Literal("read-write")]),
  size_limit_bytes: Type.Integer(),
  /** Of an ephemeral volume: how long it outlives the run. */
  ttl_ms: Type.Integer(),
  /** Of a workflow's run: other executions may have it mounted at the same time, in any storage class. */
  shared: Type.Optional(Type.Literal(true)),
});
export type MountPlan = Static<typeof MountPlan>;

/** A directory of the host that an operator's manifest opens; where it really lies is looked at when it is mounted. */
const HostMount = Type.Object({
  mount_path: Type.String(),
  host_path: Type.String(),
  access_mode: Type.Union([Type.Literal("read-only"), Type.Literal("read-write")]),
});

/** A file in a volume that a start was given: the volume by its UUID, the path from the volume's root. */
export const Attachment = Type.Object({
  volume_id: Type.String(),
  path: Type.String(),
  name: Type.String(),
  mime_type: Type.String(),
  size: Type.Integer({ minimum: 0 }),
  sha256: Type.Optional(Type.String()),
});
export type Attachment = Static<typeof Attachment>;

/** What a start asked for beyond what the manifest says; a retry asks for the same again. */
const Asked = Type.Object({
  timeout_seconds: Nullable(Type.Number()),
  max_iterations: Nullable(Type.Integer()),
  max_tokens: Nullable(Type.Integer()),
  security_context: Nullable(Type.String()),
});

/** A tool, or several by a pattern, as a manifest opens them. */
const Grant = Type.Object({
  name: Type.String(),
  skip_judge: Type.Boolean(),
  /** Whom its calls wait for; absent: for no person. */
  approval: Type.Optional(ToolApproval),
});

/** What each of its tool calls is judged by; the contexts themselves are read anew each time. */
const CallRules = Type.Object({
  agent_id: Type.String(),
  agent_name: Type.String(),
  /** Name of the security context. */
  context: Type.String(),
  /** `spec.tools`; what they come to is settled at each call. */
  grants: Type.Array(Grant),
  /** As in the header. */
  starter: Type.Optional(Starter),
  context_ceilings: Type.Optional(Ceilings),
});
export type CallRules = Static<typeof CallRules>;

/** The revision that refers to secrets and credentials, and who began the execution. */
const ReferringFacts = Type.Object({
  /** Whose the agent is. */
  tenant: Type.String(),
  deployed: Type.Object({ realm: Nullable(Type.String()), user_id: Type.String(), at: Type.String() }),
  /** Null: a webhook or a schedule began it. */
  initiator: Nullable(Type.Object({ realm: Nullable(Type.String()), user_id: Type.String() })),
});

export const Plan = Type.Object({
  instruction: Type.String(),
  description: Nullable(Type.String()),
  /** Null: the default prompt. */
  prompt_template: Nullable(Type.String()),
  input_data: AnyJson,
  agentskills: Type.Array(Type.String()),
  /** `spec.context`, loaded when the run begins. */
  context: Type.Array(AnyJson),
  /** The caller's value after schema defaults and attachment folding. */
  input: AnyJson,
  context_overrides: AnyJson,
  attachments: Type.Array(Attachment),
  model: Type.Object({ alias: Type.String(), temperature: Nullable(Type.Number()) }),
  /** The effective tools as they were at the start. */
  tools: Type.Array(ToolEntry),
  /** Absent in plans of earlier versions. */
  calls: Type.Optional(CallRules),
  validators: Type.Array(Validator, { maxItems: 16 }),
  tool_judges: Type.Array(JudgeValidator),
  output_handler: Nullable(OutputHandler),
  deliveries: Type.Array(Delivery),
  /** In order of their paths, the shortest first. */
  mounts: Type.Array(MountPlan),
  /** Directories of the host beside them; absent: none. */
  host_mounts: Type.Optional(Type.Array(HostMount)),
  image_pull_policy: Type.Union([Type.Literal("Always"), Type.Literal("IfNotPresent"), Type.Literal("Never")]),
  /** What the image is pulled with, as the manifest names it; absent: nothing. */
  registry_credentials: Type.Optional(Type.String()),
  /** Instances to keep ready for the next run; 0: none. */
  warm_pool_size: Type.Integer({ minimum: 0 }),
  /** The manifest's merged environment; references are resolved at launch, never stored resolved. */
  env: Type.Record(Type.String(), Type.String()),
  /** Where it refers to secrets or credentials: what their use is decided by at each launch. */
  references: Type.Optional(ReferringFacts),
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
  /** `spec.security.network`, or null: written by the start from a checked manifest, and not judged again. */
  network: Type.Unsafe<Pick<NetworkSpec, keyof NetworkSpec> | null>(AnyJson),
  asked: Asked,
  startup_script: Nullable(Type.String()),
  bootstrap_path: Nullable(Type.String()),
});
export type Plan = Static<typeof Plan>;

/** What an iteration is judged by, kept while its validators are at work. */
export const IterationResult = Type.Object({
  output: Type.String(),
  /** Without the bootstrap's own lines. */
  stderr: Type.String(),
  exit_code: Type.Integer(),
});
export type IterationResult = Static<typeof IterationResult>;

/** Holds the plan as its only entry. */
export const planLog = defineLog("plan", Plan);
/** What output handlers and deliveries are given; the last entry counts. */
export const outputLog = defineLog("output", Type.Object({ output: Type.String() }));
/** Holds the loaded text of `spec.context` as its only entry. */
export const contextLog = defineLog("context", Type.Object({ text: Type.String() }));
/** Holds the result of one sandbox instance as its only entry. */
export const resultLog = (instanceId: string) => defineLog(`result:${instanceId}`, IterationResult);
