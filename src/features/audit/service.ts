/** Writing the audit log. Nothing here or elsewhere changes an entry of a change; entries go by age alone. */
import type { Static } from "@sinclair/typebox";
import { type AuditedBy, auditEntry } from "../../../actors/kernel/audit.ts";
import type { Json } from "../../../actors/kernel/json.ts";
import { madeStorable } from "../../../actors/manifest/storable.ts";
import type { FactWriter, Statement } from "../../runtime/port.ts";
import type { Transaction } from "../../store/postgres/pool.ts";

/** One change, told to the log in the transaction that makes it. `details` never hold secrets, and no names from outside. */
export interface AuditedChange {
  readonly tenant: string;
  /** Such as `stimulus_route.created`. */
  readonly action: string;
  readonly target: { readonly type: string; readonly id: string };
  readonly details: { readonly [key: string]: Json };
}

export interface Audit {
  /** Writes the entries within `tx`: where they cannot be written the changes fail as well. */
  append(tx: Transaction, by: AuditedBy, ...changes: readonly AuditedChange[]): Promise<void>;
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
  readonly outcome: "allowed" | "denied" | "failed";
}

const insert = `
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
  return { text: `${insert} ${rest}`, parameters: [jsonOf(rows)] };
}

export function createAudit({ now, newId }: AuditOptions): Audit {
  return {
    async append(tx: Transaction, by, ...changes) {
      if (changes.length === 0) return;
      const entry = { at: now(), by, outcome: "allowed" } as const;
      const { text, parameters } = insertEntries(changes.map((change) => ({ ...entry, ...change, id: newId() })));
      await tx.unsafe(text, parameters as string[], { prepare: true });
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
