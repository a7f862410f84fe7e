/** Everything an approval can be told or asked, and what it answers. */

import { type Static, Type } from "@sinclair/typebox";
import { defineActivity, outcomeOf } from "../kernel/activity.ts";
import { AnyJson, JsonObject } from "../kernel/json.ts";
import { defineProtocol, message, type Protocol } from "../kernel/message.ts";
import { Milliseconds, Nothing, Nullable, Text } from "../kernel/schema.ts";
import { CallArguments, Remember, ToolCallAsked } from "./tool-call.ts";

/** Who is told of an approval. */
export const Notify = Type.Union([
  Type.Object({ type: Type.Literal("webhook"), url: Text, secret: Nullable(Text) }),
  Type.Object({ type: Type.Literal("email"), to: Type.Array(Text, { minItems: 1 }) }),
]);
export type Notify = Static<typeof Notify>;

export const ApprovalStatus = Type.Union([
  Type.Literal("pending"),
  Type.Literal("approved"),
  Type.Literal("rejected"),
  Type.Literal("responded"),
  Type.Literal("timed_out"),
  Type.Literal("withdrawn"),
]);
export type ApprovalStatus = Static<typeof ApprovalStatus>;

export const Via = Type.Union([
  Type.Literal("approve"),
  Type.Literal("reject"),
  Type.Literal("signal"),
  Type.Literal("link"),
  Type.Literal("timeout"),
  Type.Literal("cancel"),
]);
export type Via = Static<typeof Via>;

/** The caller who acts on an approval, as authenticated. */
export const Decider = Type.Object({
  sub: Text,
  /** Whether `sub` is of the tenant's own realm: `user:` names no other. Absent: from an earlier version, which had it so. */
  own_realm: Type.Optional(Type.Boolean()),
  /** An identity's kind; `agent` for a tool call, `link` for a decision link. */
  kind: Text,
  /** Slug of the realm that vouches for the caller, and the OAuth client of a machine; absent: from an earlier version. */
  realm: Type.Optional(Text),
  client: Type.Optional(Nullable(Text)),
  email: Nullable(Text),
  /** Role of the platform, or membership of the tenant; everything that `role:` may name. */
  roles: Type.Array(Text),
});
export type Decider = Static<typeof Decider>;

/** Where an act came from, for the history. */
export const Source = Type.Object({
  http_request_id: Nullable(Text),
  ip: Nullable(Text),
  user_agent: Nullable(Text),
});
export type Source = Static<typeof Source>;

const Act = {
  by: Decider,
  source: Source,
  /** Whether the caller may decide about fleet runs, too. */
  manages_fleet: Type.Boolean(),
};
/** Of a request that may be repeated: the same again gets the answer it got first. Null: it never is. */
const work_id = Nullable(Text);
const seen_sha256 = Type.Optional(Text);

/** The identity behind what is asked about. */
const Initiator = Type.Object({
  kind: Text,
  sub: Text,
  email: Nullable(Text),
  /** That vouches for `sub`; absent: no realm does, or an earlier version asked. */
  realm: Type.Optional(Text),
});

