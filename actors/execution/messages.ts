/** Everything an execution can be told or asked, and what it answers. */
import { type Static, Type } from "@sinclair/typebox";
import { ownerMessages } from "../approval/messages.ts";
import { outcomeOf } from "../kernel/activity.ts";
import { AuditedBy } from "../kernel/audit.ts";
import { defineLog } from "../kernel/effect.ts";
import { JsonObject } from "../kernel/json.ts";
import { defineProtocol, message } from "../kernel/message.ts";
import { Nothing, Nullable } from "../kernel/schema.ts";
import { CallPlace } from "../policy/security/clearance.ts";
import {
  callClear,
  callGather,
  deliverySend,
  inlineRun,
  iterationValidate,
  modelCall,
  outputHandle,
  outputRecall,
  ToolCall,
  toolCall,
  workspaceRemove,
} from "./activities.ts";
import { childStart, parentMessages } from "./child.ts";
import { EgressBlocked, InstanceParked } from "./instance-news.ts";
import { Header, Plan, RuntimeFacts, Warning } from "./start/plan.ts";

const Instance = Type.Object({ instance_id: Type.String() });

/** One message of a conversation on the wire and in the loop log; tool names are catalogue names. */
export const ChatMessage = Type.Object({
  role: Type.Union([Type.Literal("system"), Type.Literal("user"), Type.Literal("assistant"), Type.Literal("tool")]),
  content: Type.String(),
  tool_call_id: Type.Optional(Type.String()),
  tool_calls: Type.Optional(Type.Array(ToolCall)),
});
export type ChatMessage = Static<typeof ChatMessage>;

/** What every gateway message says about its sender and for telling repeats apart. */
const Sender = {
  /** From the execution token; null when the gateway trusts its network. */
  instance_id: Type.Union([Type.String(), Type.Null()]),
  /** Digest of the body, so that a repeat is recognised without keeping the body. */
  body_hash: Type.String(),
  idempotency_key: Type.Union([Type.String(), Type.Null()]),
};

export const Generate = Type.Object({
  ...Sender,
  /** "" when the sender left it out. */
  agent_id: Type.String(),
  iteration_number: Type.Integer(),
  model_alias: Type.String(),
  prompt: Type.String(),
  messages: Type.Array(ChatMessage),
});
export type Generate = Static<typeof Generate>;

export const DispatchResult = Type.Object({
  ...Sender,
  dispatch_id: Type.String(),
  exit_code: Type.Integer(),
  stdout: Type.String(),
  stderr: Type.String(),
  duration_ms: Type.Number(),
  truncated: Type.Boolean(),
  timed_out: Type.Optional(Type.Boolean()),
  signal: Type.Optional(Type.String()),
  stdout_bytes: Type.Optional(Type.Integer()),
  stderr_bytes: Type.Optional(Type.Integer()),
});
export type DispatchResult = Static<typeof DispatchResult>;

/** What becomes of the image an instance needs. */
const PullNews = Type.Union([
  Type.Object({ stage: Type.Literal("image_pull_started"), image: Type.String() }),
  Type.Object({
    stage: Type.Literal("image_pull_completed"),
    image: Type.String(),
    duration_ms: Type.Number({ minimum: 0 }),
  }),
  Type.Object({ stage: Type.Literal("image_pull_failed"), image: Type.String(), error: Type.String() }),
]);
export type PullNews = Static<typeof PullNews>;

/** Output of the bootstrap; `offset` and `bytes` count bytes of the stream. */
const ConsoleChunk = Type.Object({
  instance_id: Type.String(),
  stream: Type.Union([Type.Literal("stdout"), Type.Literal("stderr")]),
  offset: Type.Integer({ minimum: 0 }),
  bytes: Type.Integer({ minimum: 0 }),
  content: Type.String(),
});
export type ConsoleChunk = Static<typeof ConsoleChunk>;

/** Output of a command while it runs; `offset` counts bytes of UTF-8 of the stream. */
export const CommandOutput = Type.Object({
  stream: Type.Union([Type.Literal("stdout"), Type.Literal("stderr")]),
  offset: Type.Integer({ minimum: 0 }),
  content: Type.String({ maxLength: 65_536 }),
  /** There was more than the sender lets through in a second. */
  truncated: Type.Optional(Type.Boolean()),
});
export type CommandOutput = Static<typeof CommandOutput>;
/** Of one message. */
export const CommandOutputs = Type.Array(CommandOutput, { minItems: 1, maxItems: 64 });

