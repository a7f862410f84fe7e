/**
 * The slow or outside work an execution asks for, with what goes in and what comes back. Ids are unique per piece of
 * work; the actor drops outcomes whose id it no longer waits for.
 */
import { type Static, Type } from "@sinclair/typebox";
import { CallArguments } from "../approval/tool-call.ts";
import { defineActivity, type Outcome } from "../kernel/activity.ts";
import { AnyJson, JsonObject } from "../kernel/json.ts";
import { Nothing, Nullable } from "../kernel/schema.ts";
import { CountedFor } from "../policy/rates/counted.ts";
import { AskedApproval, CallClearance } from "../policy/security/clearance.ts";
import { Warning } from "./start/plan.ts";

export const IterationRun = Type.Object({
  execution_id: Type.String(),
  iteration: Type.Integer({ minimum: 1 }),
  /** Counts from 1; above 1 after an instance was lost. */
  attempt: Type.Integer({ minimum: 1 }),
  instance_id: Type.String(),
  /** An earlier instance of this execution that must be gone before this one starts. */
  replaces: Type.Union([Type.String(), Type.Null()]),
});
export type IterationRun = Static<typeof IterationRun>;

export const InstanceEnd = Type.Object({
  reason: Type.Union([
    Type.Literal("exited"),
    Type.Literal("terminated"),
    Type.Literal("out_of_memory"),
    Type.Literal("disk_exceeded"),
    Type.Literal("lost"),
  ]),
  exit_code: Type.Union([Type.Integer(), Type.Null()]),
  stdout: Type.String(),
  stdout_truncated: Type.Boolean(),
  stderr: Type.String(),
});
export type InstanceEnd = Static<typeof InstanceEnd>;

/**
 * Outcome: `instance_ended`. Hold a node slot, ask `picked_up`, launch, follow, clean up.
 * Host bound. Fails with `queue_timeout` when no slot came free; other codes become the fault
 * (`image_pull_failed`, `startup_script_failed`, `volume_error`, …, unknown ones `runtime_error`).
 */
const iterationRun = defineActivity({ name: "iteration.run", input: IterationRun, output: InstanceEnd });
export type InstanceEnded = Outcome<typeof iterationRun>;

/**
 * `iteration.run` for an execution `depth` generations below its root. One may wait, slot in hand, for another below it
 * (a judge of a tool call): every generation has slots of its own, or parents that hold every slot would wait for ever.
 */
export function iterationRunAt(depth: number): typeof iterationRun {
  return depth === 0 ? iterationRun : { ...iterationRun, name: `${iterationRun.name}.${depth}` };
}
/**
 * The same for an execution whose agent brings nothing to run (`header.inline`): what stands for its instance is no
 * more than a conversation that any node can take up where it stands. Not host bound; it waits for nothing below it.
 */
export const inlineRun: typeof iterationRun = { ...iterationRun, name: "iteration.run.inline" };

/** What one validator found. Whether that passes is decided by the actor. */
export const Measurement = Type.Object({
  score: Type.Number(),
  confidence: Type.Number(),
  feedback: Type.Union([Type.String(), Type.Null()]),
  details: AnyJson,
});
export type Measurement = Static<typeof Measurement>;
/**
 * Outcome: `validated`. Load the plan and the result (`resultLog`), measure validators in order from `from` on, and stop
 * before the first that is a judge or after the first that does not pass (`passes` of verdict.ts).
 */
export const iterationValidate = defineActivity({
  name: "iteration.validate",
  input: Type.Object({ instance_id: Type.String(), from: Type.Integer({ minimum: 0 }) }),
  // The output comes along: after the last validator the actor needs it, and does not hold it.
  output: Type.Object({ output: Type.String(), measurements: Type.Array(Measurement) }),
});
export type Validated = Outcome<typeof iterationValidate>;

/** What a model is asked. */
const ModelCallInput = Type.Object({
  execution_id: Type.String(),
  agent_name: Type.String(),
  iteration: Type.Integer(),
  log: Type.String(),
  from: Type.Integer(),
  upto: Type.Integer(),
  /** What the service tells the model first; absent: it is worded by the tools of today. */
  system: Type.Optional(Type.String()),
  /** Whether the agent has a sandbox with files. */
  has_files: Type.Optional(Type.Boolean()),
  /** No tools are offered: the loop is out of rounds. */
  last: Type.Optional(Type.Literal(true)),
  alias: Type.String(),
  temperature: Type.Union([Type.Number(), Type.Null()]),
  /** Names that a former version offered; those of today are settled when the model is asked. */
  tools: Type.Optional(Type.Array(Type.String())),
  budget_ms: Type.Integer(),
  /** Whose rates it counts in beside the tenant's. */
  counted_for: Type.Optional(CountedFor),
  /** The plan's only `json_schema` validator describes the answer; a vendor that can is told so. */
  answer_schema: Type.Optional(Type.Literal(true)),
});
export type ModelCallInput = Static<typeof ModelCallInput>;

