/**
 * The journal: everything a batch of turns changed, committed in one transaction or not at all.
 *
 * The statements of a commit are sent without waiting for each other, so it costs one round trip and one
 * flush of PostgreSQL's log however many turns it holds.
 */
import type { ReservedSql } from "postgres";
import { booleans, numbers, texts } from "../store/array-literal.ts";
import type { Sql } from "../store/postgres.ts";
import type { Statement } from "./port.ts";

export interface ActorRow {
  readonly kind: string;
  readonly key: string;
  readonly tenant: string;
  readonly partition: number;
  readonly version: number;
  /** JSON. */
  readonly logs: string;
  /** JSON. */
  readonly state: string;
}

export interface LogRow {
  readonly kind: string;
  readonly key: string;
  readonly log: string;
  readonly seq: number;
  readonly at: number;
  /** JSON. */
  readonly entry: string;
}

export interface ActivityRow {
  readonly id: string;
  readonly kind: string;
  readonly key: string;
  readonly tenant: string;
  readonly name: string;
  /** JSON. */
  readonly input: string;
  readonly replyType: string;
  readonly hostBound: boolean;
}

export interface DeadLetterRow {
  readonly id: string;
  readonly partition: number;
  readonly kind: string;
  readonly key: string;
  readonly tenant: string;
  readonly messageId: string;
  readonly type: string;
  /** JSON. */
  readonly body: string;
  readonly error: string;
  readonly attempts: number;
}

export interface PartitionProgress {
  readonly partition: number;
  readonly epoch: number;
  readonly mailboxOffset: string;
  /** JSON. */
  readonly sources: string;
  readonly outboxSequence: number;
  /** Outbox rows up to this one are carried out and can go. */
  readonly published: number;
}

export interface Commit {
  readonly partitions: readonly PartitionProgress[];
  readonly actors: readonly ActorRow[];
  readonly ended: readonly { readonly kind: string; readonly key: string }[];
  readonly logs: readonly LogRow[];
  readonly outbox: readonly { readonly partition: number; readonly seq: number; readonly effect: string }[];
  readonly activities: readonly ActivityRow[];
  /** Activities whose outcome these turns took in. */
  readonly settled: readonly string[];
  readonly abandoned: readonly string[];
  readonly deadLetters: readonly DeadLetterRow[];
  readonly projections: readonly Statement[];
}

/** Another node took a partition of the batch: nothing of it was committed. */
export class PartitionLost extends Error {
  override readonly name = "PartitionLost";
}

const sqlTexts = {
  fence: `with moved as (
      update runtime_partitions p
      set mailbox_offset = u.mailbox_offset, sources = u.sources, outbox_seq = u.outbox_seq
      from unnest($1::int[], $2::bigint[], $3::text[], $4::text[], $5::bigint[])
        as u (partition, epoch, mailbox_offset, sources, outbox_seq)
      where p.partition = u.partition and p.epoch = u.epoch and p.owner = $6
      returning 1)
    select runtime_require_ownership((select count(*) from moved) = $7::int)`,
  published: `delete from runtime_outbox o using unnest($1::int[], $2::bigint[]) as u (partition, seq)
    where o.partition = u.partition and o.seq <= u.seq`,
  actors: `insert into runtime_actors (kind, key, tenant, partition, version, logs, state)
    select * from unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::bigint[], $6::text[], $7::text[])
    on conflict (kind, key) do update
      set tenant = excluded.tenant, version = excluded.version, logs = excluded.logs, state = excluded.state, updated_at = now()`,
  endedActors: `delete from runtime_actors a using unnest($1::text[], $2::text[]) as u (kind, key)
    where a.kind = u.kind and a.key = u.key`,
  endedLogs: `delete from runtime_logs a using unnest($1::text[], $2::text[]) as u (kind, key)
    where a.kind = u.kind and a.key = u.key`,
  logs: `insert into runtime_logs (kind, key, log, seq, at, entry)
    select * from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::text[])`,
  outbox: `insert into runtime_outbox (partition, seq, effect)
    select * from unnest($1::int[], $2::bigint[], $3::text[])`,
  activities: `insert into runtime_activities (id, kind, key, tenant, name, input, reply_type, host_bound, node, host)
    select u.*, $9, $10 from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bool[]) as u
    on conflict (id) do nothing`,
  settled: `delete from runtime_activities where id = any($1::text[])`,
  abandoned: `update runtime_activities set abandoned = true where id = any($1::text[])`,
  deadLetters: `insert into runtime_dead_letters (id, partition, kind, key, tenant, message_id, type, body, error, attempts)
    select * from unnest($1::uuid[], $2::int[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::int[])`,
};

const prepared = { prepare: true } as const;

export class Journal {
  private connection: ReservedSql | null = null;

  constructor(
    private readonly sql: Sql,
    private readonly node: string,
    private readonly host: string,
  ) {}

  /**
   * Commits a batch.
   * @throws PartitionLost when a partition has another owner; anything else may or may not have
   *   committed when `isDatabaseUnavailable` holds for it, and has not committed otherwise
   */
  async commit(batch: Commit): Promise<void> {
    this.connection ??= await this.sql.reserve();
    const connection = this.connection;
    const pending: Promise<unknown>[] = [];
    const run = (text: string, parameters: unknown[]) => {
      pending.push(connection.unsafe(text, parameters as never[], prepared).execute() as unknown as Promise<unknown>);
    };
    run("begin", []);
    this.statements(batch, run);
    run("commit", []);
    const settled = await Promise.allSettled(pending);
    const failures = settled.filter((one): one is PromiseRejectedResult => one.status === "rejected");
    const first = failures[0];
    if (first === undefined) return;
    const error = first.reason as Error & { code?: string };
    // The failed transaction is closed by our own COMMIT, which PostgreSQL turned into a rollback. A
    // connection that broke cannot be told from one that is merely out of step: start over with another.
    this.drop();
    if (error.code === "SVF01") throw new PartitionLost("a partition of the batch has another owner");
    throw error;
  }

