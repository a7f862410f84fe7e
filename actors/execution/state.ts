/**
 * What an execution remembers between two messages.
 *
 * Every turn rewrites it, so bulk stays out: the plan, the conversation and the output live in logs
 * and events. Times are Unix milliseconds.
 */

import { type Static, Type } from "@sinclair/typebox";
import { Delivery } from "../agent/manifest/execution/results.ts";
import { Nullable, Text } from "../kernel/schema.ts";
import { AskedApproval, ClearedCall } from "../policy/security/clearance.ts";
import { ToolEntry } from "../tool/catalog.ts";
import { Child } from "./child.ts";
import { Panel } from "./judging/panel-state.ts";
import { Rule } from "./judging/validator-result.ts";
import { DispatchCommand } from "./loop/command.ts";
import { JudgesVerdict, Status } from "./messages.ts";
import { Header } from "./start/plan.ts";

/** The part of an output handler that stays in the state. */
export const HandlerRule = Type.Object({
  type: Type.Union([Type.Literal("agent"), Type.Literal("webhook")]),
  /** Of an agent: UUID or name. */
  agent: Nullable(Type.String()),
  timeout_ms: Type.Integer(),
  required: Type.Boolean(),
});
export type HandlerRule = Static<typeof HandlerRule>;

/** From the acceptance of the output on. */
const Handling = Type.Union([
  Type.Literal("handling"),
  /** The handler failed and was optional: the accepted output is being fetched. */
  Type.Literal("recalling"),
]);

const Int = Type.Integer();

const ReplyTo = Type.Object({ node: Text, call: Text, until: Type.Number() });

/** What people are asked about a tool call, and have answered. */
export const CallWait = Type.Object({
  /** Who has agreed so far, of the approvals that policy asks for one after another. */
  agreed: Int,
  /** The activity under way: one that reads what people are shown, or one that judges the call again. */
  activity: Nullable(Text),
  /** The approval that is open. */
  approval: Nullable(
    Type.Object({
      id: Text,
      expires_at: Int,
      on_timeout: Type.Union([Type.Literal("reject"), Type.Literal("fail")]),
      /** Of a run on an edge host, which asked for it; absent: the call did. */
      run: Type.Optional(Text),
    }),
  ),
  /** The approvals that were given: they are told whether the call ran. */
  given: Type.Array(Text),
  /** Of the arguments that were last asked about, in hex. */
  sha256: Nullable(Text),
  /** Entry of the loop log that holds the arguments as an approver changed them. */
  edited: Nullable(Int),
  /** Who is asked about the arguments as they were changed, or by later rules; absent: those whom the clearance names. */
  asks: Type.Optional(Type.Array(AskedApproval)),
  /** The arguments were changed, and it is not known yet who is asked about them: at least who changed them. */
  stale: Type.Optional(Type.Boolean()),
  /** How often they were changed; absent: never. */
  edits: Type.Optional(Int),
});
export type CallWait = Static<typeof CallWait>;

/** A tool call of the current model reply that has no tool message yet. */
export const PendingCall = Type.Object({
  call_id: Text,
  tool: Text,
  read_only: Type.Boolean(),
  /** Null while it waits for its turn, or for its judges. */
  started_at: Nullable(Int),
  /** Of a service tool: the activity that runs it. */
  activity: Text,
  /** Entry of the loop log that holds its arguments. */
  seq: Int,
  /** The arguments as JSON text for the events, at most a few KiB of it. */
  shown_arguments: Text,
  /** Of cmd.run: what the bootstrap is to do. */
  command: Nullable(DispatchCommand),
  /** Of cmd.run once dispatched. */
  dispatch_id: Nullable(Text),
  /** Whether a timer watches over the dispatch. */
  watched: Type.Boolean(),
  /** Output that events have carried while the command runs; null before there was any. */
  live: Nullable(
    Type.Object({
      /** Bytes seen of each stream. */
      stdout: Int,
      stderr: Int,
      /** When the present second began, the bytes that events carried in it, and whether its bound was met. */
      since: Int,
      carried: Int,
      cut: Type.Boolean(),
    }),
  ),
  /** No tool judge is asked. */
  unjudged: Type.Boolean(),
  judges_passed: Int,
  /** The judges at work on it. */
  panel: Nullable(Panel),
  /** What policy says of it; absent: from an earlier version, which asked no policy. */
  clearance: Type.Optional(ClearedCall),
  /** When policy said so; absent: from an earlier version. */
  cleared_at: Type.Optional(Int),
  /** It began, and waits for people since; absent: it has not, or has not waited. */
  begun: Type.Optional(Type.Literal(true)),
  /** Its record was begun. */
  on_record: Type.Optional(Type.Literal(true)),
  /** Present where people are asked about it. */
  wait: Type.Optional(CallWait),
});
export type PendingCall = Static<typeof PendingCall>;

