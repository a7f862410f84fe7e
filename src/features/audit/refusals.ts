/**
 * Refusals in the audit log: of each actor, route and minute one entry, of failed authentications one of each client
 * address and minute, each with a count. They are counted in memory and written a moment later, so that no refusal waits
 * for its entry or fails with it. All nodes count into the same entry until it is sealed; what comes later, from a node
 * that could not reach the database, has an entry of its own.
 */
import { systemTenant } from "../../../actors/identity/identity.ts";
import type { AuditedBy } from "../../../actors/kernel/audit.ts";
import type { KnownRequest } from "../../http/request-audit.ts";
import type { Incoming } from "../../http/route.ts";
import { derivedUuid } from "../../lib/digest.ts";
import { repeatedly } from "../../lib/timers.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import { actorOf, auditedRequest } from "./port.ts";
import { insertEntries, type NewEntry } from "./service.ts";

/** What their entries tell; these alone may be counted up before they are sealed. */
export const countedActions = ["auth.denied", "auth.failed"];

const minuteMs = 60_000;
const writeEveryMs = 1_000;
/** Entries of one minute; what comes on top is counted in one more, so that no attacker fills the log. */
const maxEntries = 2_000;
/** Entries that wait while the database is away. */
const maxWaiting = 10_000;

export interface RefusalsOptions {
  readonly sql: Sql;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly report: (event: string, facts: Record<string, unknown>) => void;
}

type Refusal = Omit<NewEntry, "id" | "at" | "details"> & { readonly code: string };

interface Counted {
  readonly entry: Omit<NewEntry, "details">;
  /** Of the first. */
  readonly code: string;
  count: number;
}

const unknownActor: AuditedBy["actor"] = {
  kind: "unknown",
  realm: null,
  user_id: null,
  role: null,
  key_id: null,
  name: null,
};

/** The entry of those that have none of their own. */
function others({ action, outcome }: Refusal): Refusal {
  const by = { actor: unknownActor, ip: null, user_agent: null, request_id: null };
  return { tenant: systemTenant, by, action, target: { type: "others", id: action }, outcome, code: "others" };
}

export function createRefusals({ sql, now, report }: RefusalsOptions) {
  let pending = new Map<string, Counted>();
  /** Those of the current minute that have an entry, pending or written. */
  let minute = 0;
  let known = new Set<string>();

  function count(refusal: Refusal, subject: readonly unknown[]): void {
    const at = now();
    const current = Math.floor(at / minuteMs);
    if (current !== minute) {
      minute = current;
      known = new Set();
    }
    const own = derivedUuid(JSON.stringify(["refusal", minute, refusal.action, ...subject]));
    const isKept = known.has(own) || known.size < maxEntries;
    const id = isKept ? own : derivedUuid(JSON.stringify(["refusals", minute, refusal.action]));
    if (isKept) known.add(id);
    const counted = pending.get(id);
    if (counted !== undefined) counted.count++;
    else {
      const { code, ...facts } = isKept ? refusal : others(refusal);
      pending.set(id, { entry: { ...facts, id, at }, code, count: 1 });
    }
  }

  async function write(): Promise<void> {
    if (pending.size === 0) return;
    const batch = pending;
    pending = new Map();
    const entries = [...batch.values()].map(({ entry, code, count }) => ({ ...entry, details: { code, count } }));
    // In one order, so that two nodes that write the same entries do not wait for each other in a circle.
    entries.sort((a, b) => (a.id < b.id ? -1 : 1));
    try {
      const written = new Set(await countUp(entries));
      const late = entries.filter(({ id }) => !written.has(id));
      const at = now();
      const occasion = (id: string) => derivedUuid(JSON.stringify(["late", id, Math.floor(at / minuteMs)]));
      if (late.length > 0) await countUp(late.map((entry) => ({ ...entry, at, id: occasion(entry.id) })));
    } catch (error) {
      // The next round takes them up, within bounds.
      for (const [id, counted] of batch) {
        const later = pending.get(id);
        if (later !== undefined) later.count += counted.count;
        else if (pending.size < maxWaiting) pending.set(id, counted);
      }
      report("audit_refusals_unwritten", { entries: pending.size, error: String(error) });
    }
  }

  /** @returns the ids of those that are not sealed yet, in which it was counted */
  async function countUp(entries: readonly NewEntry[]): Promise<readonly string[]> {
    const { text, parameters } = insertEntries(
      entries,
      `order by id on conflict (id) do update set details = audit_entries.details || jsonb_build_object('count',
        (audit_entries.details ->> 'count')::int + (excluded.details ->> 'count')::int)
      where audit_entries.sequence is null returning id`,
    );
    const rows = await sql.unsafe<{ id: string }[]>(text, parameters as string[], { prepare: true });
    return rows.map(({ id }) => id);
  }

  return {
    denied(request: KnownRequest, code: string): void {
      const { incoming, path, identity, tenant } = request;
      const by = { actor: actorOf(identity), ...auditedRequest(incoming) };
      const target = { type: "route", id: `${incoming.request.method} ${path}` };
      const subject = [tenant, by.actor.kind, by.actor.realm, by.actor.user_id, target.id];
      count({ tenant, by, action: "auth.denied", target, outcome: "denied", code }, subject);
    },

    failed(incoming: Incoming, code: string): void {
      const { address } = incoming;
      const by = { actor: unknownActor, ...auditedRequest(incoming) };
      const target = { type: "client_address", id: address ?? "unknown" };
      count({ tenant: systemTenant, by, action: "auth.failed", target, outcome: "failed", code }, [address]);
    },

    write,

    /** Entries that are not written yet. */
    waiting: () => pending.size,

    /** Writes now and then. @returns a function that ends it, with everything counted written */
    start(): () => Promise<void> {
      const stop = repeatedly(writeEveryMs, write, () => {});
      return async () => {
        await stop();
        await write();
      };
    },
  };
}
