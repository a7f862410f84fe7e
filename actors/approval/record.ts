/** An approval as it is shown: while it is open, as a whole, and what happened to it. */

import { type Static, Type } from "@sinclair/typebox";
import { defineLog } from "../kernel/effect.ts";
import { AnyJson } from "../kernel/json.ts";
import { Nullable, Text, Time } from "../kernel/schema.ts";
import { iso } from "../kernel/time.ts";
import { ApprovalStatus, type Decider, type Source } from "./messages.ts";
import { type ApprovalState, approversOf, DecidedBy, shownCall } from "./state.ts";
import { ShownToolCall } from "./tool-call.ts";

export const PendingApproval = Type.Object({
  id: Text,
  kind: Text,
  execution_id: Text,
  workflow_execution_id: Nullable(Text),
  /** Null for other kinds; absent where an earlier version wrote the record. */
  fleet_command_id: Type.Optional(Nullable(Text)),
  workflow_id: Nullable(Text),
  workflow_name: Nullable(Text),
  state_name: Nullable(Text),
  visit: Nullable(Type.Integer()),
  tenant_id: Text,
  prompt: Text,
  created_at: Time,
  timeout_seconds: Type.Integer(),
  expires_at: Time,
  status: ApprovalStatus,
  default_response: Nullable(Text),
  reject_on_timeout: Type.Boolean(),
  approvers: Type.Array(Text),
  required_role: Nullable(Text),
  /** How many people must approve, and how many have. */
  quorum: Type.Integer(),
  approvals: Type.Integer(),
  /** Null for other kinds; absent where an earlier version wrote the record. */
  tool_call: Type.Optional(Nullable(ShownToolCall)),
});
export type PendingApproval = Static<typeof PendingApproval>;

/** What the log `events` keeps; its sequence and its time are the log's. */
const eventMembers = {
  type: Type.Union([
    Type.Literal("requested"),
    Type.Literal("notified"),
    Type.Literal("reminded"),
    Type.Literal("escalated"),
    Type.Literal("link_issued"),
    Type.Literal("approved"),
    Type.Literal("rejected"),
    Type.Literal("responded"),
    /** An approver changed the arguments of a tool call. */
    Type.Literal("edited"),
    Type.Literal("timed_out"),
    Type.Literal("withdrawn"),
    Type.Literal("refused"),
  ]),
  actor: Nullable(Type.Object({ sub: Nullable(Text), kind: Text, email: Nullable(Text), role: Nullable(Text) })),
  via: Nullable(Text),
  http_request_id: Nullable(Text),
  ip: Nullable(Text),
  user_agent: Nullable(Text),
  note: Nullable(Text),
};
export const StoredEvent = Type.Object(eventMembers);
export type StoredEvent = Static<typeof StoredEvent>;
/** The history. */
export const approvalEvents = defineLog("events", StoredEvent);
/** The arguments of a tool call, redacted and escaped, whole: as they were asked about, and after each edit. */
export const argumentsLog = defineLog("arguments", Type.Object({ shown: AnyJson, sha256: Text }));
export const ApprovalEvent = Type.Object({ sequence: Type.Integer(), at: Time, ...eventMembers });
export type ApprovalEvent = Static<typeof ApprovalEvent>;

const decided = {
  decision: Nullable(Text),
  response: Nullable(Text),
  feedback: Nullable(Text),
  approved_by: Nullable(Text),
  rejected_by: Nullable(Text),
  decided_by: Nullable(DecidedBy),
  decided_at: Nullable(Time),
  via: Nullable(Text),
  escalated_at: Nullable(Time),
};
/** A record without its events: what a list is made of, and what is told of a decision. */
export const ApprovalSummary = Type.Object({ ...PendingApproval.properties, ...decided });
export type ApprovalSummary = Static<typeof ApprovalSummary>;
export const ApprovalRecord = Type.Object({ ...ApprovalSummary.properties, events: Type.Array(ApprovalEvent) });
export type ApprovalRecord = Static<typeof ApprovalRecord>;

/** The ready-made object of lists, as long as it is pending. */
export function pendingApproval(id: string, tenant: string, state: ApprovalState): PendingApproval {
  const { request, status, created_at, expires_at, consents } = state;
  return {
    id,
    kind: request.kind,
    execution_id: request.execution_id,
    workflow_execution_id: request.kind === "workflow" ? request.execution_id : null,
    fleet_command_id: request.kind === "fleet_run" ? request.execution_id : null,
    workflow_id: request.workflow_id,
    workflow_name: request.workflow_name,
    state_name: request.state_name,
    visit: request.visit,
    tenant_id: tenant,
    prompt: request.prompt,
    created_at: iso(created_at),
    timeout_seconds: Math.ceil(request.timeout_ms / 1000),
    expires_at: iso(expires_at),
    status,
    default_response: request.default_response,
    reject_on_timeout: request.reject_on_timeout,
    approvers: [...approversOf(state)],
    required_role: request.required_role,
    quorum: request.quorum,
    approvals: consents.length,
    tool_call: shownCall(state),
  };
}

export function approvalSummary(id: string, tenant: string, state: ApprovalState): ApprovalSummary {
  const { decision, escalated_at } = state;
  return {
    ...pendingApproval(id, tenant, state),
    decision: decision?.decision ?? null,
    response: decision?.response ?? null,
    feedback: decision?.feedback ?? null,
    approved_by: decision?.approved_by ?? null,
    rejected_by: decision?.rejected_by ?? null,
    decided_by: decision?.by ?? null,
    decided_at: decision === null ? null : iso(decision.at),
    via: decision?.via ?? null,
    escalated_at: escalated_at === null ? null : iso(escalated_at),
  };
}

/** One entry of the history as it is shown. */
export function approvalEvent(entry: {
  readonly seq: number;
  readonly at: number;
  readonly entry: StoredEvent;
}): ApprovalEvent {
  return { sequence: entry.seq, at: iso(entry.at), ...entry.entry };
}

/** The members of an event; those left out are null. */
export interface EventDetails {
  readonly by?: (Omit<Decider, "sub"> & { readonly sub: string | null }) | null;
  readonly via?: string | null;
  readonly source?: Source;
  readonly note?: string | null;
}

export function storedEvent(
  type: StoredEvent["type"],
  { by = null, via = null, source, note = null }: EventDetails,
): StoredEvent {
  return {
    type,
    actor: by === null ? null : { sub: by.sub, kind: by.kind, email: by.email, role: by.roles[0] ?? null },
    via,
    http_request_id: source?.http_request_id ?? null,
    ip: source?.ip ?? null,
    user_agent: source?.user_agent ?? null,
    note,
  };
}
