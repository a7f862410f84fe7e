/** The SQL of the table `stimuli` for the nodes that process them, tenant first: who takes which, and how each one ended. */
import { madeStorable } from "../../../../actors/manifest/storable.ts";
import type { ClassificationDetail, Settlement, Stimulus } from "../../../../actors/stimulus/stimulus.ts";
import { inBatches } from "../../../store/batches.ts";
import { numbers, texts } from "../../../store/postgres/array-literal.ts";
import type { Sql } from "../../../store/postgres/pool.ts";
import { leaseMs } from "./acceptance.ts";
import { maxBacklog } from "./backlog.ts";
import { takesDue } from "./processing/due.ts";
import { settleText } from "./processing/settle-sql.ts";

/** A stimulus by its name. */
export type StimulusName = Pick<Stimulus, "tenant" | "id">;
/** One attempt at it. */
export type Attempt = Pick<Stimulus, "tenant" | "id" | "attempts">;
export type Failure = Exclude<Settlement, { readonly status: "classified" }>;

const limits = { rows: 256, statements: 2 } as const;

interface Change {
  readonly stimulus: Attempt;
  /** `received`: it is tried again. */
  readonly status: Settlement["status"] | "received";
  readonly failure: Failure | null;
  readonly detail: ClassificationDetail | null;
  /** Of the next attempt, Unix milliseconds; 0: there is none. */
  readonly dueAt: number;
}

interface Release extends Attempt {
  /** Unix milliseconds. */
  readonly at: number;
}

export type StimulusRecords = ReturnType<typeof stimulusRecords>;

/** @param now Unix milliseconds */
export function stimulusRecords(sql: Sql, now: () => number) {
  const change = inBatches((changes: readonly Change[]) => writeChanges(sql, changes, now()), limits);
  const renew = inBatches((names: readonly StimulusName[]) => writeLeases(sql, names, now() + leaseMs), limits);
  const release = inBatches((released: readonly Release[]) => writeReleases(sql, released), limits);
  const count = inBatches((names: readonly StimulusName[]) => writeDuplicates(sql, names), limits);

  return {
    /**
     * Ends a stimulus. One that started a run tells so to the stimulus it is a replay of; one that failed becomes a dead
     * letter and lets go of its key in the same commit.
     * @returns whether it was this call that ended it; false as well where another attempt has taken over
     */
    settle(stimulus: Attempt, settlement: Settlement): Promise<boolean> {
      const failure = settlement.status === "classified" ? null : settlement;
      return change({ stimulus, status: settlement.status, failure, detail: settlement.detail, dueAt: 0 });
    },

    /**
     * Leaves a stimulus to the node that looks for it after `at` (Unix milliseconds); what was begun to classify it is over.
     * @returns whether it was still to be processed
     */
    retry: (stimulus: Attempt, failure: Failure, at: number): Promise<boolean> =>
      change({ stimulus, status: "received", failure, detail: failure.detail, dueAt: at }),

    /** Keeps a stimulus from others for another while. @returns whether it is still to be processed */
    renew: (stimulus: StimulusName): Promise<boolean> => renew(stimulus),

    /**
     * Gives a stimulus up, whose attempt told nothing of it: a node that looks for it after `at` (Unix milliseconds) goes on.
     * Nothing changes where another attempt has taken over.
     */
    release: (stimulus: Attempt, at: number): Promise<void> => release({ ...stimulus, at }),

    /** Counts a repeat of the delivery. */
    duplicate: (tenant: string, id: string): Promise<void> => count({ tenant, id }),

    /** See `takesDue`. */
    ...takesDue(sql, now),

    /** Of the given ones, by id, those that have not ended. */
    async stillReceived(asked: readonly StimulusName[]): Promise<ReadonlySet<string>> {
      const rows = await sql<{ id: string }[]>`
        with asked as materialized (
          select *, 'received' as before from unnest(${tenantsOf(asked)}::text[], ${idsOf(asked)}::uuid[]) as a (tenant, id))
        select s.id from asked a join stimuli s on s.tenant = a.tenant and s.id = a.id and s.status = a.before`;
      return new Set(rows.map(({ id }) => id));
    },

    /** How many of each tenant's are acknowledged and wait for their end; `most` where there are more. */
    async backlogOf(tenants: readonly string[], most = maxBacklog): Promise<ReadonlyMap<string, number>> {
      const rows = await sql<{ tenant: string; count: number }[]>`
        select a.tenant, (select count(*)::int from (
            select from stimuli s where s.tenant = a.tenant and s.status = 'received' and s.acknowledge = 'received'
            limit ${most}) few) as count
        from unnest(${texts(tenants)}::text[]) as a (tenant)`;
      return new Map(rows.map(({ tenant, count }) => [tenant, count]));
    },

    /** How many of all tenants wait for their end; `most` where there are more. */
    async waiting(most = 100_000): Promise<number> {
      const [row] = await sql<{ count: number }[]>`
        select count(*)::int from (select from stimuli where status = 'received' limit ${most}) few`;
      return row?.count ?? 0;
    },
  };
}

