/**
 * The journal: everything a batch of turns changed, committed in one transaction or not at all.
 *
 * A commit is one statement of many parts, so it costs one round trip and one flush of PostgreSQL's log
 * however many turns it holds, and it holds no lock while this node is not looking.
 */
import type { ISql } from "postgres";
import { booleans, jsonLines, jsonTexts, numbers, texts } from "../../store/array-literal.ts";
import type { Sql } from "../../store/postgres.ts";
import type { Statement } from "../port.ts";

export interface ActorRow {
  readonly kind: string;
  readonly key: string;
  readonly tenant: string;
  readonly partition: number;
  readonly version: number;
  /** JSON. */
  readonly logs: string;
  /** JSON; null for a kind without listed members. */
  readonly listed: string | null;
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

/**
 * The parts of a commit: one statement, so that it crosses to PostgreSQL in one piece and is a
 * transaction by itself. Empty arrays add nothing; what features derive joins as further parts.
 */
const commitParts = `
with moved as (
  update runtime_partitions p
  set mailbox_offset = u.mailbox_offset, sources = u.sources, outbox_seq = u.outbox_seq
  from unnest($1::int[], $2::bigint[], $3::text[], $4::text[], $5::bigint[])
    as u (partition, epoch, mailbox_offset, sources, outbox_seq)
  where p.partition = u.partition and p.epoch = u.epoch and p.owner = $6
  returning 1
), carried_out as (
  delete from runtime_outbox o using unnest($1::int[], $7::bigint[]) as u (partition, seq)
  where o.partition = u.partition and o.seq <= u.seq
), actors as (
  insert into runtime_actors (kind, key, tenant, partition, version, logs, state, listed)
  select * from unnest($8::text[], $9::text[], $10::text[], $11::int[], $12::bigint[], $13::text[],
    string_to_array($14::text, E'\\n'), string_to_array($35::text, E'\\n', ''))
  on conflict (kind, key) do update
    set tenant = excluded.tenant, version = excluded.version, logs = excluded.logs, state = excluded.state,
      listed = excluded.listed, updated_at = now()
), logs as (
  insert into runtime_logs (kind, key, log, seq, at, entry)
  select * from unnest($15::text[], $16::text[], $17::text[], $18::bigint[], $19::bigint[],
    string_to_array($20::text, E'\\n'))
), effects as (
  insert into runtime_outbox (partition, seq, effect)
  select * from unnest($21::int[], $22::bigint[], string_to_array($23::text, E'\\n'))
), settled as (
  delete from runtime_activities where id = any($24::text[])
), activities as (
  insert into runtime_activities (id, kind, key, tenant, name, input, reply_type, host_bound, node, host)
  select u.*, $6, $25
  from unnest($26::text[], $27::text[], $28::text[], $29::text[], $30::text[], string_to_array($31::text, E'\\n'),
    $32::text[], $33::bool[]) as u
  on conflict (id) do nothing
), given_up as (
  update runtime_activities set abandoned = true where id = any($34::text[])
)`;
/** Judged last; undoes everything when it fails. */
const fence = "select runtime_require_ownership((select count(*) from moved) = cardinality($1::int[]))";

const endStatements = [
  `delete from runtime_actors a using unnest($1::text[], $2::text[]) as u (kind, key)
   where a.kind = u.kind and a.key = u.key`,
  `delete from runtime_logs a using unnest($1::text[], $2::text[]) as u (kind, key)
   where a.kind = u.kind and a.key = u.key`,
];

const deadLetterStatement = `
insert into runtime_dead_letters (id, partition, kind, key, tenant, message_id, type, body, error, attempts)
select * from unnest($1::uuid[], $2::int[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::int[])`;

const prepared = { prepare: true } as const;

export class Journal {
  constructor(
    private readonly sql: Sql,
    private readonly node: string,
    private readonly host: string,
    /** How long a commit that stands still may keep others from its partitions, ms. */
    private readonly idleTimeoutMs: number,
  ) {}

  /**
   * Commits a batch, over a connection that it takes from the pool for this one transaction: one that is
   * kept for longer can close unnoticed and be opened again for other queries.
   * @throws PartitionLost when a partition has another owner; anything else may or may not have
   *   committed when `isDatabaseUnavailable` holds for it, and has not committed otherwise
   */
  async commit(batch: Commit): Promise<void> {
    const rare = this.rareStatements(batch);
    const statement = this.commitStatement(batch);
    try {
      if (rare.length === 0) await this.run(this.sql, statement);
      else await this.commitTogether([...rare, statement]);
    } catch (error) {
      if ((error as { code?: unknown }).code === "SVF01")
        throw new PartitionLost("a partition of the batch has another owner");
      throw error;
    }
  }

  private async commitTogether(statements: readonly Statement[]): Promise<void> {
    await this.sql.begin(async (tx) => {
      // A node that stops in the middle would otherwise hold its rows for as long as its socket is open.
      const timeout = tx.unsafe(`set local idle_in_transaction_session_timeout = ${this.idleTimeoutMs}`).execute();
      await Promise.all([timeout, ...statements.map((statement) => this.run(tx, statement))]);
    });
  }