/** A call that came beside the loop and has to pass the tool judges. */
export const OutsideCall = Type.Object({
  /** The same however often it is asked about. */
  id: Text,
  tool: Text,
  judges_passed: Int,
  /** The judges at work on it. */
  panel: Nullable(Panel),
  /** Null while they are at work. */
  verdict: Nullable(JudgesVerdict),
  waiters: Type.Array(ReplyTo),
});
export type OutsideCall = Static<typeof OutsideCall>;

export const LoopPhase = Type.Union([
  Type.Literal("generating"),
  Type.Literal("running_tools"),
  Type.Literal("awaiting_result"),
  Type.Literal("ended"),
  Type.Literal("failed"),
  Type.Literal("superseded"),
  Type.Literal("expired"),
]);
export type LoopPhase = Static<typeof LoopPhase>;

/** The exchange that one `generate` opened. */
export const Loop = Type.Object({
  id: Text,
  phase: LoopPhase,
  body_hash: Text,
  idempotency_key: Nullable(Text),
  alias: Text,
  ended_at: Nullable(Int),
  /** First entry of its conversation in the loop log. */
  from: Int,
  /** The stored reply to the `generate` itself. */
  reply: Nullable(Int),
  /** Model replies whose tool calls were run. */
  rounds: Int,
  /** Out of rounds: the model is being asked once more, without tools. */
  last_call: Type.Boolean(),
  /** Calls to the model so far; numbers their activities. */
  model_calls: Int,
  /** The model call under way. */
  model_call: Nullable(Text),
  /** When the model was first asked for the reply that it still owes; its whole time counts from then. */
  asked_at: Nullable(Int),
  /** Calls that ran. */
  executed: Int,
  usage: Type.Object({ input_tokens: Type.Number(), output_tokens: Type.Number() }),
  calls: Type.Array(PendingCall),
  /** The dispatch whose result is being worked on; null while it is the `generate`. */
  answering: Nullable(Text),
  waiters: Type.Array(ReplyTo),
});
export type Loop = Static<typeof Loop>;

/** A command that was sent to the bootstrap, so that repeats of its result can be told. */
const SentDispatch = Type.Object({
  id: Text,
  loop: Text,
  /** First entry of that loop's conversation. */
  from: Int,
  /** Digest of the result's body; null while there is none. */
  result: Nullable(Text),
  key: Nullable(Text),
  /** The stored reply to the result. */
  reply: Nullable(Int),
});

const IterationPhase = Type.Union([
  /** For a node slot. */
  Type.Literal("waiting"),
  Type.Literal("running"),
  Type.Literal("validating"),
  Type.Literal("over"),
]);

export const Iteration = Type.Object({
  number: Int,
  attempt: Int,
  phase: IterationPhase,
  instance_id: Text,
  action: Text,
  spawned: Type.Boolean(),
  /** When the instance was there; absent: it is not, or an earlier version did not tell. */
  spawned_at: Type.Optional(Int),
  /** Since when it stands still (null: it runs), and how long it did before, ms; absent: it never did. */
  parked: Type.Optional(Type.Object({ since: Nullable(Int), ms: Int })),
  /** Of its first attempt. */
  started_at: Nullable(Int),
  /** When its own time is up; null when the execution's deadline comes first. */
  deadline_at: Nullable(Int),
  exit_code: Nullable(Int),
  /** Bytes of output seen per stream, bytes stored as events, and whether the bound was met. */
  console: Type.Object({ stdout: Int, stderr: Int, stored: Int, full: Type.Boolean() }),
  /** Characters of conversation that `generate` messages brought. */
  heard: Int,
  /** Characters of tool results kept for the record. */
  recorded: Int,
  /** Entries of the instance's loop log. */
  logged: Int,
  loop: Nullable(Loop),
  dispatches: Type.Array(SentDispatch),
  /** From the result on, while its validators are at work. */
  validation: Nullable(
    Type.Object({
      /** Validators that passed; the one at this index is at hand. */
      next: Int,
      /** The output as a rejection tells it to the next iteration. */
      excerpt: Text,
      /** The judges at work. */
      panel: Nullable(Panel),
    }),
  ),
  /** Connections that the egress proxy refused and that became events. */
  egress_blocked: Int,
  /** Set while the last reply to the gateway was a model error. */
  model_fault: Nullable(Type.Object({ error_class: Text, message: Text })),
});
export type Iteration = Static<typeof Iteration>;

