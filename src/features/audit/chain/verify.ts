/** Goes over the chains of the audit log and tells where one was broken. Reads only. */
import type { Sql, Transaction } from "../../../store/postgres/pool.ts";
import { entryDigest, link } from "./link.ts";

/** What became of one tenant's chain. */
export interface ChainReport {
  readonly tenant: string;
  /** Sealed entries that are there. */
  readonly entries: number;
  /** When the oldest of them was written; null: there is none. */
  readonly since: Date | null;
  /** Place and value of the end, `<sequence>:<64 hex digits>`; null: nothing was sealed so far. */
  readonly head: string | null;
  /** Entries that have no place yet. */
  readonly waiting: number;
  /** One sentence each, at most `maxFaults`; empty: the chain is whole. */
  readonly faults: readonly string[];
}

/** An end of a chain that was noted elsewhere, such as in the log of the service. */
export interface NotedHead {
  readonly sequence: number;
  /** 64 hex digits. */
  readonly chain: string;
}

const maxFaults = 100;
const atOnce = 1_000;

/** @returns of `<sequence>:<64 hex digits>`; null for other texts */
export function parseHead(text: string): NotedHead | null {
  const [, sequence = "", chain = ""] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? [];
  return sequence === "" ? null : { sequence: Number(sequence), chain };
}

/** Every tenant that has a chain or entries, by slug. */
export async function* auditedTenants(sql: Sql): AsyncGenerator<string> {
  for (let last = ""; ; ) {
    const [row] = await sql<{ tenant: string | null }[]>`
      select least(
        (select tenant from audit_chains where tenant > ${last} order by tenant limit 1),
        (select tenant from audit_entries where tenant > ${last} order by tenant limit 1)) as tenant`;
    if (row === undefined || row.tenant === null) return;
    last = row.tenant;
    yield last;
  }
}

/**
 * Compares every entry with its place in the chain, as of one moment: the service may go on writing.
 * @param noted a former end that the chain must still have
 */
export function verifyChain(sql: Sql, tenant: string, noted: NotedHead | null = null): Promise<ChainReport> {
  return sql.begin("isolation level repeatable read read only", (tx) => verified(tx, tenant, noted));
}

interface Chain {
  readonly sequence: number;
  readonly head: Buffer;
  readonly first_sequence: number;
  readonly anchor: Buffer;
}

interface Sealed {
  readonly sequence: number;
  readonly id: string;
  readonly at: Date;
  readonly action: string;
  readonly chain: Buffer;
  readonly digest: Buffer;
}

async function verified(tx: Transaction, tenant: string, noted: NotedHead | null): Promise<ChainReport> {
  const faults: string[] = [];
  const fault = (sentence: string) => void (faults.length < maxFaults && faults.push(sentence));
  const [chain] = await tx<Chain[]>`
    select sequence::float8 as sequence, head, first_sequence::float8 as first_sequence, anchor
    from audit_chains where tenant = ${tenant}`;
  const first = chain?.first_sequence ?? 1;
  const [{ waiting }] = await tx<[{ waiting: number }]>`
    select count(*)::int as waiting from audit_entries where tenant = ${tenant} and sequence is null`;
  const [{ outside }] = await tx<[{ outside: number }]>`
    select count(*)::int as outside from audit_entries where tenant = ${tenant} and sequence < ${first}`;
  if (outside > 0) fault(`${entriesOf(outside)} before the beginning of the chain`);
  // Without a record of the chain its beginning is taken for that of a whole one.
  const walk = new Walk(first, chain?.anchor ?? null, noted, fault);
  for (let last: number | null = walk.last; last !== null; last = await placeBefore(tx, tenant, walk.last)) {
    for (let rows = 1; rows > 0; last = walk.last) {
      // By places rather than by a limit, which a planner that does not know the table yet would sort all rows for.
      const some: Sealed[] = await tx<Sealed[]>`
        select sequence::float8 as sequence, id, at, action, chain, ${tx.unsafe(entryDigest)} as digest
        from audit_entries where tenant = ${tenant} and sequence > ${last} and sequence <= ${last + atOnce}
        order by sequence`;
      for (const row of some) walk.take(row);
      rows = some.length;
    }
  }
  walk.end(chain);
  const { entries, since } = walk;
  const head = chain === undefined ? null : `${chain.sequence}:${chain.head.toString("hex")}`;
  return { tenant, entries, since, head, waiting, faults };
}

/** The place before the next entry after `last`; null: there is none. */
async function placeBefore(tx: Transaction, tenant: string, last: number): Promise<number | null> {
  const [row] = await tx<[{ next: number | null }]>`
    select min(sequence)::float8 as next from audit_entries where tenant = ${tenant} and sequence > ${last}`;
  return row.next === null ? null : row.next - 1;
}

/** Entry by entry along the chain; after a fault it goes on from what the next entry says of itself. */
class Walk {
  entries = 0;
  since: Date | null = null;
  /** The place that was looked at last. */
  last: number;

  constructor(
    first: number,
    /** `chain` of the last entry; null: not known. */
    private previous: Buffer | null,
    private readonly noted: NotedHead | null,
    private readonly fault: (sentence: string) => void,
  ) {
    this.last = first - 1;
    if (noted === null) return;
    if (noted.sequence < this.last) fault(`The noted head ${noted.sequence} was erased by age: it tells nothing`);
    else if (noted.sequence === this.last && previous !== null) this.compareNoted(previous);
  }

  take(row: Sealed): void {
    const { sequence, id, at, action, chain, digest } = row;
    this.entries++;
    this.since ??= at;
    if (sequence !== this.last + 1) this.missing(this.last + 1, sequence - 1);
    else if (this.previous !== null && !link(this.previous, digest).equals(chain)) {
      this.fault(`Entry ${sequence} (${id}, ${action}, ${at.toISOString()}) is not the one that was sealed`);
    }
    this.last = sequence;
    this.previous = chain;
    if (this.noted?.sequence === sequence) this.compareNoted(chain);
  }

  end(chain: Chain | undefined): void {
    if (chain === undefined) {
      if (this.entries > 0) this.fault("The record of the chain is missing");
    } else if (this.last < chain.sequence) this.missing(this.last + 1, chain.sequence);
    else if (this.last > chain.sequence) this.fault(`Entries after ${chain.sequence}, the end of the chain`);
    else if (this.previous?.equals(chain.head) === false) this.fault(`The end of the chain is not that of its record`);
    if (this.noted !== null && this.noted.sequence > this.last) {
      this.fault(`The chain ends at ${this.last}, before the noted head ${this.noted.sequence}`);
    }
  }

  private missing(from: number, to: number): void {
    this.fault(from === to ? `Entry ${from} is missing` : `Entries ${from} to ${to} are missing`);
  }

  private compareNoted(chain: Buffer): void {
    if (this.noted === null || chain.toString("hex") === this.noted.chain) return;
    this.fault(`The chain was written anew: its entry ${this.noted.sequence} is not the noted head`);
  }
}

const entriesOf = (count: number): string => (count === 1 ? "1 entry" : `${count} entries`);
