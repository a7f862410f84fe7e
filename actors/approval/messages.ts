/** Everything an approval can be told or asked, and what it answers. */

import { type Static, Type } from "@sinclair/typebox";
import { outcomeOf } from "../execution/activities.ts";
import { AnyJson, JsonObject } from "../kernel/json.ts";
import { Nullable } from "../kernel/schema.ts";

/** The kind of actor. */
export const APPROVAL = "approval";

const Text = Type.String();
const Milliseconds = Type.Integer({ minimum: 0 });

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

/** Whoever acts on an approval, as authenticated. */
export const Decider = Type.Object({
  sub: Text,
  /** An identity's kind; `agent` for a tool call, `link` for a decision link. */
  kind: Text,
  email: Nullable(Text),
  /** Role of the platform, or membership of the tenant; whatever `role:` may name. */
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
  /** Whether whoever acts may decide about fleet runs, too. */
  manages_fleet: Type.Boolean(),
};
/** Of a request that may be repeated: the same again gets the answer it got first. Null: it never is. */
const work_id = Nullable(Text);

/** What is asked of people. The actor that opens it hears of the decision as `approval_decided`. */
export const Open = Type.Object({
  owner: Type.Object({ kind: Text, key: Text }),
  kind: Type.Union([Type.Literal("workflow"), Type.Literal("fleet_run")]),
  /** The run's own id, or the fleet command's. */
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
  initiator: Type.Object({ kind: Text, sub: Text, email: Nullable(Text) }),
  notify: Type.Array(Notify),
  remind_after_ms: Nullable(Milliseconds),
  escalate: Nullable(Type.Object({ after_ms: Milliseconds, approvers: Type.Array(Text), notify: Type.Array(Notify) })),
});
export type Open = Static<typeof Open>;

/** approval → its owner, in one commit with the decision. */
export const ApprovalDecided = Type.Object({
  approval_id: Text,
  status: ApprovalStatus,
  via: Via,
  /** ISO 8601. */
  decided_at: Text,
  /** The Human result of the workflow contract, section 12. */
  result: JsonObject,
});
export type ApprovalDecided = Static<typeof ApprovalDecided>;

export const messages = {
  /** tell, by its owner, in one commit with the state entry. Repeatable. */
  open: Open,
  /** ask → DecisionReply. */
  approve: Type.Object({ ...Act, work_id, feedback: Nullable(Text), approved_by: Nullable(Text) }),
  reject: Type.Object({ ...Act, work_id, reason: Text, rejected_by: Nullable(Text) }),
  /** `signal_name` and `text` are what the contract's signal table reads; `payload` is kept as it came. */
  signal: Type.Object({ ...Act, signal_name: Nullable(Text), text: Text, payload: AnyJson }),
  /** ask → LinkReply. `hash` is what is stored of the token. `by` is null for a link that goes out by mail. */
  issue_link: Type.Object({ ...Act, by: Nullable(Decider), recipient: Text, hash: Text }),
  /** ask → DecisionReply. The recipient decides by a link; `hash` finds it. */
  decide_by_link: Type.Object({
    source: Source,
    hash: Text,
    decision: Type.Union([Type.Literal("approve"), Type.Literal("reject")]),
    feedback: Nullable(Text),
    reason: Nullable(Text),
  }),
  /** Timers. */
  expire: Type.Object({}),
  remind: Type.Object({}),
  escalate: Type.Object({}),
  /** tell, by its owner: nobody waits for the decision any more. Repeatable. */
  withdraw: Type.Object({ reason: Text }),
  /** What became of one notification; see `notifications.ts`. */
  notified: outcomeOf(AnyJson),
  /** tell, by the retention sweep: erases what was decided long ago. */
  erase: Type.Object({}),
};

const Forbidden = Type.Object({
  outcome: Type.Literal("forbidden"),
  code: Type.Union([
    Type.Literal("approver_not_allowed"),
    Type.Literal("self_approval_forbidden"),
    /** Of a fleet run: who decides must be one who manages the fleet. */
    Type.Literal("insufficient_scope"),
  ]),
});
export type ForbiddenCode = Static<typeof Forbidden>["code"];

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
  /** Of a link: it was used, or its time is over. */
  Type.Object({ outcome: Type.Literal("link_expired") }),
  Type.Object({ outcome: Type.Literal("unknown") }),
]);
export type DecisionReply = Static<typeof DecisionReply>;

export const LinkReply = Type.Union([
  Type.Object({ outcome: Type.Literal("issued"), expires_at: Text }),
  /** This approval has had as many links as one may have. */
  Type.Object({ outcome: Type.Literal("too_many") }),
  Type.Object({ outcome: Type.Literal("already_decided"), status: ApprovalStatus, decided_at: Nullable(Text) }),
  Forbidden,
  Type.Object({ outcome: Type.Literal("unknown") }),
]);
export type LinkReply = Static<typeof LinkReply>;
