/**
 * Security incidents: durable, and reporting one never waits. They are gathered in memory and
 * written once a second; equal ones of one run or session within a minute are one record with a count.
 */
import { createHash } from "node:crypto";
import type { Json } from "../../../actors/kernel/json.ts";
import { iso } from "../../../actors/kernel/time.ts";
import { madeStorable } from "../../../actors/manifest/storable.ts";
import { repeatedly } from "../../lib/timers.ts";
import type { Sql } from "../../store/postgres/pool.ts";

/** Every category with its severity (docs/reference/identity.md). */
export const severities = {
  seal_policy_violation_blocked: "high",
  policy_violation_blocked: "high",
  replay_detected: "high",
  invalid_signature: "high",
  ssrf_blocked: "high",
  decryption_failed: "high",
  policy_violation_attempted: "medium",
  seal_session_revoked: "medium",
  attestation_refused: "medium",
  tool_server_failed: "medium",
  tool_changed: "medium",
  egress_blocked: "medium",
  credential_refresh_failed: "medium",
  billing_drift: "medium",
  billing_event_failed: "medium",
  edge_token_reused: "high",
  edge_host_cloned: "high",
  edge_former_key_used: "high",
  edge_journal_replaced: "medium",
  edge_frame_refused: "medium",
  edge_policy_refused: "medium",
  volume_write_lost: "medium",
} as const;
export type Category = keyof typeof severities;

export interface Incident {
  readonly category: Category;
  readonly tenant: string;
  readonly agentId: string | null;
  readonly executionId: string | null;
  readonly sessionId: string | null;
  readonly toolName: string | null;
  readonly violationType: string | null;
  /** Small; equal incidents have equal details. */
  readonly details: { readonly [member: string]: Json };
}

export interface Incidents {
  /** Never throws and never waits. */
  report(incident: Incident): void;
  /** How many this node has reported since it started, by category. */
  counts(): ReadonlyMap<Category, number>;
  /** Records of the last minute, and those that are not written yet. */
  waiting(): number;
  /** Writes what was reported so far. */
  flush(): Promise<void>;
  /** The last flush; nothing may be reported afterwards. */
  stop(): Promise<void>;
}

export interface IncidentsOptions {
  readonly sql: Sql;
  readonly now: () => number;
  readonly newId: () => string;
  readonly retentionDays: number;
  /** Told when writing or clearing up failed. */
  warn(error: unknown): void;
}

const sharedForMs = 60_000;
const flushEveryMs = 1_000;
const clearEveryMs = 3_600_000;
/** Different incidents of one run or session in a minute; further ones share a record that says only that. */
const maxPerSubject = 100;
/** Records under way at once; beyond that new ones are only counted by those that exist. */
const maxOpen = 20_000;

interface Open {
  readonly id: string;
  readonly incident: Incident;
  readonly firstAt: number;
  lastAt: number;
  /** Not written yet. */
  pending: number;
}

/** Starts the writer. */
export function createIncidents({ sql, now, newId, retentionDays, warn }: IncidentsOptions): Incidents {
  const open = new Map<string, Open>();
  const subjects = new Map<string, number>();
  let writing: Promise<void> = Promise.resolve();

  const reported = new Map<Category, number>();

  function report(incident: Incident): void {
    const at = now();
    reported.set(incident.category, (reported.get(incident.category) ?? 0) + 1);
    const subject = subjectOf(incident);
    if (counted(keyOf(subject, incident), at)) return;
    const others = subjects.get(subject) ?? 0;
    if (open.size >= maxOpen) add(incident.tenant, furtherOf(incident), at);
    else if (others >= maxPerSubject) add(subject, furtherOf(incident), at);
    else {
      subjects.set(subject, others + 1);
      add(subject, incident, at);
    }
  }

  function add(subject: string, incident: Incident, at: number): void {
    const key = keyOf(subject, incident);
    if (!counted(key, at)) open.set(key, { id: newId(), incident, firstAt: at, lastAt: at, pending: 1 });
  }

  /** Counts it by the record of its minute, or of an earlier one that is still to be written. */
  function counted(key: string, at: number): boolean {
    const known = open.get(key);
    if (known === undefined || (known.pending === 0 && at - known.firstAt >= sharedForMs)) return false;
    known.pending += 1;
    known.lastAt = at;
    return true;
  }

  async function write(): Promise<void> {
    const changed = [...open.values()].filter(({ pending }) => pending > 0);
    for (let from = 0; from < changed.length; from += 500) await writeSome(changed.slice(from, from + 500));
    const at = now();
    for (const [key, { pending, firstAt }] of open) {
      if (pending === 0 && at - firstAt >= sharedForMs) open.delete(key);
    }
    subjects.clear();
    for (const { incident } of open.values()) {
      const subject = subjectOf(incident);
      subjects.set(subject, (subjects.get(subject) ?? 0) + 1);
    }
  }

  async function writeSome(changed: readonly Open[]): Promise<void> {
    const counts = changed.map(({ pending }) => pending);
    const rows = changed.map(({ id, incident, firstAt, lastAt, pending }) => ({
      id,
      tenant: incident.tenant,
      category: incident.category,
      severity: severities[incident.category],
      agent_id: incident.agentId,
      execution_id: incident.executionId,
      session_id: incident.sessionId,
      tool_name: incident.toolName,
      violation_type: incident.violationType,
      details: incident.details,
      count: pending,
      created_at: iso(firstAt),
      last_seen_at: iso(lastAt),
    }));
    await sql`
      insert into security_incidents
      select * from jsonb_to_recordset(${JSON.stringify(rows, storable)}::text::jsonb) as row(
        id uuid, tenant text, category text, severity text, agent_id text, execution_id text, session_id text,
        tool_name text, violation_type text, details jsonb, count bigint, created_at timestamptz,
        last_seen_at timestamptz)
      on conflict (id) do update set
        count = security_incidents.count + excluded.count, last_seen_at = excluded.last_seen_at`;
    changed.forEach((record, at) => {
      record.pending -= counts[at] ?? 0;
    });
  }

  const flush = (): Promise<void> => {
    writing = writing.then(write, write);
    return writing;
  };
  const clear = async (): Promise<void> => {
    await sql`delete from security_incidents where last_seen_at < ${new Date(now() - retentionDays * 86_400_000)}`;
  };
  const writer = setInterval(() => {
    if (open.size > 0) void flush().catch(warn);
  }, flushEveryMs);
  const stopClearing = repeatedly(clearEveryMs, clear, warn);

  return {
    report,
    counts: () => reported,
    waiting: () => open.size,
    flush,
    async stop() {
      clearInterval(writer);
      await stopClearing();
      await flush();
    },
  };
}

/** Names and attempts are a model's or a host's words; one that the store refuses would keep all others unwritten. */
const storable = (_: string, value: unknown): unknown => (typeof value === "string" ? madeStorable(value) : value);

const subjectOf = ({ tenant, executionId, sessionId }: Incident): string => [tenant, executionId, sessionId].join("|");

/** Stands for incidents that are too many to be told apart. */
const furtherOf = (incident: Incident): Incident => ({
  ...incident,
  toolName: null,
  violationType: null,
  details: { further: true },
});

function keyOf(subject: string, { category, toolName, violationType, details }: Incident): string {
  return createHash("sha256")
    .update(JSON.stringify([subject, category, toolName, violationType, details]))
    .digest("base64");
}