async function writeChanges(sql: Sql, asked: readonly Change[], at: number): Promise<readonly boolean[]> {
  // In one order everywhere, so that two nodes do not lock each other out.
  const changes = [...asked].sort((one, other) => inOrder(one.stimulus, other.stimulus));
  const names = changes.map(({ stimulus }) => stimulus);
  const of = (read: (change: Change) => string) => texts(changes.map(read));
  const rows = await sql.unsafe<{ tenant: string; id: string }[]>(
    settleText,
    [
      tenantsOf(names),
      idsOf(names),
      of(({ status }) => status),
      of(({ failure }) => failure?.code ?? ""),
      of(({ failure }) => madeStorable(failure?.message ?? "")),
      of(({ failure }) => (failure === null || isEmpty(failure.extras) ? "" : storableJson(failure.extras))),
      of(({ detail }) => (detail === null ? "" : storableJson(detail))),
      numbers(changes.map(({ dueAt }) => dueAt)),
      new Date(at),
      // A run that is started survives by itself: should the server lose the note of it, it is found again by its id.
      changes.every(({ status }) => status === "classified"),
      numbers(changes.map(({ stimulus }) => stimulus.attempts)),
    ],
    { prepare: true },
  );
  const changed = new Set(rows.map(nameOf));
  return asked.map(({ stimulus }) => changed.has(nameOf(stimulus)));
}

async function writeLeases(sql: Sql, names: readonly StimulusName[], until: number): Promise<readonly boolean[]> {
  const sorted = [...names].sort(inOrder);
  const rows = await sql<StimulusName[]>`
    with asked as materialized (
      select *, 'received' as before from unnest(${tenantsOf(sorted)}::text[], ${idsOf(sorted)}::uuid[]) as a (tenant, id))
    update stimuli s set due_at = ${new Date(until)} from asked a
    where s.tenant = a.tenant and s.id = a.id and s.status = a.before returning s.tenant, s.id`;
  const renewed = new Set(rows.map(nameOf));
  return names.map((name) => renewed.has(nameOf(name)));
}

async function writeReleases(sql: Sql, released: readonly Release[]): Promise<readonly undefined[]> {
  const sorted = [...released].sort(inOrder);
  await sql`
    with asked as materialized (
      select *, 'received' as before from unnest(${tenantsOf(sorted)}::text[], ${idsOf(sorted)}::uuid[],
        ${numbers(sorted.map(({ attempts }) => attempts))}::int[], ${numbers(sorted.map(({ at }) => at))}::bigint[])
        as a (tenant, id, attempt, at))
    update stimuli s set due_at = to_timestamp(a.at / 1000.0) from asked a
    where s.tenant = a.tenant and s.id = a.id and s.status = a.before and s.attempts = a.attempt`;
  return released.map(() => undefined);
}

async function writeDuplicates(sql: Sql, names: readonly StimulusName[]): Promise<readonly undefined[]> {
  const counts = [...Map.groupBy(names, nameOf).values()];
  const of = counts.flatMap(([first]) => (first === undefined ? [] : [first]));
  await sql`
    with counted as (
      select s.tenant, s.id, a.count
      from unnest(${tenantsOf(of)}::text[], ${idsOf(of)}::uuid[], ${numbers(counts.map(({ length }) => length))}::int[])
        as a (tenant, id, count)
      join stimuli s on s.tenant = a.tenant and s.id = a.id
      order by s.tenant, s.id for no key update of s)
    update stimuli s set duplicate_count = s.duplicate_count + c.count
    from counted c where s.tenant = c.tenant and s.id = c.id`;
  return names.map(() => undefined);
}

const tenantsOf = (names: readonly StimulusName[]): string => texts(names.map(({ tenant }) => tenant));
const idsOf = (names: readonly StimulusName[]): string => texts(names.map(({ id }) => id));
const nameOf = ({ tenant, id }: StimulusName): string => `${tenant} ${id}`;
const inOrder = (one: StimulusName, other: StimulusName): number => (nameOf(one) < nameOf(other) ? -1 : 1);

const isEmpty = (value: object): boolean => Object.keys(value).length === 0;

/** Words of agents and of strangers get this far. What no store can hold is escaped in JSON: a text without escapes has none. */
function storableJson(value: object): string {
  const text = JSON.stringify(value);
  if (!text.includes("\\u")) return text;
  return JSON.stringify(value, (_, member: unknown) => (typeof member === "string" ? madeStorable(member) : member));
}
