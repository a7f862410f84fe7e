/**
 * Security incidents: durable, and reporting one never waits. They are gathered in memory and
 * written once a second; equal ones of one run or session within a minute are one record with a count.
 */
import type { Json } from "../../../actors/kernel/json.ts";
import { iso } from "../../../actors/kernel/time.ts";
import { madeStorable } from "../../../actors/manifest/storable.ts";
import { type Recurrence, Recurring } from "../../lib/recurring.ts";
import { repeatedly } from "../../lib/timers.ts";
import type { Sql, Transaction } from "../../store/postgres/pool.ts";
import { countIncidents } from "./records.ts";

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
  /** Writes one at once, as a record of its own: as part of a transaction it is there exactly when that is. */
  record(tx: Sql | Transaction, incident: Incident): Promise<void>;
  /** How many this node has reported since it started, by category. */
  counts(): ReadonlyMap<Category, number>;
  /** Records of the last minute, and those that are not written yet. */
  waiting(): number;
  /** Records made since; of all tenants for null. */
  countSince(tenant: string | null, since: Date): Promise<number>;
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

const flushEveryMs = 1_000;
const clearEveryMs = 3_600_000;

/** Starts the writer. */
export function createIncidents({ sql, now, newId, retentionDays, warn }: IncidentsOptions): Incidents {
  const open = new Recurring<Incident>({
    now,
    newId,
    subjectOf,
    kindOf: ({ category, toolName, violationType, details }) => [category, toolName, violationType, details],
    furtherOf,
    beyondOf: ({ tenant }) => tenant,
  });
  let writing: Promise<void> = Promise.resolve();

  const reported = new Map<Category, number>();

  const counted = ({ category }: Incident): void => void reported.set(category, (reported.get(category) ?? 0) + 1);

  function report(incident: Incident): void {
    counted(incident);
    open.note(incident);
  }

  async function record(tx: Sql | Transaction, incident: Incident): Promise<void> {
    counted(incident);
    const at = now();
    await writeSome(tx, [{ id: newId(), item: incident, firstAt: at, lastAt: at, count: 1 }]);
  }

  const write = (): Promise<void> => open.write((changed) => writeSome(sql, changed));

  async function writeSome(tx: Sql | Transaction, changed: readonly Recurrence<Incident>[]): Promise<void> {
    const rows = changed.map(({ id, item: incident, firstAt, lastAt, count }) => ({
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
      count,
      created_at: iso(firstAt),
      last_seen_at: iso(lastAt),
    }));
    await tx`
      insert into security_incidents
      select * from jsonb_to_recordset(${JSON.stringify(rows, storable)}::text::jsonb) as row(
        id uuid, tenant text, category text, severity text, agent_id text, execution_id text, session_id text,
        tool_name text, violation_type text, details jsonb, count bigint, created_at timestamptz,
        last_seen_at timestamptz)
      on conflict (id) do update set
        count = security_incidents.count + excluded.count, last_seen_at = excluded.last_seen_at`;
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
    record,
    counts: () => reported,
    waiting: () => open.size,
    flush,
    countSince: (tenant, since) => countIncidents(sql, tenant, since),
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
