/**
 * Gives the entries of the audit log their places in the chains of their tenants. A change writes its entry without one,
 * so that no change waits for the entry of another; what has been committed is sealed a moment later, in the order in
 * which it is seen, by one node at a time.
 */
import { repeatedly } from "../../../lib/timers.ts";
import type { Sql, Transaction } from "../../../store/postgres/pool.ts";
import { countedActions } from "../refusals.ts";
import { beginning, entryDigest, link } from "./link.ts";

export interface SealingOptions {
  readonly sql: Sql;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly info: (event: string, facts: Readonly<Record<string, unknown>>) => void;
  readonly warn: (event: string, facts: Readonly<Record<string, unknown>>) => void;
}

const everyMs = 2_000;
const atOnce = 1_000;
/** Nodes count into the entry of a refusal for a minute, and write what they counted a moment later. */
const countedMs = 180_000;
const tellEveryMs = 3_600_000;
const toldAtOnce = 500;

interface Unsealed {
  readonly id: string;
  readonly tenant: string;
  readonly at: Date;
  readonly digest: Buffer;
}

interface Head {
  sequence: number;
  head: Buffer;
  /** Of the first entry that was added here. */
  readonly from: Date;
}

/** @returns a function that ends it, after a round under way */
export function startSealing(options: SealingOptions): () => Promise<void> {
  return repeatedly(
    everyMs,
    async () => void (await sealEntries(options)),
    (error) => options.warn("audit_sealing_failed", { error: String(error) }),
  );
}

/**
 * Seals all that can be sealed by now, unless another node is about it.
 * @returns how many entries
 * @throws when the database is away; what is left is sealed next time
 */
export async function sealEntries({ sql, now }: Pick<SealingOptions, "sql" | "now">): Promise<number> {
  for (let sealed = 0; ; ) {
    const counted = new Date(now() - countedMs);
    // Most rounds find nothing, and then this is all that they do.
    const found = await sql`
      select 1 from audit_entries
      where sequence is null and (action <> all (${countedActions}) or at < ${counted}) limit 1`;
    if (found.length === 0) return sealed;
    const count = await sql.begin((tx) => sealBatch(tx, counted));
    sealed += count;
    if (count < atOnce) return sealed;
  }
}

async function sealBatch(tx: Transaction, counted: Date): Promise<number> {
  // The index has them in order. A planner that does not know the table yet would sort all that wait, for every batch.
  const [turn] = await tx<{ mine: boolean }[]>`
    select pg_try_advisory_xact_lock(hashtext('audit_chains'), hashtext(current_schema())) as mine,
      set_config('enable_bitmapscan', 'off', true), set_config('enable_sort', 'off', true)`;
  if (turn?.mine !== true) return 0;
  // Locked: a refusal that is counted up right now is sealed next time.
  const rows = await tx<Unsealed[]>`
    select id, tenant, at, ${tx.unsafe(entryDigest)} as digest from audit_entries
    where sequence is null and (action <> all (${countedActions}) or at < ${counted})
    order by at, id limit ${atOnce} for update skip locked`;
  if (rows.length === 0) return 0;
  const heads = await headsOf(tx, rows);
  const places = rows.map(({ id, tenant, digest }) => {
    const head = heads.get(tenant) as Head;
    head.sequence++;
    head.head = link(head.head, digest);
    return { id, sequence: head.sequence, chain: head.head.toString("hex") };
  });
  const chains = [...heads].map(([tenant, { sequence, head, from }]) => {
    return { tenant, sequence, head: head.toString("hex"), first_at: from.toISOString() };
  });
  const written = await tx`
    update audit_entries as entry set sequence = place.sequence, chain = decode(place.chain, 'hex')
    from json_to_recordset(${JSON.stringify(places)}::text::json) as place (id uuid, sequence bigint, chain text)
    where entry.id = place.id and entry.sequence is null`;
  if (written.count !== rows.length) throw new Error("unreachable: entries that this transaction locked changed");
  await tx`
    insert into audit_chains as known (tenant, sequence, head, anchor, first_at)
    select tenant, sequence, decode(head, 'hex'), ${beginning}, first_at
    from json_to_recordset(${JSON.stringify(chains)}::text::json)
      as made (tenant text, sequence bigint, head text, first_at timestamptz)
    on conflict (tenant) do update set sequence = excluded.sequence, head = excluded.head,
      first_at = coalesce(known.first_at, excluded.first_at)`;
  return rows.length;
}

/** The ends of the chains that the rows continue, held until they are written anew. */
async function headsOf(tx: Transaction, rows: readonly Unsealed[]): Promise<Map<string, Head>> {
  const heads = new Map<string, Head>();
  for (const { tenant, at } of rows) {
    if (!heads.has(tenant)) heads.set(tenant, { sequence: 0, head: beginning, from: at });
  }
  const known = await tx<{ tenant: string; sequence: number; head: Buffer }[]>`
    select tenant, sequence::float8 as sequence, head from audit_chains
    where tenant = any (${[...heads.keys()]}) order by tenant for update`;
  for (const { tenant, sequence, head } of known) Object.assign(heads.get(tenant) as Head, { sequence, head });
  return heads;
}

/** Writes the ends of the chains into the log of the service each hour, where the database cannot reach them. */
export function startTellingHeads(options: SealingOptions): () => Promise<void> {
  return repeatedly(
    tellEveryMs,
    () => tellHeads(options),
    (error) => options.warn("audit_heads_untold", { error: String(error) }),
  );
}

/** Each head is told by one node. A chain that did not grow is not told again. */
export async function tellHeads({ sql, info }: Pick<SealingOptions, "sql" | "info">): Promise<void> {
  for (;;) {
    const told = await sql<{ tenant: string; sequence: number; head: string }[]>`
      update audit_chains set told_sequence = sequence
      where tenant in (
        select tenant from audit_chains where told_sequence < sequence
        order by tenant limit ${toldAtOnce} for update skip locked)
      returning tenant, sequence::float8 as sequence, encode(head, 'hex') as head`;
    for (const { tenant, sequence, head } of told) info("audit_chain_head", { tenant, head: `${sequence}:${head}` });
    if (told.length < toldAtOnce) return;
  }
}