/** How it ended, as short as lists need it. The output itself is in the terminal event. */
export const Ending = Type.Object({
  at: Int,
  /** At most 200 characters of the output. */
  summary: Text,
  error: Nullable(Text),
  error_code: Nullable(Text),
  /** Of a cancellation. */
  reason: Nullable(Text),
});
export type Ending = Static<typeof Ending>;

/** Tool calls that wait for people, and the clocks that stand still meanwhile. */
export const Waiting = Type.Object({
  /** The open approval that ends first. */
  for: Nullable(Type.Object({ approval_id: Text, tool: Text, expires_at: Int })),
  /** Since when nothing else is under way in the loop; null: the clocks run. */
  since: Nullable(Int),
  /** What the deadlines were put off by when the clocks were stopped, ms: all that is left. */
  lent_ms: Int,
  /** How long the clocks stood still before, ms. */
  spent_ms: Int,
});
export type Waiting = Static<typeof Waiting>;

/** A call of the execution that people are asked about, made outside of its loop. */
const AskedOutside = Type.Object({ invocation_id: Text, approval_id: Text, tool: Text, expires_at: Int });

/** What is not asked about again in this execution. */
export const Remembered = Type.Object({
  tool: Text,
  /** Who asked: a capability of a context, or the manifest. */
  from: Text,
  /** Of the arguments; null: any. */
  sha256: Nullable(Text),
});
export type Remembered = Static<typeof Remembered>;

export const ExecutionState = Type.Object({
  header: Header,
  status: Status,
  created_at: Int,
  started_at: Nullable(Int),
  deadline_at: Nullable(Int),
  /** Inline: no timer keeps the deadline yet; the activity that runs the first exchange watches it. */
  watched: Type.Optional(Type.Literal(true)),
  ending: Nullable(Ending),
  /** Of the plan: what the actor decides by. */
  temperature: Nullable(Type.Number()),
  tools: Type.Array(ToolEntry),
  rules: Type.Array(Rule),
  tool_rules: Type.Array(Rule),
  handler: Nullable(HandlerRule),
  handling: Nullable(Handling),
  /** The conditions of the plan's deliveries. */
  deliveries: Type.Array(Type.Index(Delivery, ["condition"])),
  /** Whether the log `context` is written. */
  context_kept: Type.Boolean(),
  /** Iterations that were begun. */
  iterations_begun: Int,
  /** Executions it started and waits for. */
  children: Type.Array(Child),
  usage: Type.Object({
    llm_calls: Int,
    input_tokens: Type.Number(),
    output_tokens: Type.Number(),
    tool_calls: Int,
    cost_usd: Type.Number(),
  }),
  iteration: Iteration,
  /** Absent before the first call that waits. */
  waiting: Type.Optional(Waiting),
  /** Calls beside the loop, oldest first, and how many the log `outside_calls` holds; absent: none was judged. */
  outside: Type.Optional(Type.Object({ logged: Int, calls: Type.Array(OutsideCall) })),
  /** Absent: none. */
  asked_outside: Type.Optional(Type.Array(AskedOutside)),
  /** Absent: nothing. */
  remembered: Type.Optional(Type.Array(Remembered)),
});
export type ExecutionState = Static<typeof ExecutionState>;

export function isOver(state: ExecutionState): boolean {
  return state.status !== "pending" && state.status !== "running";
}

/** The members that lists show, stored apart from the others. */
export const listedMembers = [
  "header",
  "status",
  "created_at",
  "started_at",
  "deadline_at",
  "ending",
  "iterations_begun",
  "usage",
  "waiting",
] as const satisfies readonly (keyof ExecutionState)[];
export type ListedExecution = Pick<ExecutionState, (typeof listedMembers)[number]>;
