/** Gives every row that names a partition the one that it has among another number of them. */
import { numbers, texts } from "../../store/postgres/array-literal.ts";
import type { Transaction } from "../../store/postgres/pool.ts";
import { partitionOf } from "../mailbox/partition.ts";

/** Actors whose partition is reckoned at once. */
const pageSize = 10_000;

/** Tables whose rows lie in the partition of an actor; timers besides. */
const ofActors = ["runtime_actors", "runtime_parked", "runtime_inbox", "runtime_dead_letters"];

/** The owner of partitions whose last owner died: the next one begins carefully. No node has this id. */
const gone = "gone";

/**
 * Outbox and mailboxes hold no messages any more when this is called.
 * @param to how many partitions there will be
 */
export async function assignPartitions(tx: Transaction, to: number): Promise<void> {
  await nameActors(tx, to);
  await assignNeeds(tx, to);
  for (const table of ofActors) {
    await tx.unsafe(`
      update ${table} t set partition = a.partition from assigned a
      where a.kind = t.kind and a.key = t.key and t.partition <> a.partition`);
  }
  // What belongs to no actor: effects that no version here knows, and mailbox entries that could not be read.
  for (const table of ["runtime_parked", "runtime_dead_letters"])
    await tx.unsafe(`update ${table} set partition = partition % $1::int where kind = ''`, [to]);
  await assignTimers(tx);
  await assignOutbox(tx, to);
  // Numbers of messages that were kept, or that can come no more; and of what was under way when an owner died.
  await tx`delete from runtime_received`;
  await tx`delete from runtime_received_ahead`;
  await tx`delete from runtime_attempts`;
  await setUp(tx, to);
}

/** The table `assigned`: every actor that is or is named, with its partition. */
async function nameActors(tx: Transaction, to: number): Promise<void> {
  await tx`create temp table assigned (kind text, key text, partition integer not null, primary key (kind, key)) on commit drop`;
  const names = [...ofActors, "runtime_timers"]
    .map((table) => `select kind, key from ${table} where kind <> ''`)
    .join(" union ");
  await tx.unsafe(`declare names no scroll cursor for ${names}`);
  for (;;) {
    const rows = await tx.unsafe<{ kind: string; key: string }[]>(`fetch ${pageSize} from names`);
    if (rows.length === 0) break;
    await tx`
      insert into assigned select * from unnest(${texts(rows.map(({ kind }) => kind))}::text[],
        ${texts(rows.map(({ key }) => key))}::text[],
        ${numbers(rows.map(({ kind, key }) => partitionOf(kind, key, to)))}::int[])`;
  }
  await tx`close names`;
  await tx`analyze assigned`;
}

/** What was met in a partition may lie in each one that its actors come to. */
async function assignNeeds(tx: Transaction, to: number): Promise<void> {
  await tx`
    create temp table needed on commit drop as
    select distinct a.partition, n.need from runtime_needs n
    join (
      select partition, kind, key from runtime_actors union select partition, kind, key from runtime_parked
    ) named on named.partition = n.partition
    join assigned a on a.kind = named.kind and a.key = named.key
    union select partition % ${to}::int, need from runtime_needs`;
  await tx`delete from runtime_needs`;
  await tx`insert into runtime_needs (partition, need) select partition, need from needed`;
}

/**
 * Timers of two partitions may have the same fence. In one partition no two may, so all get new ones, in their rows and
 * with their actors.
 */
async function assignTimers(tx: Transaction): Promise<void> {
  await tx`
    create temp table fenced on commit drop as
    select t.kind, t.key, t.timer, t.due, t.fence as was, a.partition,
      (select max(outbox_seq) from runtime_partitions)
        + row_number() over (partition by a.partition order by t.due, t.fence, t.kind, t.key, t.timer) as fence
    from runtime_timers t join assigned a on a.kind = t.kind and a.key = t.key`;
  await tx`
    update runtime_timers t set partition = f.partition, fence = f.fence from fenced f
    where f.kind = t.kind and f.key = t.key and f.timer = t.timer and f.due = t.due and f.was = t.fence`;
  await tx`
    update runtime_actors a set timers = n.timers from (
      select a.kind, a.key, json_object_agg(e.key,
        case when f.fence is null then e.value else json_build_array(f.due, f.fence) end)::text as timers
      from runtime_actors a cross join json_each(a.timers::json) e
      left join fenced f on f.kind = a.kind and f.key = a.key and f.timer = e.key
        and f.due = (e.value ->> 0)::bigint and f.was = (e.value ->> 1)::bigint
      where a.timers is not null group by a.kind, a.key) n
    where a.kind = n.kind and a.key = n.key`;
}

/**
 * The effects that are left are no messages, so that no receiver counts them: they get numbers above all that were given,
 * in the order of their former partitions.
 */
async function assignOutbox(tx: Transaction, to: number): Promise<void> {
  await tx`
    update runtime_outbox o set partition = n.partition, seq = n.seq from (
      select partition as was, seq as former, partition % ${to}::int as partition,
        (select max(outbox_seq) from runtime_partitions)
          + row_number() over (partition by partition % ${to}::int order by partition, seq) as seq
      from runtime_outbox) n
    where o.partition = n.was and o.seq = n.former`;
}

/**
 * The rows of the partitions: without owners, at the beginning of new mailboxes. Epochs and numbers of effects go on from
 * the highest, since numbers also tell an actor's timers apart.
 */
async function setUp(tx: Transaction, to: number): Promise<void> {
  await tx`
    create temp table former on commit drop as
    select max(epoch) as epoch, max(outbox_seq) as outbox_seq, max(generation) as generation,
      bool_or(owner is not null) as inherited from runtime_partitions`;
  await tx`delete from runtime_partitions`;
  await tx`
    insert into runtime_partitions (partition, epoch, owner, sources, outbox_seq, generation)
    select p, f.epoch + 1, case when f.inherited then ${gone} end, 'rows',
      greatest(f.outbox_seq, (select max(seq) from runtime_outbox o where o.partition = p),
        (select max(fence) from fenced where fenced.partition = p)), f.generation + 1
    from generate_series(0, ${to - 1}::int) as p, former f`;
}
