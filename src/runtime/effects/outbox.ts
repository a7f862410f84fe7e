/**
 * The outbox: effects that were committed with a turn and are carried out afterwards.
 *
 * A message to another partition is a row until the commit that takes it deletes it. Sending it is only the fast way:
 * its receiver also finds the row in PostgreSQL (`src/runtime/lane/exchange/refill.ts`), so that nothing depends on what Redis keeps. The row
 * of any other effect stays until a later commit of its partition says that it was carried out, so the partition's
 * owner after a crash carries out the rest. Effects of one partition go out in order; a repeat is harmless because
 * every effect has a number, a name or a job id that its receiver recognises.
 */

import type { Effect } from "../../../actors/kernel/effect.ts";
import type { Json } from "../../../actors/kernel/json.ts";
import type { ReplyTo } from "../../../actors/kernel/message.ts";
import { numbers } from "../../store/postgres/array-literal.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import type { RedisClient } from "../../store/redis/connections.ts";
import { type Answer, isStreamedCall } from "../mailbox/calls.ts";
import { addressFault, type Envelope, encodeEnvelope } from "../mailbox/envelope.ts";
import { type AppendAll, appendAll, type Delivery } from "../mailbox/mailbox.ts";
import { type Keys, partitionOf } from "../mailbox/partition.ts";
import { appendReply } from "../mailbox/replies.ts";

export interface OutboxRow {
  readonly partition: number;
  readonly seq: number;
  /** A `Wire`, as JSON. */
  readonly effect: string;
  /** The partition that receives it; null for what the sender's owner carries out itself. */
  readonly target: number | null;
  /** Of a message: the number of the last one before it to the same partition that may not be taken yet; 0 for none. */
  readonly after: number;
}

export interface Origin {
  readonly kind: string;
  readonly key: string;
  readonly tenant: string;
}

type Wire =
  | readonly ["tell", kind: string, key: string, tenant: string, type: string, body: Json, version?: number]
  | readonly [
      "schedule",
      kind: string,
      key: string,
      tenant: string,
      timer: string,
      at: number,
      type: string,
      body: Json,
    ]
  /** Of a former version, which kept timers in Redis. */
  | readonly ["cancel", kind: string, key: string, timer: string]
  | readonly ["reply", node: string, call: string, answer: Answer];

/**
 * The outbox form of an effect, or null for effects that do not pass through the outbox.
 * @throws TypeError when the receiver's name cannot be stored: the turn then is not storable either
 */
export function toOutbox(effect: Effect, origin: Origin): string | null {
  if (effect.effect === "tell") {
    const fault = addressFault(effect.kind, effect.key, effect.message.type);
    if (fault !== null) throw new TypeError(fault);
  }
  const wire = toWire(effect, origin);
  return wire === null ? null : JSON.stringify(wire);
}

function toWire(effect: Effect, { tenant }: Origin): Wire | null {
  switch (effect.effect) {
    case "tell":
      return effect.version === undefined
        ? ["tell", effect.kind, effect.key, tenant, effect.message.type, effect.message.body]
        : ["tell", effect.kind, effect.key, tenant, effect.message.type, effect.message.body, effect.version];
    case "reply":
      return ["reply", effect.to.node, effect.to.call, { value: effect.value }];
    default:
      return null;
  }
}

export function remoteAnswer(node: string, call: string, answer: Answer): string {
  return JSON.stringify(["reply", node, call, answer] satisfies Wire);
}

export interface OutboxOptions {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly partitions: number;
  /** A timer that a former version asked for in an effect: its actor is to set it. */
  formerTimer(actor: Origin): Promise<void>;
  /** Whether every live node finds messages to it in PostgreSQL; those of the former version do not. */
  allReadRows(): boolean;
  /** What works on this node's partitions. */
  readonly here: {
    takes(partition: number): boolean;
    deliver(delivery: Delivery): void;
  };
}

export class Outbox {
  private appendAll: AppendAll | null = null;

  constructor(private readonly options: OutboxOptions) {}

  /**
   * Carries out effects in order; messages that Redis does not take are left to their receivers, who find their rows.
   * @param incarnation of the database that the rows are from
   * @returns effects without a receiver that may not be carried out: they are to be published again
   * @throws when messages may not be sent and a node of the former version, which finds no rows, may wait for them: all
   *   must be published again then
   */
  async publish(rows: readonly OutboxRow[], incarnation: string): Promise<readonly OutboxRow[]> {
    const { keys, partitions, here } = this.options;
    const tells = new Map<number, string[]>();
    const others: { readonly row: OutboxRow; readonly carriedOut: Promise<unknown> }[] = [];
    for (const row of rows) {
      const { partition, seq, effect, after } = row;
      const wire = JSON.parse(effect) as Wire;
      switch (wire[0]) {
        case "tell": {
          const target = partitionOf(wire[1], wire[2], partitions);
          const envelope = envelopeOf(wire, { partition, seq, after, incarnation });
          if (here.takes(target)) {
            here.deliver({ partition: target, id: null, envelope, raw: "" });
            break;
          }
          const text = encodeEnvelope(envelope);
          const group = tells.get(target);
          if (group === undefined) tells.set(target, [text]);
          else group.push(text);
          break;
        }
        case "schedule":
          others.push({
            row,
            carriedOut: this.options.formerTimer({ kind: wire[1], key: wire[2], tenant: wire[3] }),
          });
          break;
        case "cancel":
          break;
        case "reply":
          others.push({ row, carriedOut: this.reply(wire[1], wire[2], wire[3]) });
          break;
      }
    }
    const [sent, settled] = await Promise.all([
      Promise.allSettled(Array.from(tells, ([target, texts]) => this.append(keys.mailbox(target), texts))),
      Promise.allSettled(others.map(({ carriedOut }) => carriedOut)),
    ]);
    const unsent = sent.find((one) => one.status === "rejected");
    if (unsent !== undefined && !this.options.allReadRows()) throw unsent.reason;
    return others.flatMap(({ row }, index) => (settled[index]?.status === "rejected" ? [row] : []));
  }