export const Status = Type.Union([
  Type.Literal("pending"),
  Type.Literal("running"),
  Type.Literal("completed"),
  Type.Literal("failed"),
  Type.Literal("cancelled"),
  Type.Literal("timed_out"),
]);
export type Status = Static<typeof Status>;

export const StartReply = Type.Object({
  accepted: Type.Literal(true),
  execution_id: Type.String(),
  status: Status,
  /** ISO 8601. */
  created_at: Type.String(),
});
export type StartReply = Static<typeof StartReply>;

export const PickedUpReply = Type.Union([
  Type.Object({ proceed: Type.Literal(false) }),
  Type.Object({
    proceed: Type.Literal(true),
    iteration: Type.Integer(),
    attempt: Type.Integer(),
    /** Unix ms at which the whole execution times out. */
    deadline_at: Type.Integer(),
    /** Bytes of output the execution already has, for `FollowOptions.from`. */
    console: Type.Object({ stdout: Type.Integer(), stderr: Type.Integer() }),
    /** Of an execution whose agent brings nothing to run: all that is left to know for the exchange. */
    inline: Type.Optional(
      Type.Object({
        header: Header,
        /**
         * Unix ms at which the iteration fails; null: not before the execution. The activity that runs the exchange watches both
         * times, and says `iteration_timeout` or `execution_timeout`.
         */
        iteration_deadline_at: Type.Union([Type.Integer(), Type.Null()]),
      }),
    ),
  }),
]);
export type PickedUpReply = Static<typeof PickedUpReply>;

/** Whether there is a kept text to be read. */
const ContextReply = Type.Object({ kept: Type.Boolean() });
export type ContextReply = Static<typeof ContextReply>;

/** The command a bootstrap is to run: the gateway's reply as it is. */
export const Dispatch = Type.Object({
  type: Type.Literal("dispatch"),
  dispatch_id: Type.String(),
  action: Type.Literal("exec"),
  command: Type.String(),
  args: Type.Array(Type.String()),
  cwd: Type.String(),
  env_additions: Type.Record(Type.String(), Type.String()),
  timeout_secs: Type.Integer(),
  max_output_bytes: Type.Integer(),
  iteration_number: Type.Integer(),
});
export type Dispatch = Static<typeof Dispatch>;

/** The end of a loop; on the wire it gains `conversation` (`conversationOf` the log). */
export const Final = Type.Object({
  type: Type.Literal("final"),
  content: Type.String(),
  tool_calls_executed: Type.Integer(),
  finish_reason: Type.Union([
    Type.Literal("stop"),
    Type.Literal("length"),
    Type.Literal("content_filter"),
    Type.Literal("round_limit"),
  ]),
  model: Type.String(),
  usage: Type.Object({
    input_tokens: Type.Number(),
    output_tokens: Type.Number(),
    total_tokens: Type.Number(),
  }),
});
export type Final = Static<typeof Final>;

/** A call that did not come from the loop, before it is run. */
export const JudgeCall = Type.Object({
  /** The same again joins the judges at work, or gets their verdict again. */
  call_id: Type.String(),
  tool: Type.String(),
  /** Without values that the execution was given. */
  arguments: JsonObject,
});
export type JudgeCall = Static<typeof JudgeCall>;

/** What the tool judges found. */
export const JudgesVerdict = Type.Union([
  Type.Object({ status: Type.Literal("cleared") }),
  Type.Object({
    status: Type.Literal("rejected"),
    /** All of the panel, by name. */
    judge: Type.String(),
    score: Type.Number(),
    reason: Type.String(),
  }),
]);

export const JudgesAnswer = Type.Union([
  ...JudgesVerdict.anyOf,
  /** As many calls are being judged as may. */
  Type.Object({ status: Type.Literal("full"), most: Type.Integer() }),
  /** The execution does not run, or no longer. */
  Type.Object({ status: Type.Literal("over") }),
]);
export type JudgesAnswer = Static<typeof JudgesAnswer>;

/** Where a stored reply lies: entry `seq` of `log`, its conversation from entry `from` on. */
const Place = { log: Type.String(), from: Type.Integer(), seq: Type.Integer() };

