/**
 * The outbox: effects that were committed with a turn and are carried out afterwards.
 *
 * A row stays until a later commit of its partition says that it was carried out, so the partition's owner after a
 * crash carries out the rest. Effects of one partition go out in order; a repeat is
 * harmless because every effect has a number, a name or a job id that its receiver recognises.
 */

import type { Effect } from "../../../actors/kernel/effect.ts";
import type { Json } from "../../../actors/kernel/json.ts";
import { numbers } from "../../store/array-literal.ts";
import type { Sql } from "../../store/postgres.ts";
import type { RedisClient } from "../../store/redis.ts";
import type { Answer } from "../mailbox/calls.ts";
import { addressFault, encodeEnvelope } from "../mailbox/envelope.ts";
import { type AppendAll, appendAll } from "../mailbox/mailbox.ts";
import { type Keys, partitionOf } from "../mailbox/partition.ts";

export interface OutboxRow {
  readonly partition: number;
  readonly seq: number;
  /** A `Wire`, as JSON. */
  readonly effect: string;
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
}

export class Outbox {
  private appendAll: AppendAll | null = null;

  constructor(private readonly options: OutboxOptions) {}

  /** Carries out effects in order. Rejects when some may not be carried out: all of them must be published again then. */
  async publish(rows: readonly OutboxRow[]): Promise<void> {
    const { redis, keys, partitions } = this.options;
    const tells = new Map<number, string[]>();
    const others: Promise<unknown>[] = [];
    for (const { partition, seq, effect } of rows) {
      const wire = JSON.parse(effect) as Wire;
      switch (wire[0]) {
        case "tell": {
          const [, kind, key, tenant, type, body, version] = wire;
          const target = partitionOf(kind, key, partitions);
          const text = encodeEnvelope({
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
          });
          const group = tells.get(target);
          if (group === undefined) tells.set(target, [text]);
          else group.push(text);
          break;
        }
        case "schedule":
          others.push(this.options.formerTimer({ kind: wire[1], key: wire[2], tenant: wire[3] }));
          break;
        case "cancel":
          break;
        case "reply":
          others.push(redis.publish(keys.replies(wire[1]), JSON.stringify([wire[2], wire[3]])));
          break;
      }
    }
    for (const [target, texts] of tells) others.push(this.append(keys.mailbox(target), texts));
    const settled = await Promise.allSettled(others);
    const failed = settled.find((one) => one.status === "rejected");
    if (failed !== undefined) throw failed.reason;
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

/** What earlier owners of these partitions committed but perhaps did not carry out. */
export async function loadOutbox(sql: Sql, partitions: readonly number[]): Promise<OutboxRow[]> {
  const rows = await sql<{ partition: number; seq: string; effect: string }[]>`
    select partition, seq, effect from runtime_outbox where partition = any(${numbers(partitions)}::int[]) order by partition, seq`;
  return rows.map((row) => ({ partition: row.partition, seq: Number(row.seq), effect: row.effect }));
}

/** Deletes effects that are carried out: everything up to `seq` per partition. */
export async function clearOutbox(
  sql: Sql,
  marks: readonly { readonly partition: number; readonly seq: number }[],
): Promise<void> {
  await sql`
    delete from runtime_outbox o
    using unnest(${numbers(marks.map((mark) => mark.partition))}::int[], ${numbers(marks.map((mark) => mark.seq))}::bigint[]) as u (partition, seq)
    where o.partition = u.partition and o.seq <= u.seq`;
}
