/** What an approval is made of between two turns. */

import { type Static, Type } from "@sinclair/typebox";
import { JsonObject } from "../kernel/json.ts";
import { Nullable, Text } from "../kernel/schema.ts";
import { ApprovalStatus, Open, Via } from "./messages.ts";
import { Remember, type ShownToolCall } from "./tool-call.ts";

/** Unix milliseconds. */
const Moment = Type.Integer();

const person = {
  sub: Nullable(Text),
  kind: Text,
  email: Nullable(Text),
  /** That vouches for the subject; absent: there is no subject, or an earlier version stored it. */
  realm: Type.Optional(Text),
};
const Person = Type.Object(person);

/** The caller who decided, as authenticated. A decision link proves an address, and no subject. */
export const DecidedBy = Type.Object({
  ...person,
  /** Of a decision link alone: the caller who was handed it; null when it went to its recipient by mail. */
  issued_by: Type.Optional(Nullable(Person)),
});
export type DecidedBy = Static<typeof DecidedBy>;

/** A person as people know them: the address, otherwise the subject. */
export const nameOf = ({ sub, kind, email }: Static<typeof Person>): string => email ?? sub ?? kind;

/** One person's consent, while others are still needed. */
const Consent = Type.Object({
  by: DecidedBy,
  at: Moment,
  feedback: Nullable(Text),
  approved_by: Nullable(Text),
  /** Who stands behind it; see `peopleOf`. */
  people: Type.Array(Text),
  work_id: Nullable(Text),
  /** Of a tool call: granted with it; absent: nothing. */
  remember: Type.Optional(Remember),
});

/** Of a tool call: what is known of it beyond the question. */
const CallState = Type.Object({
  /** The arguments as they are, while an approver may still edit them, and for as long as an edit is to be told. */
  given: Nullable(JsonObject),
  edited: Type.Boolean(),
  executed: Nullable(Type.Boolean()),
  /** Requests whose consent an edit has voided, with what they were answered: a repeat gets the same again. */
  voided: Type.Array(Type.Object({ work_id: Text, approvals: Type.Integer() })),
});

export const Link = Type.Object({
  /** SHA-256 of the token, in hex: the token itself is nowhere. */
  hash: Text,
  recipient: Text,
  /** Who was handed it; empty when it went out by mail. */
  issuer: Type.Array(Text),
  /** The same caller as records show it; absent from links of earlier versions. */
  issued_by: Type.Optional(Nullable(Person)),
  used: Type.Boolean(),
});
export type Link = Static<typeof Link>;

export const Decision = Type.Object({
  at: Moment,
  via: Via,
  /** Null: it timed out or was withdrawn. */
  by: Nullable(DecidedBy),
  /** `approved`, `rejected`, `responded`, `timed_out`; null when it was withdrawn. */
  decision: Nullable(Text),
  response: Nullable(Text),
  feedback: Nullable(Text),
  approved_by: Nullable(Text),
  rejected_by: Nullable(Text),
  work_id: Nullable(Text),
});
export type Decision = Static<typeof Decision>;

export const ApprovalState = Type.Object({
  request: Open,
  status: ApprovalStatus,
  created_at: Moment,
  expires_at: Moment,
  reminded: Type.Boolean(),
  escalated_at: Nullable(Moment),
  /** At most as many as the quorum. */
  consents: Type.Array(Consent),
  links: Type.Array(Link),
  links_issued: Type.Integer({ minimum: 0 }),
  refusals: Type.Integer({ minimum: 0 }),
  decision: Nullable(Decision),
  /** Present exactly where `request.tool_call` is. */
  call: Type.Optional(CallState),
  /** Who waits with the owner; absent: none does. */
  watchers: Type.Optional(Type.Array(Open.properties.owner)),
});
export type ApprovalState = Static<typeof ApprovalState>;

/** The tool call as it is shown; null: it is not about one. */
export function shownCall({ request, call }: ApprovalState): ShownToolCall | null {
  if (request.tool_call === undefined) return null;
  return { ...request.tool_call, edited: call?.edited ?? false, executed: call?.executed ?? null };
}

/** The approvers by now; empty: every caller with the scope. An escalation adds to the list, and never removes. */
export function approversOf({ request, escalated_at }: ApprovalState): readonly string[] {
  const { approvers, escalate } = request;
  if (approvers.length === 0 || escalated_at === null || escalate === null) return approvers;
  return [...new Set([...approvers, ...escalate.approvers])];
}