/** The places that a command takes while it runs; the gateway takes them before it hands the command out. */
const DispatchPlaces = Type.Object({
  of: Type.Array(CallPlace),
  /** People have approved the command: it waits for its places, where another is refused. */
  waits: Type.Boolean(),
});
export type DispatchPlaces = Static<typeof DispatchPlaces>;

export const GatewayAnswer = Type.Union([
  Type.Object({ status: Type.Literal("reply"), reply: Dispatch, places: Type.Optional(DispatchPlaces) }),
  Type.Object({ status: Type.Literal("final"), final: Final, ...Place }),
  /** The reply this message got before: a `dispatch` or `final` entry. `Idempotent-Replay: true`. */
  Type.Object({ status: Type.Literal("replay"), ...Place }),
  Type.Object({
    status: Type.Literal("refused"),
    http: Type.Integer(),
    code: Type.String(),
    message: Type.String(),
    retry_after: Type.Optional(Type.Number()),
    /** Further members of the error body. */
    extras: Type.Optional(JsonObject),
  }),
]);
export type GatewayAnswer = Static<typeof GatewayAnswer>;

export const CancelReply = Type.Union([
  Type.Object({
    outcome: Type.Literal("cancelled"),
    execution_id: Type.String(),
    reason: Type.Union([Type.String(), Type.Null()]),
    cancelled_at: Type.String(),
  }),
  /** 409 `execution_already_terminal` */
  Type.Object({ outcome: Type.Literal("already_terminal"), status: Status }),
  /** 404 */
  Type.Object({ outcome: Type.Literal("unknown") }),
]);
export type CancelReply = Static<typeof CancelReply>;

/** `over`: this execution has ended, or there is none: what was started has no parent. */
const AdoptReply = Type.Object({
  outcome: Type.Union([Type.Literal("adopted"), Type.Literal("too_many"), Type.Literal("over")]),
});
export type AdoptReply = Static<typeof AdoptReply>;

const EraseReply = Type.Object({ outcome: Type.Union([Type.Literal("erased"), Type.Literal("unknown")]) });
export type EraseReply = Static<typeof EraseReply>;

/** By a call of the execution, made outside of its loop, that people are asked about: what becomes of it. */
const OutsideNews = Type.Object({
  news: Type.Union([
    Type.Literal("waiting"),
    Type.Literal("approved"),
    Type.Literal("rejected"),
    Type.Literal("withdrawn"),
  ]),
  invocation_id: Type.String(),
  tool: Type.String(),
  approval_id: Type.String(),
  /** Of the open approval, Unix ms. */
  expires_at: Type.Integer(),
  /** Why it will not run. */
  code: Nullable(Type.String()),
  /** What an approver grants: whom it spares asking again, and of which arguments; null: of any. */
  grant: Type.Optional(Type.Object({ from: Type.String(), sha256: Nullable(Type.String()) })),
  /** No person decided in time, and that fails the execution. */
  fails: Type.Optional(Type.Literal(true)),
});
export type OutsideNews = Static<typeof OutsideNews>;

/** One entry of the loop log. `dispatch` and `final` are stored replies, the rest is the conversation. */
export const LoopEntry = Type.Union([
  Type.Object({ entry: Type.Literal("message"), message: ChatMessage }),
  Type.Object({ entry: Type.Literal("dispatch"), dispatch: Dispatch }),
  Type.Object({ entry: Type.Literal("final"), final: Final }),
  /** The arguments of a call as an approver changed them. */
  Type.Object({ entry: Type.Literal("edit"), call_id: Type.String(), arguments: JsonObject }),
]);
export type LoopEntry = Static<typeof LoopEntry>;

/** The exchange of one sandbox instance with the gateway; see `loop/conversation.ts`. */
export const loopLog = (instanceId: string) => defineLog(`loop:${instanceId}`, LoopEntry);

/** Calls beside the loop that were judged, one entry each. */
export const outsideCallLog = defineLog("outside_calls", Type.Object({ tool: Type.String(), arguments: JsonObject }));

/** Which dispatch the gateway speaks of, and for which instance; null: none was proved. */
const ofDispatch = { instance_id: Nullable(Type.String()), dispatch_id: Type.String() };