  /** Says that messages are taken. Nothing depends on it. */
  acknowledge(senders: readonly ReplyTo[]): void {
    for (const { node, call } of senders) this.reply(node, call, { value: null }).catch(() => {});
  }

  /** By the node's stream; a node of the former version listens to its channel. */
  private async reply(node: string, call: string, answer: Answer): Promise<void> {
    const { redis, keys } = this.options;
    const text = JSON.stringify([call, answer]);
    if (!isStreamedCall(call)) await redis.publish(keys.replies(node), text);
    else await appendReply(redis, keys.wake(node), text);
  }

  /**
   * All of a batch's messages for one mailbox, or none: a gap that is filled later would look like a
   * repeat to the receiver, which remembers only the highest number of each source.
   */
  private async append(key: string, texts: readonly string[]): Promise<void> {
    this.appendAll ??= appendAll(this.options.redis);
    await this.appendAll(key, texts);
  }
}

type Told = Extract<Wire, readonly ["tell", ...unknown[]]>;

/** @param effect one that has a target */
export const messageIn = (effect: string): Told => JSON.parse(effect) as Told;

/** The message that an effect is, outside of the order of its partition; null for one that is none. */
export function toldIn(effect: string, place: Pick<OutboxRow, "partition" | "seq">): Envelope | null {
  const wire = JSON.parse(effect) as Wire;
  if (wire[0] !== "tell") return null;
  const { effect: _mark, ...envelope } = envelopeOf(wire, { ...place, after: 0, incarnation: "" });
  return envelope;
}

/** A message of the outbox as its receiver gets it. */
export function envelopeOf(
  [, kind, key, tenant, type, body, version]: Told,
  { partition, seq, after, incarnation }: Pick<OutboxRow, "partition" | "seq" | "after"> & { incarnation: string },
): Envelope {
  return {
    source: `p${partition}`,
    sequence: seq,
    kind,
    key,
    tenant,
    type,
    body,
    replyTo: null,
    activity: null,
    fresh: false,
    ...(version === undefined ? {} : { version }),
    effect: { after, incarnation },
  };
}

/** Effects read at once, and bytes of them, about. */
const pageRows = 1000;
const pageBytes = 8 * 1024 * 1024;

interface StoredEffect {
  readonly partition: number;
  readonly seq: string;
  readonly effect: string;
  readonly target: number | null;
}

/**
 * What earlier owners of these partitions committed but perhaps did not carry out, and what was not received yet, in
 * pages. Each message follows the one before it to the same partition: what is not here any more was received.
 */
export async function* loadOutbox(
  sql: Sql,
  numberOfPartitions: number,
  partitions: readonly number[],
): AsyncGenerator<readonly OutboxRow[]> {
  const last = new Map<string, number>();
  let from: Pick<StoredEffect, "partition" | "seq"> = { partition: -1, seq: "0" };
  for (;;) {
    // The length of a text that is stored aside is known without reading it.
    const rows = await sql<StoredEffect[]>`
      select partition, seq, effect, target from (
        select first.*, sum(octet_length(effect)) over (order by partition, seq) - octet_length(effect) as before
        from (
          select partition, seq, effect, target from runtime_outbox
          where partition = any(${numbers(partitions)}::int[])
            and (partition, seq) > (${from.partition}::int, ${from.seq}::bigint)
          order by partition, seq limit ${pageRows}) first) page
      where before < ${pageBytes} order by partition, seq`;
    const end = rows.at(-1);
    if (end === undefined) return;
    from = end;
    const found: OutboxRow[] = [];
    const untargeted: { partition: number; seq: number; target: number }[] = [];
    for (const { partition, effect, ...row } of rows) {
      const seq = Number(row.seq);
      const wire = JSON.parse(effect) as Wire;
      const target = wire[0] === "tell" ? partitionOf(wire[1], wire[2], numberOfPartitions) : null;
      if (target !== null && row.target === null) untargeted.push({ partition, seq, target });
      const way = `${partition} ${target}`;
      found.push({ partition, seq, effect, target, after: target === null ? 0 : (last.get(way) ?? 0) });
      last.set(way, seq);
    }
    if (untargeted.length > 0) await target(sql, untargeted);
    yield found;
  }
}

/** Effects of nodes of the former version: from now on their receivers delete them. */
async function target(
  sql: Sql,
  rows: readonly { readonly partition: number; readonly seq: number; readonly target: number }[],
): Promise<void> {
  await sql`
    update runtime_outbox o set target = u.target
    from unnest(${numbers(rows.map((row) => row.partition))}::int[], ${numbers(rows.map((row) => row.seq))}::bigint[],
      ${numbers(rows.map((row) => row.target))}::int[]) as u (partition, seq, target)
    where o.partition = u.partition and o.seq = u.seq`;
}

/** Deletes effects that are carried out: everything up to `seq` per partition but what other partitions receive. */
export async function clearOutbox(
  sql: Sql,
  marks: readonly { readonly partition: number; readonly seq: number }[],
): Promise<void> {
  await sql`
    delete from runtime_outbox o
    using unnest(${numbers(marks.map((mark) => mark.partition))}::int[], ${numbers(marks.map((mark) => mark.seq))}::bigint[]) as u (partition, seq)
    where o.partition = u.partition and o.seq <= u.seq and o.target is null`;
}