/** What is asked of people. The actor that opens it hears of the decision as `approval_decided`. */
export const Open = Type.Object({
  owner: Type.Object({ kind: Text, key: Text }),
  /**
   * The owner's: a Human state of a run, a command to edge hosts that its tenant's rules hold back for approval, or a tool
   * call that a capability or a manifest holds back.
   */
  kind: Type.Union([Type.Literal("workflow"), Type.Literal("fleet_run"), Type.Literal("tool_call")]),
  /** The run's own id, the fleet command's, or that of the execution; of a call outside of one the call's own. */
  execution_id: Text,
  root_execution_id: Text,
  workflow_id: Nullable(Text),
  workflow_name: Nullable(Text),
  state_name: Nullable(Text),
  visit: Nullable(Type.Integer()),
  prompt: Text,
  /** Unix ms of the owner's turn: both count the deadline from here. */
  asked_at: Milliseconds,
  timeout_ms: Milliseconds,
  default_response: Nullable(Text),
  reject_on_timeout: Type.Boolean(),
  approvers: Type.Array(Text),
  required_role: Nullable(Text),
  quorum: Type.Integer({ minimum: 1 }),
  forbid_initiator: Type.Boolean(),
  allow_agents: Type.Boolean(),
  initiator: Initiator,
  /** Of a tool call: who opened the session that made it, where that is another; `forbid_initiator` excludes both. */
  opener: Type.Optional(Initiator),
  notify: Type.Array(Notify),
  remind_after_ms: Nullable(Milliseconds),
  escalate: Nullable(Type.Object({ after_ms: Milliseconds, approvers: Type.Array(Text), notify: Type.Array(Notify) })),
  /** Of kind `tool_call` alone. */
  tool_call: Type.Optional(ToolCallAsked),
});
export type Open = Static<typeof Open>;

/** approval → its owner, in one commit with the decision. */
export const ApprovalDecided = Type.Object({
  approval_id: Text,
  status: ApprovalStatus,
  via: Via,
  /** ISO 8601. */
  decided_at: Text,
  /** The result of a Human state (docs/reference/approvals.md). */
  result: JsonObject,
  /** Of a tool call: the arguments, where an approver changed them, whole. */
  arguments: Type.Optional(JsonObject),
  /** Of those, in hex. */
  arguments_sha256: Type.Optional(Text),
  /** Of a tool call that was approved: what all approvers granted. */
  remember: Type.Optional(Remember),
  /** Of a tool call that was rejected, and for who waits with the owner: why. */
  reason: Type.Optional(Nullable(Text)),
});
export type ApprovalDecided = Static<typeof ApprovalDecided>;

const Forbidden = Type.Object({
  outcome: Type.Literal("forbidden"),
  code: Type.Union([
    Type.Literal("approver_not_allowed"),
    Type.Literal("self_approval_forbidden"),
    /** Of a fleet run: the caller must be permitted to manage the fleet. */
    Type.Literal("insufficient_scope"),
  ]),
});
export type ForbiddenCode = Static<typeof Forbidden>["code"];

/** Of a tool call: what the approver asks for beside the decision is not to be had. It stays as it is. */
const Unfit = Type.Object({
  outcome: Type.Literal("unfit"),
  code: Type.Union([
    Type.Literal("arguments_not_editable"),
    Type.Literal("remember_not_allowed"),
    /** They are others by now than those that the approver has seen. */
    Type.Literal("arguments_changed"),
  ]),
});
export type UnfitCode = Static<typeof Unfit>["code"];

export const DecisionReply = Type.Union([
  Type.Object({
    outcome: Type.Literal("decided"),
    status: ApprovalStatus,
    decided_at: Text,
  }),
  /** Counted, but more people must approve. */
  Type.Object({ outcome: Type.Literal("counted"), approvals: Type.Integer(), quorum: Type.Integer() }),
  Type.Object({ outcome: Type.Literal("already_decided"), status: ApprovalStatus, decided_at: Nullable(Text) }),
  Forbidden,
  Unfit,
  /** Of a link: it was used, or its time is over. */
  Type.Object({ outcome: Type.Literal("link_expired") }),
  Type.Object({ outcome: Type.Literal("unknown") }),
]);
export type DecisionReply = Static<typeof DecisionReply>;

const LinkReply = Type.Union([
  Type.Object({ outcome: Type.Literal("issued"), expires_at: Text }),
  /** This approval has had as many links as one may have. */
  Type.Object({ outcome: Type.Literal("too_many") }),
  Type.Object({ outcome: Type.Literal("already_decided"), status: ApprovalStatus, decided_at: Nullable(Text) }),
  Forbidden,
  Type.Object({ outcome: Type.Literal("unknown") }),
]);
export type LinkReply = Static<typeof LinkReply>;

