/** A stimulus as clients read it, alone and in lists (docs/reference/stimuli.md). Every key is always there. */

import { type Static, Type } from "@sinclair/typebox";
import { type Json, JsonObject } from "../kernel/json.ts";
import { Nullable, Text, Time } from "../kernel/schema.ts";
import { type FailedStatus, failedStatusOf, StimulusStatus } from "./statuses.ts";

const Principal = Type.Object({ kind: Text, sub: Text });
const RoutingMode = Type.Union([
  Type.Literal("deterministic"),
  Type.Literal("llm_classified"),
  Type.Literal("override"),
]);

export const ClassificationDetail = Type.Object({
  routing_mode: RoutingMode,
  workflow_id: Nullable(Text),
  workflow_name: Nullable(Text),
  confidence: Nullable(Type.Number()),
  threshold: Nullable(Type.Number()),
  reasoning: Nullable(Text),
  router_agent_id: Nullable(Text),
  router_execution_id: Nullable(Text),
});
export type ClassificationDetail = Static<typeof ClassificationDetail>;

export const StimulusElement = Type.Object({
  id: Text,
  stimulus_id: Text,
  tenant_id: Text,
  source: Text,
  channel: Text,
  status: StimulusStatus,
  dead_letter: Type.Boolean(),
  content: Text,
  content_encoding: Text,
  content_type: Nullable(Text),
  /** Bytes as they arrived. */
  content_size: Type.Integer(),
  content_sha256: Text,
  /** `content` is but the beginning. */
  content_truncated: Type.Boolean(),
  headers_truncated: Type.Boolean(),
  idempotency_key: Nullable(Text),
  duplicate_count: Type.Integer(),
  /** Name of the chosen workflow. */
  classification: Nullable(Text),
  classification_detail: Nullable(ClassificationDetail),
  routing_mode: Nullable(RoutingMode),
  workflow_id: Nullable(Text),
  confidence: Nullable(Type.Number()),
  rejection_reason: Nullable(Text),
  classification_error: Nullable(Text),
  /** Of the last attempt, until one succeeds. */
  error_code: Nullable(Text),
  error_message: Nullable(Text),
  error_details: Nullable(JsonObject),
  attempts: Type.Integer(),
  workflow_execution_id: Nullable(Text),
  route_id: Nullable(Text),
  /** Runs that waited for it and took it, the first 100. */
  taken_by: Type.Array(Text),
  replay_of: Nullable(Text),
  replayed_by: Nullable(Text),
  received_by: Principal,
  created_at: Time,
  received_at: Time,
  last_event_at: Time,
  discarded_at: Nullable(Time),
  discarded_by: Nullable(Principal),
  discard_reason: Nullable(Text),
});
export type StimulusElement = Static<typeof StimulusElement>;

export const StimulusRecord = Type.Composite([
  StimulusElement,
  Type.Object({ headers: Type.Record(Type.String(), Type.String()) }),
]);
export type StimulusRecord = Static<typeof StimulusRecord>;

/** A row of the table, as lists read it. */
export interface StimulusRow {
  readonly tenant: string;
  readonly id: string;
  readonly source: string;
  readonly channel: string;
  readonly status: StimulusStatus;
  readonly dead_letter: boolean;
  /** At least the first `shownBytes + 1` characters of it. */
  readonly content: string;
  readonly content_encoding: "utf-8" | "base64";
  readonly content_type: string | null;
  readonly content_size: number;
  readonly content_sha256: string;
  readonly headers_truncated: boolean;
  readonly idempotency_key: string | null;
  readonly duplicate_count: number;
  readonly source_id: string | null;
  readonly run_id: string;
  readonly classification: ClassificationDetail | null;
  readonly error_code: string | null;
  readonly error_message: string | null;
  readonly error_details: { readonly [member: string]: Json } | null;
  readonly attempts: number;
  readonly taken_by: readonly string[];
  readonly replay_of: string | null;
  readonly replayed_by: string | null;
  readonly received_by_kind: string;
  readonly received_by_sub: string;
  readonly received_at: Date;
  readonly last_event_at: Date;
  readonly discarded_at: Date | null;
  readonly discarded_by: { readonly kind: string; readonly sub: string } | null;
  readonly discard_reason: string | null;
}

/** The whole of it. */
export interface FullStimulusRow extends StimulusRow {
  /** JSON. */
  readonly headers: string;
}

/** Bytes of the content that a list shows. */
export const shownBytes = 2048;

/** @param row with the content as far as it is to be shown, or somewhat further */
export function stimulusElement(row: StimulusRow): StimulusElement {
  const content = beginning(row.content, shownBytes);
  return { ...shared(row), content, content_truncated: content.length < row.content.length };
}

export function stimulusRecord(row: FullStimulusRow): StimulusRecord {
  const headers = JSON.parse(row.headers) as Record<string, string>;
  return { ...shared(row), content: row.content, content_truncated: false, headers };
}

function shared(row: StimulusRow) {
  const { classification, error_code, error_message, received_by_kind, received_by_sub } = row;
  const failed = failureOf(row);
  const received = row.received_at.toISOString();
  return {
    id: row.id,
    stimulus_id: row.id,
    tenant_id: row.tenant,
    source: row.source,
    channel: row.channel,
    status: row.status,
    dead_letter: row.dead_letter,
    content_encoding: row.content_encoding,
    content_type: row.content_type,
    content_size: row.content_size,
    content_sha256: row.content_sha256,
    headers_truncated: row.headers_truncated,
    idempotency_key: row.idempotency_key,
    duplicate_count: row.duplicate_count,
    classification: classification?.workflow_name ?? null,
    classification_detail: classification,
    routing_mode: classification?.routing_mode ?? null,
    workflow_id: classification?.workflow_id ?? null,
    confidence: classification?.confidence ?? null,
    rejection_reason: failed === "rejected" ? error_message : null,
    classification_error: failed === "classification_failed" ? error_message : null,
    error_code,
    error_message,
    error_details: row.error_details,
    attempts: row.attempts,
    // One that only Waits took has no classification.
    workflow_execution_id: row.status === "classified" && classification !== null ? row.run_id : null,
    route_id: row.source_id,
    taken_by: [...row.taken_by],
    replay_of: row.replay_of,
    replayed_by: row.replayed_by,
    received_by: { kind: received_by_kind, sub: received_by_sub },
    created_at: received,
    received_at: received,
    last_event_at: row.last_event_at.toISOString(),
    discarded_at: row.discarded_at?.toISOString() ?? null,
    discarded_by: row.discarded_by,
    discard_reason: row.discard_reason,
  };
}

/** As what it ended; what was discarded keeps the reason for which it came to nothing. */
function failureOf({ status, error_code }: StimulusRow): FailedStatus | null {
  if (status === "received" || status === "classified") return null;
  if (status !== "discarded") return status;
  return error_code === null ? null : failedStatusOf(error_code);
}

/** As much of a text as fits into so many bytes of UTF-8, no character cut apart. */
export function beginning(text: string, bytes: number): string {
  // A unit of UTF-16 takes up three bytes at most.
  if (text.length * 3 <= bytes) return text;
  let used = 0;
  let length = 0;
  for (const character of text) {
    used += bytesOf(character.codePointAt(0) ?? 0);
    if (used > bytes) return text.slice(0, length);
    length += character.length;
  }
  return text;
}

function bytesOf(codePoint: number): number {
  if (codePoint < 0x80) return 1;
  if (codePoint < 0x800) return 2;
  return codePoint < 0x10000 ? 3 : 4;
}
