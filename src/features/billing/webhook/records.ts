/** The SQL of events: stored once, worked through by one node at a time. */
import { isHeeded, type ProviderEvent } from "../../../../actors/billing/events.ts";
import type { Sql, Transaction } from "../../../store/postgres/pool.ts";

/** An event as it comes. */
export interface NewEvent {
  readonly event: ProviderEvent;
  readonly customer: string | null;
  readonly body: string;
}

/** An event that this node works on. */
export interface ClaimedEvent {
  readonly id: string;
  readonly customer: string | null;
  readonly body: string;
  /** This attempt counted; it also tells whether the event is still this node's. */
  readonly attempts: number;
}

export type Outcome = "applied" | "ignored" | "unmatched" | "dead";

/**
 * Stores events, each once, also where the same ones come at the same time.
 * @returns whether each is new, in their order
 */
export async function storeEvents(sql: Sql, events: readonly NewEvent[]): Promise<readonly boolean[]> {
  // In one order, so that two statements do not wait for each other.
  const sorted = [...events].sort((a, b) => (a.event.id < b.event.id ? -1 : 1));
  const rows = sorted.map(({ event: { id, type, at }, customer, body }) => {
    const state = isHeeded(type) ? "received" : "ignored";
    return { event_id: id, type, event_at: at, customer_id: customer, body, state };
  });
  const inserted = await sql<{ event_id: string }[]>`
    insert into billing_events (event_id, type, event_at, customer_id, body, state, settled_at)
    select event_id, type, event_at, customer_id, body, state, case when state = 'ignored' then now() end
    from json_to_recordset(${JSON.stringify(rows)}::text::json)
      as row(event_id text, type text, event_at bigint, customer_id text, body text, state text)
    on conflict (event_id) do nothing returning event_id`;
  const fresh = new Set(inserted.map(({ event_id }) => event_id));
  // Of the same event twice in one statement the first is the new one.
  return events.map(({ event }) => fresh.delete(event.id));
}

/** How long a claim holds that is not renewed, ms: what a node that ended leaves unfinished goes to another one then. */
const claimMs = 8_000;
export const renewEveryMs = 2_500;

/** Events that are due, the oldest first. */
export async function claimEvents(sql: Sql, limit: number): Promise<readonly ClaimedEvent[]> {
  const rows = await sql<ClaimedRow[]>`
    update billing_events set attempts = attempts + 1, due_at = now() + ${`${claimMs} milliseconds`}::text::interval
    where event_id = any(array(
      select event_id from billing_events where state = 'received' and due_at <= now()
      order by due_at, seq limit ${limit} for update skip locked))
    returning event_id, customer_id, body, attempts, seq, event_at`;
  return rows
    .toSorted((a, b) => Number(a.event_at) - Number(b.event_at) || Number(a.seq) - Number(b.seq))
    .map(({ event_id, customer_id, body, attempts }) => ({ id: event_id, customer: customer_id, body, attempts }));
}

interface ClaimedRow {
  readonly event_id: string;
  readonly customer_id: string | null;
  readonly body: string;
  readonly attempts: number;
  readonly seq: string;
  readonly event_at: string;
}

/** Keeps what is not worked through yet. */
export async function renewClaims(sql: Sql, claimed: readonly ClaimedEvent[]): Promise<void> {
  await sql`
    update billing_events e set due_at = now() + ${`${claimMs} milliseconds`}::text::interval
    from json_to_recordset(${JSON.stringify(claimed.map(({ id, attempts }) => ({ id, attempts })))}::text::json)
      as row(id text, attempts integer)
    where e.event_id = row.id and e.attempts = row.attempts and e.state = 'received'`;
}

/** The event went to another node meanwhile, which does all of it. */
export class ClaimLost extends Error {
  override readonly name = "ClaimLost";
}

/** @throws ClaimLost */
export async function settleEvent(
  sql: Sql | Transaction,
  { id, attempts }: ClaimedEvent,
  state: Outcome,
  facts: { readonly tenant?: string; readonly error?: string } = {},
): Promise<void> {
  const { count } = await sql`
    update billing_events set state = ${state}, tenant = ${facts.tenant ?? null}, error = ${facts.error ?? null},
      settled_at = now()
    where event_id = ${id} and state = 'received' and attempts = ${attempts}`;
  if (count === 0) throw new ClaimLost(id);
}

/** Leaves an event for later. @param afterMs milliseconds */
export async function postponeEvent(
  sql: Sql,
  { id, attempts }: ClaimedEvent,
  afterMs: number,
  error: string,
): Promise<void> {
  await sql`
    update billing_events set due_at = now() + ${`${afterMs} milliseconds`}::text::interval, error = ${error}
    where event_id = ${id} and state = 'received' and attempts = ${attempts}`;
}

/** Erases a portion of the events that are past their retention. @returns how many */
export async function eraseEvents(sql: Sql, days: number, limit: number): Promise<number> {
  const { count } = await sql`
    delete from billing_events where event_id = any(array(
      select event_id from billing_events where settled_at < now() - ${`${days} days`}::text::interval
      order by settled_at limit ${limit} for update skip locked))`;
  return count;
}
