/** Stimuli put straight into the table, for tests of what happens to them afterwards. */
import { createHash } from "node:crypto";
import type { Sql } from "../../../src/store/postgres/pool.ts";

export interface GivenRow {
  readonly id?: string;
  readonly tenant?: string;
  readonly source?: string;
  readonly channel?: string;
  readonly acknowledge?: string;
  readonly status?: string;
  readonly dead_letter?: boolean;
  readonly content?: string;
  readonly content_encoding?: string;
  readonly content_type?: string | null;
  readonly headers?: string;
  readonly idempotency_key?: string | null;
  readonly classification?: object | null;
  readonly error_code?: string | null;
  readonly error_message?: string | null;
  readonly attempts?: number;
  readonly due_at?: Date;
  readonly source_id?: string | null;
  readonly replay_of?: string | null;
  readonly replayed_by?: string | null;
  readonly received_at?: Date;
}

/** With an id of its time. @returns the id */
export async function putRow(sql: Sql, given: GivenRow = {}): Promise<string> {
  const { received_at = new Date(), content = "hello" } = given;
  const row = {
    id: given.id ?? Bun.randomUUIDv7("hex", received_at),
    tenant: given.tenant ?? "north",
    source: given.source ?? "crm",
    channel: given.channel ?? "webhook",
    acknowledge: given.acknowledge ?? "routed",
    status: given.status ?? "received",
    dead_letter: given.dead_letter ?? false,
    content,
    content_encoding: given.content_encoding ?? "utf-8",
    content_type: given.content_type ?? null,
    content_size: Buffer.byteLength(content),
    content_sha256: createHash("sha256").update(content).digest("hex"),
    headers: given.headers ?? "{}",
    headers_truncated: false,
    idempotency_key: given.idempotency_key ?? null,
    error_code: given.error_code ?? null,
    error_message: given.error_message ?? null,
    run_id: Bun.randomUUIDv7(),
    attempts: given.attempts ?? 1,
    due_at: given.due_at ?? received_at,
    source_id: given.source_id ?? null,
    replay_of: given.replay_of ?? null,
    replayed_by: given.replayed_by ?? null,
    received_by_kind: "webhook",
    received_by_sub: "webhook:crm",
    received_at,
    last_event_at: received_at,
  };
  await sql`insert into stimuli ${sql(row)}`;
  if (given.classification) {
    await sql`update stimuli set classification = ${JSON.stringify(given.classification)}::text::jsonb
      where tenant = ${row.tenant} and id = ${row.id}`;
  }
  return row.id;
}

export async function putKey(sql: Sql, id: string, key: string, acceptedAt = new Date()): Promise<void> {
  const digest = createHash("sha256").update(key).digest();
  await sql`insert into stimulus_keys (tenant, source, key_digest, stimulus_id, accepted_at)
    values ('north', 'crm', ${digest}, ${id}, ${acceptedAt})`;
}
