/**
 * What waits in PostgreSQL for the partitions of this node, whether or not Redis still has it: effects that other
 * partitions committed for them, and messages of the inbox. Read when a partition is taken, when one finds a gap, when
 * Redis lost something, and now and then.
 */
import type { Json } from "../../../../actors/kernel/json.ts";
import { numbers } from "../../../store/postgres/array-literal.ts";
import type { Sql } from "../../../store/postgres/pool.ts";
import { envelopeOf, messageIn } from "../../effects/outbox.ts";
import type { Delivery } from "../../mailbox/mailbox.ts";
import type { Held } from "./held.ts";
import { forgetNodes } from "./received.ts";

/** Messages of each kind read at once, and bytes of them, about; the rest is read when these are taken. */
const refillSize = 512;
const refillBytes = 4 * 1024 * 1024;
/** What is sent and not received is looked for this often, besides whenever something may be missing, ms. */
const refillEveryMs = 3_000;
/** What was received long ago is forgotten this often, ms. */
const forgetEveryMs = 30_000;
/** Between attempts while the database is away, ms. */
const againMs = 1000;

/** Which partitions may have messages waiting in PostgreSQL, and the reading of them. */
export class Refill {
  private readonly wanted = new Set<number>();
  private readAt = performance.now();
  private forgotAt = performance.now();
  /** Messages that were read and are not taken yet. */
  private outstanding = 0;

  constructor(
    private readonly sql: Sql,
    /** Called when there is something to read. */
    private readonly due: () => void,
  ) {}

  want(partitions: Iterable<number>): void {
    for (const partition of partitions) this.wanted.add(partition);
  }

  /** Those that were read before are taken first. */
  get isDue(): boolean {
    return this.wanted.size > 0 && this.outstanding === 0;
  }

  /** These are taken, or will not be taken here. */
  settle(deliveries: readonly Delivery[]): void {
    if (this.outstanding === 0) return;
    for (const { isRefill } of deliveries) if (isRefill) this.outstanding--;
  }

  /** Called often: now and then has everything looked for, and forgets what cannot come again. */
  async tick(held: ReadonlyMap<number, Held>): Promise<void> {
    if (held.size === 0 || performance.now() - this.readAt < refillEveryMs) return;
    this.want(held.keys());
    this.due();
    if (performance.now() - this.forgotAt < forgetEveryMs) return;
    this.forgotAt = performance.now();
    await forgetNodes(this.sql, held);
  }

  async read(held: ReadonlyMap<number, unknown>): Promise<readonly Delivery[]> {
    const partitions = [...this.wanted].filter((partition) => held.has(partition));
    this.wanted.clear();
    this.readAt = performance.now();
    if (partitions.length === 0) return [];
    try {
      const { waiting, isAll } = await loadWaiting(this.sql, partitions);
      if (!isAll) this.want(partitions);
      this.outstanding = waiting.length;
      return waiting;
    } catch {
      // The database is away. What waits there stays until it is taken.
      setTimeout(() => {
        this.want(partitions);
        this.due();
      }, againMs).unref();
      return [];
    }
  }
}

/** Of a row in a page: how many rows the page could have had. */
interface PageRow {
  readonly found: number;
}

/** Only these are messages: what a later version gives a target as well waits for one that knows it. */
const tells = '["tell"%';

interface EffectRow extends PageRow {
  readonly partition: number;
  readonly seq: string;
  readonly target: number;
  readonly effect: string;
  readonly incarnation: string;
}

interface InboxRow extends PageRow {
  readonly id: string;
  readonly partition: number;
  readonly kind: string;
  readonly key: string;
  readonly tenant: string;
  readonly type: string;
  readonly body: string;
}

/**
 * At most `refillSize` of each kind, and no more than fit into `refillBytes` (one at least), each effect with the one
 * before it: the earliest of a source follows nothing that was not received.
 */
async function loadWaiting(
  sql: Sql,
  partitions: readonly number[],
): Promise<{ readonly waiting: Delivery[]; readonly isAll: boolean }> {
  const [found] = await sql<[{ effects: boolean; inbox: boolean }]>`
    select exists (select from runtime_outbox where target = any(${numbers(partitions)}::int[]) and effect like ${tells}) as effects,
      exists (select from runtime_inbox where partition = any(${numbers(partitions)}::int[])) as inbox`;
  // The length of a text that is stored aside is known without reading it.
  const [effects, inbox] = await Promise.all([
    found.effects
      ? sql<EffectRow[]>`
      select partition, seq, target, effect, found, (select runtime_incarnation()) as incarnation from (
        select first.*, count(*) over ()::int as found,
          sum(octet_length(effect)) over (order by target, partition, seq) - octet_length(effect) as before
        from (
          select partition, seq, target, effect from runtime_outbox
          where target = any(${numbers(partitions)}::int[]) and effect like ${tells} order by target, partition, seq limit ${refillSize}) first
      ) page where before < ${refillBytes} order by target, partition, seq`
      : [],
    found.inbox
      ? sql<InboxRow[]>`
      select id, partition, kind, key, tenant, type, body, found from (
        select first.*, count(*) over ()::int as found,
          sum(octet_length(body)) over (order by id) - octet_length(body) as before
        from (
          select id, partition, kind, key, tenant, type, body from runtime_inbox
          where partition = any(${numbers(partitions)}::int[]) order by id limit ${refillSize}) first
      ) page where before < ${refillBytes} order by id`
      : [],
  ]);
  const waiting = [
    ...effects.map((row, index) => effectDelivery(row, effects[index - 1])),
    ...inbox.map(inboxDelivery),
  ];
  return { waiting, isAll: isAllOf(effects) && isAllOf(inbox) };
}

const isAllOf = (rows: readonly PageRow[]): boolean =>
  rows.length < refillSize && rows.length === (rows[0]?.found ?? 0);

function effectDelivery({ partition, seq, target, effect, incarnation }: EffectRow, before?: EffectRow): Delivery {
  const after = before?.partition === partition && before.target === target ? Number(before.seq) : 0;
  const envelope = envelopeOf(messageIn(effect), { partition, seq: Number(seq), after, incarnation });
  return { partition: target, id: null, envelope, raw: "", isRefill: true };
}

function inboxDelivery({ id, partition, kind, key, tenant, type, body }: InboxRow): Delivery {
  const envelope = {
    source: "inbox",
    sequence: Number(id),
    kind,
    key,
    tenant,
    type,
    body: JSON.parse(body) as Json,
    replyTo: null,
    activity: null,
    fresh: false,
    inbox: id,
  };
  return { partition, id: null, envelope, raw: "", isRefill: true };
}
