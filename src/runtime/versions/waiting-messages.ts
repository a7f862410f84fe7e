/** Messages that wait for a node that knows them (`parked.ts`), for an operator to look at, drop, or have tried again. */
import type { Json } from "../../../actors/kernel/json.ts";
import type { Sql, Transaction } from "../../store/postgres/pool.ts";

export interface WaitingMessage {
  /** Its place: lower ones of an actor come first. */
  readonly place: string;
  readonly parked_at: string;
  /** The actor that waits for it; of an effect without a receiver, empty. */
  readonly kind: string;
  readonly key: string;
  readonly tenant: string;
  /** Of an effect, its name. */
  readonly type: string;
  /** What a node must know to take it, as JSON; null for one that only waits behind another one of its actor. */
  readonly need: string | null;
}

interface Row {
  readonly seq: string;
  readonly partition: number;
  readonly kind: string;
  readonly key: string;
  readonly tenant: string;
  readonly need: string | null;
  readonly content: string;
  readonly parked_at: Date;
}

/** Where a message's type and body stand in a mailbox entry, and an effect's name in the outbox. */
const [typeAt, bodyAt, nameAt] = [5, 9, 0];

const place = /^[1-9]\d{0,17}$/;

type Recorded = (tx: Transaction, message: WaitingMessage) => Promise<void>;

export class WaitingMessages {
  /** @param newId a fresh UUIDv7 */
  constructor(
    private readonly sql: Sql,
    private readonly newId: () => string,
  ) {}

  /** In the order of their places, without their bodies. */
  async list(limit: number): Promise<readonly WaitingMessage[]> {
    const rows = await this.sql<(Omit<Row, "content"> & { type: string })[]>`
      select seq, parked_at, kind, key, tenant, need,
        content::json ->> case when effect_seq is null then ${typeAt}::int else ${nameAt}::int end as type
      from runtime_parked order by seq limit ${limit}`;
    return rows.map((row) => messageOf(row, row.type));
  }

  /** One with its body. */
  async inspect(which: string): Promise<(WaitingMessage & { readonly body: Json }) | null> {
    if (!place.test(which)) return null;
    const [row] = await this.sql<Row[]>`select * from runtime_parked where seq = ${which}`;
    return row === undefined ? null : withBody(row);
  }

  /**
   * Makes a dead letter of a message, so that those behind it go on.
   * @param recorded called in the transaction that does so
   * @returns false where it waits no longer
   */
  async drop(which: string, recorded: Recorded): Promise<boolean> {
    return await this.take(which, async (tx, row) => {
      await tx`delete from runtime_parked where seq = ${row.seq}`;
      const { body, ...message } = withBody(row);
      await tx`
        insert into runtime_dead_letters (id, partition, kind, key, tenant, message_id, type, body, error, attempts)
        values (${this.newId()}, ${row.partition}, ${row.kind}, ${row.key}, ${row.tenant}, ${`parked.${row.seq}`},
          ${message.type}, ${JSON.stringify(body)}, ${`dropped while it waited${row.need === null ? "" : ` for ${row.need}`}`}, 0)`;
      // The partition is held at nodes that know it no longer, unless something else asks for it.
      await tx`
        delete from runtime_needs n where partition = ${row.partition} and need = ${row.need} and not need like '["state"%'
          and not exists (select 1 from runtime_parked p where p.partition = n.partition and p.need = n.need)`;
      await recorded(tx, message);
    });
  }

  /** Has a message, and those behind it, tried again by the node that owns its partition. @returns as `drop` */
  async retry(which: string, recorded: Recorded): Promise<boolean> {
    return await this.take(which, (tx, row) => recorded(tx, withBody(row)));
  }

  /**
   * Under a new epoch of its partition: a commit that is about to take the message is refused, and the owner begins the
   * partition anew, with what waits there.
   */
  private async take(which: string, act: (tx: Transaction, row: Row) => Promise<void>): Promise<boolean> {
    if (!place.test(which)) return false;
    return await this.sql.begin(async (tx) => {
      await tx`
        update runtime_partitions set epoch = epoch + 1, sources = 'take'
        where partition = (select partition from runtime_parked where seq = ${which})`;
      const [row] = await tx<Row[]>`select * from runtime_parked where seq = ${which}`;
      if (row === undefined) return false;
      await act(tx, row);
      return true;
    });
  }
}

function messageOf({ seq, parked_at, kind, key, tenant, need }: Omit<Row, "content">, type: string): WaitingMessage {
  return { place: seq, parked_at: parked_at.toISOString(), kind, key, tenant, type, need };
}

function withBody(row: Row): WaitingMessage & { readonly body: Json } {
  const content = JSON.parse(row.content) as readonly Json[];
  const isEffect = row.kind === "";
  return {
    ...messageOf(row, String(content[isEffect ? nameAt : typeAt])),
    body: isEffect ? (content as Json) : (content[bodyAt] ?? null),
  };
}
