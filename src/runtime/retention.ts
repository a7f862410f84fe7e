/**
 * The end of what the runtime keeps: dead letters past their retention, and work whose actor is no more or that no node
 * has run for as long. Runs now and then on every node; nodes take different rows.
 */
import type { Outcome } from "../../actors/kernel/activity.ts";
import type { Sql } from "../store/postgres/pool.ts";
import type { Address } from "./port.ts";

export interface RetentionOptions {
  readonly sql: Sql;
  /** SVC_DEAD_LETTER_RETENTION_DAYS, SVC_ACTIVITY_RETENTION_DAYS. */
  readonly days: { readonly deadLetters: number; readonly activities: number };
  /** Delivers an outcome to the actor; resolves when it is accepted. */
  sendOutcome(to: Address, type: string, outcome: Outcome): Promise<void>;
}

/** Rows of one statement: none holds locks for long. */
const atOnce = 1_000;
/** Outcomes of a round: each comes back as a message; the next round takes more. */
const outcomesAtOnce = 100;

interface Stale {
  readonly id: string;
  readonly kind: string;
  readonly key: string;
  readonly tenant: string;
  readonly name: string;
  readonly reply_type: string;
}

/** One round. @returns how many rows went @throws when a store is away; what is left goes next time */
export async function eraseOldWork(options: RetentionOptions): Promise<{ deadLetters: number; activities: number }> {
  const deadLetters = await inStatements(() => eraseDeadLetters(options));
  const activities = await inStatements(() => eraseActorless(options));
  return { deadLetters, activities: activities + (await giveUpUnowned(options)) };
}

async function inStatements(erase: () => Promise<number>): Promise<number> {
  for (let erased = 0; ; ) {
    const count = await erase();
    erased += count;
    if (count < atOnce) return erased;
  }
}

async function eraseDeadLetters({ sql, days }: RetentionOptions): Promise<number> {
  const { count } = await sql`
    delete from runtime_dead_letters d using (
      select id from runtime_dead_letters where created_at < now() - ${`${days.deadLetters} days`}::text::interval
      order by created_at limit ${atOnce} for update skip locked) old
    where d.id = old.id`;
  return count;
}

/**
 * An actor may end with work under way, which cleans up behind it. Nothing awaits the outcome, and what a node still runs
 * of it ends when that node compares its work with the rows.
 */
async function eraseActorless({ sql, days }: RetentionOptions): Promise<number> {
  const { count } = await sql`
    delete from runtime_activities a using (
      select w.id from runtime_activities w
      where w.created_at < now() - ${`${days.activities} days`}::text::interval
        and not exists (select 1 from runtime_actors r where r.kind = w.kind and r.key = w.key)
      limit ${atOnce} for update of w skip locked) orphan
    where a.id = orphan.id`;
  return count;
}

/** Work that no node of any version has run for so long: its actor is told that it failed, and takes the row away. */
async function giveUpUnowned({ sql, days, sendOutcome }: RetentionOptions): Promise<number> {
  const rows = await sql<Stale[]>`
    select a.id, a.kind, a.key, a.tenant, a.name, a.reply_type from runtime_activities a
    where coalesce(a.released_at, a.created_at) < now() - ${`${days.activities} days`}::text::interval
      and not exists (select 1 from runtime_nodes n where n.id = a.node)
    order by a.created_at limit ${outcomesAtOnce}`;
  for (const { id, kind, key, tenant, name, reply_type } of rows) {
    const message = `no node has run ${name} for ${days.activities} days`;
    await sendOutcome({ kind, key, tenant }, reply_type, { id, ok: false, code: "unowned", message });
  }
  return rows.length;
}
