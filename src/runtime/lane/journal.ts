/**
 * The journal: everything a batch of turns changed, committed in one transaction or not at all.
 *
 * A commit is one statement of many parts (`commit/`), so it costs one round trip and one flush of PostgreSQL's log
 * however many turns it holds, and it holds no lock while this node is not looking.
 */
import type { ISql } from "postgres";
import { texts } from "../../store/postgres/array-literal.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import { type Commit, type Committer, partsOf } from "./commit/commit.ts";
import { CommitForms, type ComposedStatement } from "./commit/form.ts";

/** Another node took a partition of the batch: nothing of it was committed. */
export class PartitionLost extends Error {
  override readonly name = "PartitionLost";
}

const prepared = { prepare: true } as const;

export class Journal {
  private readonly forms = new CommitForms();

  constructor(
    private readonly sql: Sql,
    private readonly committer: Committer,
    /** How long a commit that stands still may keep others from its partitions, ms. */
    private readonly idleTimeoutMs: number,
  ) {}

  /**
   * Commits a batch, over a connection that it takes from the pool for this one transaction: one that is
   * kept for longer can close unnoticed and be opened again for other queries.
   * @throws PartitionLost when a partition has another owner; nothing was committed then, nor where `isOwnFault` holds
   *   for the error; after anything else it may be committed or not
   */
  async commit(batch: Commit): Promise<void> {
    const { ahead, progress, others } = partsOf(batch, this.committer);
    const statement = this.forms.compose([progress, ...others], batch.partitions);
    try {
      if (ahead.length === 0) await this.run(this.sql, statement);
      else await this.commitTogether([...ahead.map((part) => ({ ...part, isPrepared: true })), statement]);
    } catch (error) {
      if ((error as { code?: unknown }).code === "SVF01")
        throw new PartitionLost("a partition of the batch has another owner");
      throw error;
    }
  }

  private async commitTogether(statements: readonly ComposedStatement[]): Promise<void> {
    await this.sql.begin(async (tx) => {
      // A node that stops in the middle would otherwise hold its rows for as long as its socket is open.
      const timeout = tx.unsafe(`set local idle_in_transaction_session_timeout = ${this.idleTimeoutMs}`).execute();
      await Promise.all([timeout, ...statements.map((statement) => this.run(tx, statement))]);
    });
  }

  private run(sql: ISql, { text, parameters, isPrepared }: ComposedStatement): Promise<unknown> {
    const values = parameters.map((value) => asText(sql, value)) as never[];
    return sql.unsafe(text, values, { prepare: isPrepared }).execute();
  }
}

/** PostgreSQL's type for "to be told from the context". */
const unknownType = 705;

/**
 * A parameter as text that PostgreSQL reads as the type that the statement needs. The driver's own serializers can throw
 * in the middle of a pipeline, and what is under way on the connection then no longer matches the answers.
 * @throws TypeError, RangeError for what has no text; nothing was sent then
 */
function asText(sql: ISql, value: unknown): unknown {
  if (value === null) return null;
  const text = value instanceof Date ? value.toISOString() : typeof value === "object" ? JSON.stringify(value) : value;
  if (!["string", "number", "boolean", "bigint"].includes(typeof text)) throw new TypeError("a parameter has no value");
  return sql.typed(String(text) as never, unknownType);
}

export interface StoredRow {
  kind: string;
  key: string;
  tenant: string;
  partition: number;
  version: string;
  logs: string;
  timers: string | null;
  format: number;
  listed: string | null;
  state: string;
}

/** An actor named that is left for another read, since the states before it are large enough for one. */
interface LeftRow extends Omit<StoredRow, "state"> {
  state: null;
}

/**
 * Reads the actors named, in order, and which of the activities named are still under way: true unless given up.
 * @param most bytes of states, about; actors whose states do not fit any more are `left`
 */
export async function loadBatch(
  sql: Sql,
  actors: readonly { readonly kind: string; readonly key: string }[],
  activities: readonly string[],
  most: number,
): Promise<{ rows: StoredRow[]; left: ReadonlySet<string>; live: Map<string, boolean> }> {
  const [found, live] = await Promise.all([
    actors.length === 0
      ? []
      : sql.unsafe<(StoredRow | LeftRow)[]>(
          // The length of a text that is stored aside is known without reading it.
          `select kind, key, tenant, partition, version, logs, timers, format, listed,
             case when before < $3::bigint then state end as state
           from (
             select a.*, coalesce(sum(octet_length(a.state)) over (order by u.place rows between unbounded preceding
               and 1 preceding), 0) as before
             from (
               select * from unnest($1::text[], $2::text[]) with ordinality as u (kind, key, place)
               limit cardinality($1::text[])
             ) u
             join runtime_actors a on a.kind = u.kind and a.key = u.key
           ) found`,
          [texts(actors.map((one) => one.kind)), texts(actors.map((one) => one.key)), most],
          prepared,
        ),
    activities.length === 0
      ? []
      : sql.unsafe<{ id: string; abandoned: boolean }[]>(
          `select a.id, a.abandoned from (select * from unnest($1::text[]) as u (id) limit cardinality($1::text[])) u
           join runtime_activities a on a.id = u.id`,
          [texts(activities)],
          prepared,
        ),
  ]);
  const rows: StoredRow[] = [];
  const left = new Set<string>();
  for (const row of found) {
    if (row.state === null) left.add(`${row.kind}/${row.key}`);
    else rows.push(row);
  }
  return { rows, left, live: new Map([...live].map((row) => [row.id, !row.abandoned])) };
}