  private run(sql: ISql, { text, parameters }: Statement): Promise<unknown> {
    return sql.unsafe(text, parameters.map((value) => asText(sql, value)) as never[], prepared).execute();
  }

  private commitStatement(batch: Commit): Statement {
    const { partitions, actors, logs, outbox, activities, settled, abandoned } = batch;
    const parameters: unknown[] = [
      numbers(partitions.map((row) => row.partition)),
      numbers(partitions.map((row) => row.epoch)),
      texts(partitions.map((row) => row.mailboxOffset)),
      jsonTexts(partitions.map((row) => row.sources)),
      numbers(partitions.map((row) => row.outboxSequence)),
      this.node,
      numbers(partitions.map((row) => row.published)),
      texts(actors.map((row) => row.kind)),
      texts(actors.map((row) => row.key)),
      texts(actors.map((row) => row.tenant)),
      numbers(actors.map((row) => row.partition)),
      numbers(actors.map((row) => row.version)),
      jsonTexts(actors.map((row) => row.logs)),
      jsonLines(actors.map((row) => row.state)),
      texts(logs.map((row) => row.kind)),
      texts(logs.map((row) => row.key)),
      texts(logs.map((row) => row.log)),
      numbers(logs.map((row) => row.seq)),
      numbers(logs.map((row) => row.at)),
      jsonLines(logs.map((row) => row.entry)),
      numbers(outbox.map((row) => row.partition)),
      numbers(outbox.map((row) => row.seq)),
      jsonLines(outbox.map((row) => row.effect)),
      texts(settled),
      this.host,
      texts(activities.map((row) => row.id)),
      texts(activities.map((row) => row.kind)),
      texts(activities.map((row) => row.key)),
      texts(activities.map((row) => row.tenant)),
      texts(activities.map((row) => row.name)),
      jsonLines(activities.map((row) => row.input)),
      texts(activities.map((row) => row.replyType)),
      booleans(activities.map((row) => row.hostBound)),
      texts(abandoned),
      actors.map((row) => row.listed ?? "").join("\n"),
    ];
    const features = batch.projections.map((projection, index) => {
      const first = parameters.length;
      parameters.push(...projection.parameters);
      // Parameters are numbered through; the text stays the same for the same kinds of news, and so does its plan.
      return `, feature_${index} as (${projection.text.replace(/\$(\d+)/g, (_, number) => `$${first + Number(number)}`)})`;
    });
    return { text: `${commitParts}${features.join("")}\n${fence}`, parameters };
  }

  private rareStatements({ ended, deadLetters }: Commit): Statement[] {
    const statements: Statement[] = [];
    if (ended.length > 0) {
      const parameters = [texts(ended.map((row) => row.kind)), texts(ended.map((row) => row.key))];
      statements.push(...endStatements.map((text) => ({ text, parameters })));
    }
    if (deadLetters.length > 0) {
      const parameters = [
        texts(deadLetters.map((row) => row.id)),
        numbers(deadLetters.map((row) => row.partition)),
        texts(deadLetters.map((row) => row.kind)),
        texts(deadLetters.map((row) => row.key)),
        texts(deadLetters.map((row) => row.tenant)),
        texts(deadLetters.map((row) => row.messageId)),
        texts(deadLetters.map((row) => row.type)),
        jsonTexts(deadLetters.map((row) => row.body)),
        texts(deadLetters.map((row) => row.error)),
        numbers(deadLetters.map((row) => row.attempts)),
      ];
      statements.push({ text: deadLetterStatement, parameters });
    }
    return statements;
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
  listed: string | null;
  state: string;
}

/** Reads the actors named, and which of the activities named are still under way: true unless given up. */
export async function loadBatch(
  sql: Sql,
  actors: readonly { readonly kind: string; readonly key: string }[],
  activities: readonly string[],
): Promise<{ rows: StoredRow[]; live: Map<string, boolean> }> {
  const [rows, live] = await Promise.all([
    actors.length === 0
      ? []
      : sql.unsafe<StoredRow[]>(
          `select a.kind, a.key, a.tenant, a.partition, a.version, a.logs, a.listed, a.state
           from unnest($1::text[], $2::text[]) as u (kind, key) join runtime_actors a on a.kind = u.kind and a.key = u.key`,
          [texts(actors.map((one) => one.kind)), texts(actors.map((one) => one.key))],
          prepared,
        ),
    activities.length === 0
      ? []
      : sql.unsafe<{ id: string; abandoned: boolean }[]>(
          "select id, abandoned from runtime_activities where id = any($1::text[])",
          [texts(activities)],
          prepared,
        ),
  ]);
  return { rows: [...rows], live: new Map([...live].map((row) => [row.id, !row.abandoned])) };
}