/** The events of an approval that its destinations are notified of. */
export const NotificationEvent = Type.Union([
  Type.Literal("requested"),
  Type.Literal("reminder"),
  Type.Literal("escalated"),
  Type.Literal("resolved"),
]);
export type NotificationEvent = Static<typeof NotificationEvent>;

/** Notifies one destination of one event; at least once, in five attempts. `place` is the index of the destination. */
export const notify = defineActivity({
  name: "approval.notify",
  input: Type.Object({ event: NotificationEvent, place: Type.Integer({ minimum: 0 }) }),
  output: Type.Null(),
});

/** Where a decision goes: to who asked, and to who waits with them. */
const Owner = Open.properties.owner;

/** What an actor that opens approvals takes: it is told of the decision in one commit with it. */
export const ownerMessages = { approval_decided: message({ body: ApprovalDecided }) };

/** An owner of these messages as an approval remembers it. */
export function ownerOf({ kind }: Protocol<typeof ownerMessages>, key: string): Open["owner"] {
  return { kind, key };
}

export const approvalProtocol = defineProtocol({
  kind: "approval",
  version: 5,
  messages: {
    /** By its owner, in one commit with the state entry. Repeatable. `arguments`: of a tool call, whole. */
    open: message({ body: Type.Object({ ...Open.properties, arguments: Type.Optional(CallArguments) }) }),
    /**
     * Of a tool call: `arguments` replace those that were asked about, `remember` is granted with the approval, and
     * `seen_sha256` is the digest of the arguments that the approver was shown: no other ones are approved.
     */
    approve: message({
      body: Type.Object({
        ...Act,
        work_id,
        feedback: Nullable(Text),
        approved_by: Nullable(Text),
        arguments: Type.Optional(CallArguments),
        remember: Type.Optional(Remember),
        seen_sha256,
      }),
      reply: DecisionReply,
    }),
    reject: message({
      body: Type.Object({ ...Act, work_id, reason: Text, rejected_by: Nullable(Text) }),
      reply: DecisionReply,
    }),
    /** The signal is read from `signal_name` and `text`; `payload` is kept as it came. */
    signal: message({
      body: Type.Object({ ...Act, signal_name: Nullable(Text), text: Text, payload: AnyJson }),
      reply: DecisionReply,
    }),
    /** `hash` is what is stored of the token. `by` is null for a link that goes out by mail. */
    issue_link: message({
      body: Type.Object({ ...Act, by: Nullable(Decider), recipient: Text, hash: Text }),
      reply: LinkReply,
    }),
    /** The recipient decides by a link; `hash` finds it. `caller`: who else the request proved to come from. */
    decide_by_link: message({
      body: Type.Object({
        caller: Type.Optional(Nullable(Decider)),
        source: Source,
        hash: Text,
        decision: Type.Union([Type.Literal("approve"), Type.Literal("reject")]),
        feedback: Nullable(Text),
        reason: Nullable(Text),
        seen_sha256,
      }),
      reply: DecisionReply,
    }),
    /** Timers; the sweep tells `expire`, too. */
    expire: message({ body: Nothing }),
    remind: message({ body: Nothing }),
    escalate: message({ body: Nothing }),
    /** By its owner, which no longer waits for the decision. Repeatable. */
    withdraw: message({ body: Type.Object({ reason: Text }) }),
    /**
     * By one that waits for what the owner asked: it is told of the decision as the owner is, of a withdrawal as well, at
     * once where that was before. Repeatable.
     */
    watch: message({ body: Type.Object({ owner: Owner }) }),
    /** By the owner of a tool call: whether the call it was approved for was run. The first one counts. */
    executed: message({ body: Type.Object({ executed: Type.Boolean() }) }),
    /** What became of one notification; see `notifications.ts`. */
    notified: message({ body: outcomeOf(notify) }),
    /** By the retention sweep: erases what was decided long ago. */
    erase: message({ body: Nothing }),
  },
});
export type ApprovalMessages = typeof approvalProtocol.messages;