export const executionProtocol = defineProtocol({
  kind: "execution",
  version: 15,
  messages: {
    /** The same again gets the same reply. */
    start: message({ body: Type.Object({ header: Header, plan: Plan }), reply: StartReply }),
    /** By `iteration.run` once it holds a slot. Repeatable. */
    picked_up: message({
      body: Type.Object({ instance_id: Type.String(), runtime: RuntimeFacts, warnings: Type.Array(Warning) }),
      reply: PickedUpReply,
    }),
    /**
     * By `iteration.run` before the first launch: `spec.context` as one text. The first one is kept in the log
     * `context`; later ones change nothing.
     */
    context_loaded: message({
      body: Type.Object({ text: Type.String(), warnings: Type.Array(Warning) }),
      reply: ContextReply,
    }),
    /** By `iteration.run` after launch. Repeatable. */
    instance_spawned: message({ body: Instance }),
    /** By `iteration.run`: the instance stands still from now on, or goes on. Repeatable. */
    instance_parked: message({ body: InstanceParked }),
    /** By `iteration.run`, before there is an instance: what becomes of the image it needs. */
    image_pull: message({ body: Type.Object({ instance_id: Type.String(), news: PullNews }) }),
    /** By the egress proxy: it refused the instance a connection. */
    egress_blocked: message({ body: EgressBlocked }),
    /** By `iteration.run`: output in stream order. */
    console: message({ body: ConsoleChunk }),
    /** By the gateway; often answered by a later turn. */
    generate: message({ body: Generate, reply: GatewayAnswer }),
    dispatch_result: message({ body: DispatchResult, reply: GatewayAnswer }),
    /** By the gateway, which has not handed it out: there is no place for the command of a dispatch now (2008). */
    dispatch_refused: message({
      body: Type.Object({ ...ofDispatch, message: Type.String(), retry_after_seconds: Type.Number() }),
      reply: GatewayAnswer,
    }),
    /** By the gateway: the command of a dispatch waited for its place until now. What comes late or again changes nothing. */
    dispatch_delayed: message({
      body: Type.Object(ofDispatch),
    }),
    /** By the gateway: what the command of a dispatch has written so far. What comes late or again changes nothing. */
    command_output: message({
      body: Type.Object({ ...ofDispatch, chunks: CommandOutputs }),
    }),
    /** By the pipeline of tools: whether the tool judges clear a call. Mostly answered by a later turn. Repeatable. */
    judge_call: message({ body: JudgeCall, reply: JudgesAnswer }),
    /** Outcomes of activities. */
    instance_ended: message({ body: outcomeOf(inlineRun) }),
    validated: message({ body: outcomeOf(iterationValidate) }),
    model_outcome: message({ body: outcomeOf(modelCall) }),
    tool_outcome: message({ body: outcomeOf(toolCall) }),
    call_gathered: message({ body: outcomeOf(callGather) }),
    call_cleared: message({ body: outcomeOf(callClear) }),
    child_started: message({ body: outcomeOf(childStart) }),
    output_handled: message({ body: outcomeOf(outputHandle) }),
    output_recalled: message({ body: outcomeOf(outputRecall) }),
    delivery_ended: message({ body: outcomeOf(deliverySend) }),
    workspace_removed: message({ body: outcomeOf(workspaceRemove) }),
    ...parentMessages,
    /** By the tool that started an execution below this one. Repeatable. */
    adopt_child: message({
      body: Type.Object({ execution_id: Type.String(), agent_id: Type.String() }),
      reply: AdoptReply,
    }),
    /** Approvals of tool calls. */
    ...ownerMessages,
    asked_outside: message({ body: OutsideNews }),
    /** Timers. */
    deadline: message({ body: Nothing }),
    iteration_deadline: message({ body: Instance }),
    dispatch_lost: message({
      body: Type.Object({
        dispatch_id: Type.String(),
        /** Unix ms; absent in timers of earlier versions. */
        due_at: Type.Optional(Type.Integer()),
      }),
    }),
    handler_overdue: message({ body: Nothing }),
    panel_overdue: message({ body: Type.Object({ panel_id: Type.String() }) }),
    cancel: message({ body: Type.Object({ reason: Nullable(Type.String()) }), reply: CancelReply }),
    /** Cancels it if need be; its record and its logs go. `by` is absent where its time is over. */
    erase: message({ body: Type.Object({ by: Type.Optional(AuditedBy) }), reply: EraseReply }),
  },
});
export type ExecutionMessages = typeof executionProtocol.messages;
