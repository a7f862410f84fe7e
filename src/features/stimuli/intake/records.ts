/** The SQL of the table `stimuli` for the nodes that process them, tenant first: who takes which, and how each one ended. */
import { madeStorable } from "../../../../actors/manifest/storable.ts";
import type {
  Channel,
  ClassificationDetail,
  Receiver,
  Settlement,
  Stimulus,
} from "../../../../actors/stimulus/stimulus.ts";
import { inBatches } from "../../../store/batches.ts";
import { numbers, texts } from "../../../store/postgres/array-literal.ts";
import type { Sql } from "../../../store/postgres/pool.ts";
import { leaseMs } from "./acceptance.ts";
import { maxBacklog } from "./backlog.ts";
import { settleText } from "./processing/settle-sql.ts";

/** A stimulus by its name. */
export type StimulusName = Pick<Stimulus, "tenant" | "id">;
/** One attempt at it. */
export type Attempt = Pick<Stimulus, "tenant" | "id" | "attempts">;
export type Failure = Exclude<Settlement, { readonly status: "classified" }>;

/** Bytes of the contents that are taken up at once, about; a larger one is taken up alone. */
const dueBytes = 8 * 1_048_576;

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
     * Gives a stimulus up, whose attempt told nothing of it: whoever looks for it after `at` (Unix milliseconds) goes on.
     * Nothing changes where another attempt has taken over.
     */
    release: (stimulus: Attempt, at: number): Promise<void> => release({ ...stimulus, at }),

    /** Counts a repeat of the delivery. */
    duplicate: (tenant: string, id: string): Promise<void> => count({ tenant, id }),

    /**
     * Takes up what is due, the oldest first, and begins an attempt of each: no other node gets it before the lease ends.
     * What belongs to a tenant that is suspended or deleted is held.
     * @param except tenants whose stimuli are left alone
     */
    async due(limit: number, except: readonly string[] = []): Promise<Stimulus[]> {
      const at = now();
      const rows = await sql<DrivenRow[]>`
        with first as (
          select tenant, id, due_at, octet_length(content) as size from stimuli
          where status = 'received' and due_at <= ${new Date(at)} and tenant <> all(${texts(except)}::text[])
            and tenant <> all(array(select slug from tenants where status <> 'active'))
          order by due_at limit ${limit} for update skip locked),
        taken as (
          select tenant, id from (
            select *, sum(size) over (order by due_at, id) - size as before from first) sized
          where before < ${dueBytes})
        update stimuli s set due_at = ${new Date(at + leaseMs)}, attempts = s.attempts + 1
        from taken t where s.tenant = t.tenant and s.id = t.id
        returning s.tenant, s.id, s.source, s.channel, s.acknowledge, s.content, s.content_encoding, s.content_type,
          s.content_size, s.content_sha256, s.headers, s.headers_truncated, s.idempotency_key,
          encode(s.guard_digest, 'hex') as guard, s.source_id, s.override,
          s.run_id, s.router_execution_id, s.attempts, s.replay_of, s.received_by_kind, s.received_by_sub,
          s.received_by_email, s.received_by_tier, s.received_at`;
      return rows.sort((one, other) => (one.id < other.id ? -1 : 1)).map(drivenStimulus);
    },

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

/** Words of agents and of strangers get this far. */
const storableJson = (value: object): string =>
  JSON.stringify(value, (_, member: unknown) => (typeof member === "string" ? madeStorable(member) : member));

interface DrivenRow {
  readonly tenant: string;
  readonly id: string;
  readonly source: string;
  readonly channel: Channel;
  readonly acknowledge: Stimulus["acknowledge"];
  readonly content: string;
  readonly content_encoding: Stimulus["contentEncoding"];
  readonly content_type: string | null;
  readonly content_size: number;
  readonly content_sha256: string;
  readonly headers: string;
  readonly headers_truncated: boolean;
  readonly idempotency_key: string | null;
  readonly guard: string | null;
  readonly source_id: string | null;
  readonly override: Stimulus["override"];
  readonly run_id: string;
  readonly router_execution_id: string | null;
  readonly attempts: number;
  readonly replay_of: string | null;
  readonly received_by_kind: Receiver["kind"];
  readonly received_by_sub: string;
  readonly received_by_email: string | null;
  readonly received_by_tier: Receiver["tier"];
  readonly received_at: Date;
}

function drivenStimulus(row: DrivenRow): Stimulus {
  return {
    tenant: row.tenant,
    id: row.id,
    source: row.source,
    channel: row.channel,
    acknowledge: row.acknowledge,
    content: row.content,
    contentEncoding: row.content_encoding,
    contentType: row.content_type,
    contentSize: row.content_size,
    contentSha256: row.content_sha256,
    headers: JSON.parse(row.headers) as Record<string, string>,
    headersTruncated: row.headers_truncated,
    key: row.idempotency_key,
    guard: row.guard,
    sourceId: row.source_id,
    override: row.override,
    executionId: row.run_id,
    routerExecutionId: row.router_execution_id,
    attempts: row.attempts,
    replayOf: row.replay_of,
    receivedBy: {
      kind: row.received_by_kind,
      sub: row.received_by_sub,
      email: row.received_by_email,
      tier: row.received_by_tier,
    },
    receivedAt: row.received_at.getTime(),
  };
}

/** Ids of stimuli are UUIDv7, minted when one is accepted: they begin with that time. */
const latestMs = 2 ** 48 - 1;

/** Not greater than any id minted at this time (Unix milliseconds) or later, and greater than every one minted before. */
export function firstIdOf(ms: number): string {
  const time = Math.min(latestMs, Math.max(0, Math.floor(ms)))
    .toString(16)
    .padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-0000-0000-000000000000`;
}