/** A call as the model wrote it; the actor resolves the name. */
export const ToolCall = Type.Object({
  id: Type.String(),
  name: Type.String(),
  arguments: JsonObject,
  /** What the model wrote where its arguments were no JSON object; such a call is never run. */
  malformed: Type.Optional(Type.String()),
});
export type ToolCall = Static<typeof ToolCall>;

/** A call of a reply that may not run now: the rate of its tool is used up. */
const HeldCall = Type.Object({
  /** In the reply. */
  place: Type.Integer(),
  resource_type: Type.String(),
  retry_after_seconds: Type.Number(),
});
export type HeldCall = Static<typeof HeldCall>;

/** A window of a rate of which most is used up since this call. */
const RateWarned = Type.Object({
  resource: Type.String(),
  bucket: Type.String(),
  scope: Type.String(),
  limit: Type.Number(),
});

export const ModelAnswer = Type.Object({
  provider: Type.String(),
  model: Type.String(),
  content: Type.String(),
  tool_calls: Type.Array(ToolCall),
  finish_reason: Type.Union([
    Type.Literal("stop"),
    Type.Literal("length"),
    Type.Literal("content_filter"),
    Type.Literal("tool_calls"),
  ]),
  usage: Type.Object({ input_tokens: Type.Number(), output_tokens: Type.Number() }),
  cost_usd: Type.Number(),
  /** What the model had not seen before this call, as text (`newsOf` of conversation.ts). */
  prompt: Type.String(),
  /** What the record should say of how the reply came about; absent in answers of earlier versions. */
  warnings: Type.Optional(Type.Array(Warning)),
  /** Absent in answers of earlier versions, as are the next. */
  rate_warnings: Type.Optional(Type.Array(RateWarned)),
  held_calls: Type.Optional(Type.Array(HeldCall)),
  /** What policy says of each call of the reply, in their order. */
  clearances: Type.Optional(Type.Array(CallClearance)),
});
export type ModelAnswer = Static<typeof ModelAnswer>;

export const ModelFailure = Type.Object({
  error_class: Type.String(),
  provider: Type.String(),
  model: Type.String(),
  attempts: Type.Integer(),
  elapsed_ms: Type.Number(),
  fallback_attempted: Type.Boolean(),
  retry_after_seconds: Type.Optional(Type.Number()),
});
export type ModelFailure = Static<typeof ModelFailure>;

/**
 * Outcome: `model_outcome`. Load entries `from`..`upto` of `log`, put `system` before the conversation they hold
 * (`conversationOf`), call the model. A `ModelError` becomes a terminal failure of code `model_error` with
 * `ModelFailure` as details; a call that the rates of tenant and user do not let through is not made, and is one of a code
 * of `heldBack` (loop/own-limits.ts).
 */
export const modelCall = defineActivity({ name: "model.call", version: 6, input: ModelCallInput, output: ModelAnswer });
export type ModelOutcome = Outcome<typeof modelCall>;

/** A call of a tool that runs on the node. */
export const ToolCallInput = Type.Object({
  execution_id: Type.String(),
  iteration: Type.Integer(),
  instance_id: Type.String(),
  log: Type.String(),
  seq: Type.Integer(),
  call_id: Type.String(),
  tool: Type.String(),
  repeatable: Type.Boolean(),
  /** The entry of `log` that holds the arguments as an approver changed them. */
  edited: Type.Optional(Type.Integer()),
  /** People have approved it: rate, judges and approvals were passed, a full concurrency is waited for. */
  approved: Type.Optional(Type.Literal(true)),
  /** Absent in work of earlier versions. */
  invocation_id: Type.Optional(Type.String()),
});
export type ToolCallInput = Static<typeof ToolCallInput>;

/** The outcome of the tool port, as it is. The actor words the tool message. */
export const ToolAnswer = Type.Union([
  Type.Object({ status: Type.Literal("succeeded"), result: JsonObject }),
  Type.Object({
    status: Type.Literal("failed"),
    code: Type.String(),
    message: Type.String(),
    details: Type.Optional(AnyJson),
  }),
  Type.Object({
    status: Type.Literal("refused"),
    error_code: Type.Integer(),
    code: Type.String(),
    violation_type: Type.String(),
    message: Type.String(),
    attempted: Type.String(),
    /** Seconds to wait, for 2005 and 2008. */
    retry_after_seconds: Type.Optional(Type.Number()),
  }),
]);
export type ToolAnswer = Static<typeof ToolAnswer>;

