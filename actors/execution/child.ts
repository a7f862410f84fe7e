/** What an execution keeps of its children, and what passes between the two. */

import { type Static, Type } from "@sinclair/typebox";
import { defineActivity, type Outcome } from "../kernel/activity.ts";
import { AnyJson } from "../kernel/json.ts";
import { message } from "../kernel/message.ts";
import { Nullable, Text } from "../kernel/schema.ts";
import { Attachment, MountPlan } from "./start/plan.ts";

export const ChildRole = Type.Union([
  Type.Literal("validator"),
  Type.Literal("tool_judge"),
  Type.Literal("output_handler"),
  /** Started by a tool call; nothing waits for its end but who asks for it. */
  Type.Literal("tool"),
]);
export type ChildRole = Static<typeof ChildRole>;

/** A child whose end is waited for. */
export const Child = Type.Object({
  id: Text,
  role: ChildRole,
  /** Whom its end concerns; of a judge, the id of its panel. */
  concern: Text,
  /** Null until it is known to have started. */
  agent_id: Nullable(Text),
});
export type Child = Static<typeof Child>;

/** A tool call of the loop before it is run, for tool judge `judge`; its arguments are in entry `seq` of `log`. */
const LoopCallInput = Type.Object({
  of: Type.Literal("call"),
  iteration: Type.Integer(),
  judge: Type.Integer(),
  log: Text,
  seq: Type.Integer(),
  call_id: Text,
  tool: Text,
});
/** The same of a call that came beside the loop; its arguments are entry `seq` of the log `outside_calls`. */
const OutsideCallInput = Type.Object({
  of: Type.Literal("outside_call"),
  iteration: Type.Integer(),
  judge: Type.Integer(),
  seq: Type.Integer(),
  tool: Text,
});
/** A tool call before it is run. */
export type CallInput = Static<typeof LoopCallInput> | Static<typeof OutsideCallInput>;

/** What a child is given, by reference where it is large: the state of its parent stays small. */
export const ChildInput = Type.Union([
  Type.Object({ of: Type.Literal("value"), value: AnyJson }),
  /** An iteration's result, for the judges of validator `validator`. */
  Type.Object({
    of: Type.Literal("result"),
    instance_id: Text,
    iteration: Type.Integer(),
    validator: Type.Integer(),
  }),
  LoopCallInput,
  OutsideCallInput,
  /** The accepted output, through the template of the output handler. */
  Type.Object({ of: Type.Literal("output") }),
]);
export type ChildInput = Static<typeof ChildInput>;

/** What a child is started with. */
export const ChildStart = Type.Object({
  child_execution_id: Text,
  /** UUID or name. */
  agent: Text,
  trigger: Type.Union([Type.Literal("validator"), Type.Literal("output_handler")]),
  /** Lowers the agent's own timeout. */
  timeout_ms: Type.Integer({ minimum: 1 }),
  input: ChildInput,
});
export type ChildStart = Static<typeof ChildStart>;

/** What a workflow run lays over the manifest of an agent it starts. */
export const AgentRuntimeOverrides = Type.Object({
  /** Null: the agent's own. */
  isolation: Nullable(Text),
  temperature: Nullable(Type.Number()),
  /** In place of the agent's own workspace, and beside its volumes. */
  mounts: Type.Array(MountPlan),
  /** Of an agent that names none; null: the default one. */
  security_context: Nullable(Text),
  attachments: Type.Array(Attachment),
});
export type AgentRuntimeOverrides = Static<typeof AgentRuntimeOverrides>;

/**
 * Outcome: `child_started`. Start `child_execution_id` as a child of the actor; the same again is the same child. Fails
 * with a code when the child cannot be started, for example `judge_not_found`, `agent_paused`, `depth_exceeded`.
 */
export const childStart = defineActivity({
  name: "child.start",
  version: 2,
  input: ChildStart,
  output: Type.Object({ agent_id: Text }),
});
export type ChildStarted = Outcome<typeof childStart>;

/** What a child's last turn tells its parent. */
export const ChildEnd = Type.Object({
  child_execution_id: Text,
  agent_id: Text,
  /** `completed`, `failed`, `cancelled` or `timed_out`. */
  status: Text,
  /** Of a completed one. */
  output: Nullable(Text),
  error_code: Nullable(Text),
  /** Why it did not complete, for people; absent from what earlier versions told. */
  reason: Type.Optional(Nullable(Text)),
});
export type ChildEnd = Static<typeof ChildEnd>;

/** The kind of a workflow's run, which starts executions as its children. */
export const workflowRunKind = "workflow_run";

/** Tool calls of a child wait for people, or do no longer. */
export const ChildWaiting = Type.Object({
  child_execution_id: Text,
  /** The open approval that ends first; null: none is open. */
  waiting: Nullable(Type.Object({ approval_id: Text, tool: Text, expires_at: Type.Integer() })),
  /** Since when the child's clocks stand still, Unix ms, and for how long they may; null: they run. */
  since: Nullable(Type.Integer()),
  most_ms: Type.Integer(),
});
export type ChildWaiting = Static<typeof ChildWaiting>;

/** What an actor that starts executions takes: the last turn of each tells it, and what it waits for meanwhile. */
export const parentMessages = {
  child_ended: message({ body: ChildEnd }),
  child_waiting: message({ body: ChildWaiting }),
};