  close(): void {
    this.drop();
  }

  private drop(): void {
    const connection = this.connection;
    this.connection = null;
    try {
      connection?.release();
    } catch {
      // Releasing a connection that is already closed is what we want anyway.
    }
  }

  private statements(batch: Commit, run: (text: string, parameters: unknown[]) => void): void {
    const { partitions, actors, ended, logs, outbox, activities, settled, abandoned, deadLetters } = batch;
    run(sqlTexts.fence, [
      numbers(partitions.map((row) => row.partition)),
      numbers(partitions.map((row) => row.epoch)),
      texts(partitions.map((row) => row.mailboxOffset)),
      texts(partitions.map((row) => row.sources)),
      numbers(partitions.map((row) => row.outboxSequence)),
      this.node,
      partitions.length,
    ]);
    const published = partitions.filter((row) => row.published > 0);
    if (published.length > 0) {
      run(sqlTexts.published, [
        numbers(published.map((row) => row.partition)),
        numbers(published.map((row) => row.published)),
      ]);
    }
    if (ended.length > 0) {
      const which = [texts(ended.map((row) => row.kind)), texts(ended.map((row) => row.key))];
      run(sqlTexts.endedActors, which);
      run(sqlTexts.endedLogs, which);
    }
    if (actors.length > 0) {
      run(sqlTexts.actors, [
        texts(actors.map((row) => row.kind)),
        texts(actors.map((row) => row.key)),
        texts(actors.map((row) => row.tenant)),
        numbers(actors.map((row) => row.partition)),
        numbers(actors.map((row) => row.version)),
        texts(actors.map((row) => row.logs)),
        texts(actors.map((row) => row.state)),
      ]);
    }
    if (logs.length > 0) {
      run(sqlTexts.logs, [
        texts(logs.map((row) => row.kind)),
        texts(logs.map((row) => row.key)),
        texts(logs.map((row) => row.log)),
        numbers(logs.map((row) => row.seq)),
        numbers(logs.map((row) => row.at)),
        texts(logs.map((row) => row.entry)),
      ]);
    }
    if (outbox.length > 0) {
      run(sqlTexts.outbox, [
        numbers(outbox.map((row) => row.partition)),
        numbers(outbox.map((row) => row.seq)),
        texts(outbox.map((row) => row.effect)),
      ]);
    }
    if (settled.length > 0) run(sqlTexts.settled, [texts(settled)]);
    if (activities.length > 0) {
      run(sqlTexts.activities, [
        texts(activities.map((row) => row.id)),
        texts(activities.map((row) => row.kind)),
        texts(activities.map((row) => row.key)),
        texts(activities.map((row) => row.tenant)),
        texts(activities.map((row) => row.name)),
        texts(activities.map((row) => row.input)),
        texts(activities.map((row) => row.replyType)),
        booleans(activities.map((row) => row.hostBound)),
        this.node,
        this.host,
      ]);
    }
    if (abandoned.length > 0) run(sqlTexts.abandoned, [texts(abandoned)]);
    if (deadLetters.length > 0) {
      run(sqlTexts.deadLetters, [
        texts(deadLetters.map((row) => row.id)),
        numbers(deadLetters.map((row) => row.partition)),
        texts(deadLetters.map((row) => row.kind)),
        texts(deadLetters.map((row) => row.key)),
        texts(deadLetters.map((row) => row.tenant)),
        texts(deadLetters.map((row) => row.messageId)),
        texts(deadLetters.map((row) => row.type)),
        texts(deadLetters.map((row) => row.body)),
        texts(deadLetters.map((row) => row.error)),
        numbers(deadLetters.map((row) => row.attempts)),
      ]);
    }
    for (const statement of batch.projections) run(statement.text, [...statement.parameters]);
  }
}

interface StoredRow {
  kind: string;
  key: string;
  tenant: string;
  partition: number;
  version: string;
  logs: string;
  state: string;
}

/** Reads the actors named, and which of the activities named are still under way. */
export async function loadBatch(
  sql: Sql,
  actors: readonly { readonly kind: string; readonly key: string }[],
  activities: readonly string[],
): Promise<{ rows: StoredRow[]; live: Set<string> }> {
  const [rows, live] = await Promise.all([
    actors.length === 0
      ? []
      : sql.unsafe<StoredRow[]>(
          `select a.kind, a.key, a.tenant, a.partition, a.version, a.logs, a.state
           from unnest($1::text[], $2::text[]) as u (kind, key) join runtime_actors a on a.kind = u.kind and a.key = u.key`,
          [texts(actors.map((one) => one.kind)), texts(actors.map((one) => one.key))],
          prepared,
        ),
    activities.length === 0
      ? []
      : sql.unsafe<{ id: string }[]>("select id from runtime_activities where id = any($1::text[])", [texts(activities)], prepared),
  ]);
  return { rows: [...rows], live: new Set([...live].map((row) => row.id)) };
}
