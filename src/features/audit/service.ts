/** Writing the audit log. Nothing here or elsewhere changes an entry of a change; entries go by age alone. */
import type { Static } from "@sinclair/typebox";
import { type AuditedBy, auditEntry } from "../../../actors/kernel/audit.ts";
import type { Json } from "../../../actors/kernel/json.ts";
import { madeStorable } from "../../../actors/manifest/storable.ts";
import { derivedUuid } from "../../lib/digest.ts";
import type { FactWriter, Statement } from "../../runtime/port.ts";
import { inBatches } from "../../store/batches.ts";
import type { Sql, Transaction } from "../../store/postgres/pool.ts";

/** One change, told to the log in the transaction that makes it. `details` never hold secrets, and no names from outside. */
export interface AuditedChange {
  readonly tenant: string;
  /** Such as `stimulus_route.created`. */
  readonly action: string;
  readonly target: { readonly type: string; readonly id: string };
  readonly details: { readonly [key: string]: Json };
}

/** How what an entry tells of ended: done, refused, or tried without success. */
export type AuditedOutcome = "allowed" | "denied" | "failed";

export interface Audit {
  /** Writes the entries within `tx`: where they cannot be written the changes fail as well. */
  append(tx: Transaction, by: AuditedBy, ...changes: readonly AuditedChange[]): Promise<void>;
  /**
   * Writes one entry at once, for a change that no transaction of ours makes, such as one in a vault: before the change,
   * and once more as `failed` where it did not come about. The change must not be made when this throws.
   */
  record(sql: Sql, by: AuditedBy, change: AuditedChange, outcome?: AuditedOutcome): Promise<void>;
  /**
   * Writes the entry within the transaction unless the same occasion has one, from whichever node: what is told once only,
   * such as that an execution used a secret. Given the pool, it writes what is told at the same time by one statement.
   * @param occasion tells it from others of the tenant with the same action, such as an execution's id and a reference
   */
  once(on: Transaction | Sql, occasion: string, by: AuditedBy, change: AuditedChange): Promise<void>;
}

export interface AuditOptions {
  /** Unix milliseconds. */
  readonly now: () => number;
  /** A fresh UUIDv7. */
  readonly newId: () => string;
}

/** An entry as the table has it. */
export interface NewEntry extends AuditedChange {
  readonly id: string;
  /** Unix milliseconds. */
  readonly at: number;
  readonly by: AuditedBy;
  readonly outcome: AuditedOutcome;
}

const inserting = `
insert into audit_entries
  (id, at, tenant, actor, action, target_type, target_id, outcome, ip, user_agent, request_id, details)
select id, at, tenant, actor, action, target_type, target_id, outcome, ip, user_agent, request_id, details
from json_to_recordset($1::text::json) as r (id uuid, at timestamptz, tenant text, actor jsonb, action text,
  target_type text, target_id text, outcome text, ip text, user_agent text, request_id text, details jsonb)`;

/** All entries by one statement. @param rest what follows, such as `on conflict …` */
export function insertEntries(entries: readonly NewEntry[], rest = ""): Statement {
  const rows = entries.map(({ id, at, tenant, by, action, target, outcome, details }) => ({
    id,
    at: new Date(at).toISOString(),
    tenant,
    actor: by.actor,
    action,
    target_type: target.type,
    target_id: target.id,
    outcome,
    ip: by.ip,
    user_agent: by.user_agent,
    request_id: by.request_id,
    details,
  }));
  return { text: `${inserting} ${rest}`, parameters: [jsonOf(rows)] };
}

/** An entry that is told once, outside of a transaction. */
interface Told {
  readonly sql: Sql;
  readonly entry: NewEntry;
}

const onceLimits = { rows: 500, statements: 2 };

export function createAudit({ now, newId }: AuditOptions): Audit {
  async function insert(on: Pick<Sql, "unsafe">, entries: readonly NewEntry[], rest?: string): Promise<void> {
    const { text, parameters } = insertEntries(entries, rest);
    await on.unsafe(text, parameters as string[], { prepare: true });
  }
  const insertOnce = (on: Pick<Sql, "unsafe">, entries: readonly NewEntry[]): Promise<void> =>
    // In one order, so that two nodes that tell the same do not wait for each other in a circle.
    insert(on, entries, "order by id on conflict (id) do nothing");
  const tell = inBatches(async (told: readonly Told[]): Promise<readonly null[]> => {
    for (const sql of new Set(told.map((one) => one.sql))) {
      const own = told.filter((one) => one.sql === sql);
      await insertOnce(
        sql,
        own.map(({ entry }) => entry),
      );
    }
    return told.map(() => null);
  }, onceLimits);
  return {
    async append(tx, by, ...changes) {
      if (changes.length === 0) return;
      const entry = { at: now(), by, outcome: "allowed" } as const;
      await insert(
        tx,
        changes.map((change) => ({ ...entry, ...change, id: newId() })),
      );
    },
    record: (sql, by, change, outcome = "allowed") => insert(sql, [{ ...change, id: newId(), at: now(), by, outcome }]),
    async once(on, occasion, by, change) {
      const id = derivedUuid(JSON.stringify(["once", change.tenant, change.action, occasion]));
      const entry: NewEntry = { ...change, id, at: now(), by, outcome: "allowed" };
      await ("savepoint" in on ? insertOnce(on, [entry]) : tell({ sql: on, entry }));
    },
  };
}

/** Writes the entries of actors, as part of the statement that commits their turns. */
export function auditFacts({ newId }: Pick<AuditOptions, "newId">): FactWriter {
  return {
    name: auditEntry.name,
    write: (facts) => [
      insertEntries(
        facts.map(({ tenant, at, fact }) => {
          // Actors make them by the definition alone.
          const entry = fact as Static<typeof auditEntry.fact>;
          return {
            ...entry,
            id: newId(),
            at,
            tenant,
            outcome: "allowed",
            details: entry.details as AuditedChange["details"],
          };
        }),
      ),
    ],
  };
}

/** Texts within may be a caller's: what `jsonb` would refuse in them must not fail the change. */
const jsonOf = (value: object): string =>
  JSON.stringify(value, (_, part: unknown) => (typeof part === "string" ? madeStorable(part) : part));