/** The call is a run on an edge host that people are asked about; made again once they have approved, it goes on. */
export const HeldRun = Type.Object({
  status: Type.Literal("waiting"),
  fleet_command_id: Type.String(),
  approval_id: Type.String(),
  /** Unix ms. */
  expires_at: Type.Integer(),
});
export type HeldRun = Static<typeof HeldRun>;

/**
 * Outcome: `tool_outcome`. Run one fs or server tool. The arguments are those of call `call_id` in the assistant message
 * at entry `seq` of `log`. When resumed after a crash and not `repeatable`, answer `failed` with code `interrupted`
 * instead of running again.
 */
export const toolCall = defineActivity({
  name: "tool.call",
  version: 3,
  input: ToolCallInput,
  output: Type.Union([...ToolAnswer.anyOf, HeldRun]),
});
export type ToolOutcome = Outcome<typeof toolCall>;

/** A call that people are to be asked about, and who asks them. */
const CallAskInput = Type.Object({
  log: Type.String(),
  seq: Type.Integer(),
  call_id: Type.String(),
  edited: Type.Optional(Type.Integer()),
  /** As in `ToolCallInput`; absent in work of earlier versions. */
  work: Type.Optional(ToolCallInput),
});
/**
 * Outcome: `call_gathered`. Read what people are to be shown of a call: its arguments, as they are and without the values
 * of secrets, and what the model said with it. `full`: so many calls wait already that no further one may.
 */
export const callGather = defineActivity({
  name: "call.gather",
  version: 2,
  input: CallAskInput,
  output: Type.Object({
    arguments: CallArguments,
    model_reason: Type.Union([Type.String(), Type.Null()]),
    full: Type.Union([Type.Literal("execution"), Type.Literal("tenant"), Type.Null()]),
    /** Whether this node's configuration sends mail. */
    mails: Type.Boolean(),
    /** The address of the identity that started the execution, as far as it is known. */
    initiator_email: Type.Optional(Nullable(Type.String())),
    /** Of edited arguments: whom today's policy has asked about them, or why it does not let them run. */
    judged: Type.Optional(
      Type.Union([
        Type.Object({ status: Type.Literal("cleared"), approvals: Type.Array(AskedApproval) }),
        ...ToolAnswer.anyOf,
      ]),
    ),
  }),
});
export type CallGathered = Outcome<typeof callGather>;

/**
 * Outcome: `call_cleared`. Judge by today's policy a call that was held up, or a command that people have approved, which
 * the bootstrap runs: there is no `tool.call` that would.
 */
export const callClear = defineActivity({
  name: "call.clear",
  version: 2,
  input: ToolCallInput,
  output: Type.Union([
    Type.Object({
      status: Type.Literal("cleared"),
      max_timeout_secs: Type.Union([Type.Integer(), Type.Null()]),
      /** Whom policy asks about it now; absent: a node of a former version does not tell. */
      approvals: Type.Optional(Type.Array(AskedApproval)),
    }),
    ...ToolAnswer.anyOf,
  ]),
});
export type CallCleared = Outcome<typeof callClear>;

/**
 * Outcome: `output_handled`. Send the accepted output (`outputLog`) to the plan's webhook. The answer is the new output;
 * an empty one leaves the output as it was.
 */
export const outputHandle = defineActivity({
  name: "output.handle",
  input: Nothing,
  output: Type.Object({
    output: Type.String(),
    /** Whether the answer was longer than an output may be. */
    truncated: Type.Boolean(),
  }),
});
export type OutputHandled = Outcome<typeof outputHandle>;

/** Outcome: `output_recalled`. Read the accepted output back. */
export const outputRecall = defineActivity({
  name: "output.recall",
  input: Nothing,
  output: Type.Object({ output: Type.String() }),
});
export type OutputRecalled = Outcome<typeof outputRecall>;

/**
 * Outcome: `delivery_ended`. Send destination `delivery` of the plan the end of the actor, at least once; what comes
 * of it changes nothing.
 */
export const deliverySend = defineActivity({
  name: "delivery.send",
  input: Type.Object({ delivery: Type.Integer({ minimum: 0 }) }),
  output: AnyJson,
});

/** Outcome: `workspace_removed`. The execution was erased: take its workspace away. */
export const workspaceRemove = defineActivity({
  name: "workspace.remove",
  input: Type.Object({
    execution_id: Type.String(),
    /** The instance that may still be ending. */
    instance_id: Type.Union([Type.String(), Type.Null()]),
  }),
  output: AnyJson,
});
