/**
 * Runs one message through its actor, in memory. What comes out is data for the journal; nothing
 * here touches a store, and a failed turn leaves its actor as it was.
 */

import type { AnyActorDefinition } from "../../../actors/kernel/actor.ts";
import type { Effect, ScheduleEffect } from "../../../actors/kernel/effect.ts";
import type { Json } from "../../../actors/kernel/json.ts";
import type { MessageDefinition, Protocol, ReplyTo } from "../../../actors/kernel/message.ts";
import type { Context, Turn } from "../../../actors/kernel/turn.ts";
import { faultIn, upgraded } from "../definition.ts";
import { type Envelope, messageId } from "../mailbox/envelope.ts";
import { idWhere, partitionOf } from "../mailbox/partition.ts";
import type { TimerRequest, WaitingTimers } from "../timers/timer.ts";
import { firstVersion, type Need, versionOf } from "../versions/knowledge.ts";
import { namesAll } from "../versions/same-shape.ts";

/** An actor as this node holds it. A `state` of null means that it does not exist (any more). */
export interface CachedActor {
  readonly kind: string;
  readonly key: string;
  readonly partition: number;
  tenant: string;
  /** Counts the commits that changed the actor. */
  version: number;
  /** Last sequence number of each log. */
  logs: Record<string, number>;
  /** Those that are waiting. */
  timers: WaitingTimers;
  /** The version of the definition that wrote the state; 0 for none. */
  format: number;
  state: Json;
  usedAt: number;
  /** Characters of its state as it is stored. */
  size: number;
}

export type TurnResult =
  | {
      readonly result: "done";
      readonly effects: readonly Effect[];
      readonly reply: Json | undefined;
      /** The actors beside this one, as `kind/key`, whose ids the turn made. */
      readonly made: ReadonlySet<string>;
    }
  /** The tenant of the message is not the actor's: for the sender, the actor does not exist. */
  | { readonly result: "foreign" }
  /** A node that knows this can take it; this one does not. */
  | { readonly result: "unknown"; readonly need: Need }
  | { readonly result: "failed"; readonly error: string; readonly attempts: number };

type Handler = (state: Json, body: Json, context: Context) => Turn<Json, Json>;

/** How often a handler that throws is tried before its message becomes a dead letter. */
const handlerAttempts = 3;

export class Turns {
  private readonly kinds: ReadonlyMap<string, AnyActorDefinition>;
  private readonly listed: ReadonlyMap<string, ReadonlySet<string>>;

  constructor(
    actors: readonly AnyActorDefinition[],
    private readonly clock: { now(): number; newId(): string },
    private readonly partitions: number,
    private readonly factWriters: ReadonlyMap<string, unknown> = new Map(),
  ) {
    this.kinds = new Map(actors.map((definition) => [definition.kind, definition]));
    this.listed = new Map(
      actors.flatMap(({ kind, listed }) => (listed === undefined ? [] : [[kind, new Set(listed)] as const])),
    );
  }

  /**
   * Brings a state that came from the store, whichever version wrote it, into today's shape.
   * @returns why it cannot be taken, or null. What a later version wrote is taken where this one loses nothing of it
   */
  takeIn(actor: CachedActor): Exclude<TurnResult, { result: "done" }> | null {
    const known = this.kinds.get(actor.kind);
    if (known === undefined) return { result: "unknown", need: ["kind", actor.kind] };
    const isLater = actor.format > versionOf(known);
    const need = ["state", actor.kind, actor.format] as const;
    try {
      const state = upgraded(known, actor.state);
      if (isLater && !namesAll(known.state, state)) return { result: "unknown", need };
      actor.state = state;
      return null;
    } catch (error) {
      if (isLater) return { result: "unknown", need };
      return { result: "failed", error: `stored state: ${(error as Error).message}`, attempts: 1 };
    }
  }

  /** The members of a kind's states that are stored apart, for lists. */
  readonly listedOf = (kind: string): ReadonlySet<string> | undefined => this.listed.get(kind);

  /** The timers that an actor's state asks for. The state is in today's shape. */
  statedTimers({ kind, state }: CachedActor): readonly TimerRequest[] {
    const timersOf = this.kinds.get(kind)?.timers as ((state: Json) => readonly ScheduleEffect[]) | undefined;
    const stated = timersOf?.(state) ?? [];
    return stated.map(({ timer, at, message: { type, body } }) => ({ timer, at, type, body: JSON.stringify(body) }));
  }

  /** Why a message cannot be taken, or null. */
  private messageFault(envelope: Envelope, format: number): Exclude<TurnResult, { result: "done" }> | null {
    const { kind, type, body } = envelope;
    const known = this.kinds.get(kind);
    if (known === undefined) return { result: "unknown", need: ["kind", kind] };
    // The sender knows a later version, or the former owner did.
    const version = Math.max(envelope.version ?? firstVersion, format);
    if (!Object.hasOwn(known.messages, type)) return { result: "unknown", need: ["message", kind, type, version] };
    const fault = faultIn((known.messages[type] as MessageDefinition).body, body);
    if (fault === null) return null;
    if (version > versionOf(known)) return { result: "unknown", need: ["message", kind, type, version] };
    return { result: "failed", error: fault, attempts: 1 };
  }

  /** Where none can be had any id will do: what the two tell each other then takes two commits. */
  private newIdBeside(actor: Envelope, kind: string): string {
    const partition = partitionOf(actor.kind, actor.key, this.partitions);
    const id = this.clock.newId();
    return idWhere(kind, id, this.partitions, (one) => one === partition) ?? id;
  }

  /** @throws Error for a fact that this node cannot write: nothing is done that cannot be put on record */
  private checkFacts(effects: readonly Effect[]): void {
    for (const effect of effects) {
      if (effect.effect === "fact" && !this.factWriters.has(effect.name))
        throw new Error(`no writer of ${effect.name}`);
    }
  }

  run(actor: CachedActor, envelope: Envelope): TurnResult {
    if (actor.state !== null && actor.tenant !== envelope.tenant) return { result: "foreign" };
    const fault = this.messageFault(envelope, actor.format);
    if (fault !== null) return fault;
    const known = this.kinds.get(envelope.kind) as AnyActorDefinition;
    const { receive } = known;
    const handler = (receive as { readonly [type: string]: Handler })[envelope.type] as Handler;
    for (let attempt = 1; ; attempt++) {
      try {
        let made = nothingMade;
        const context = {
          now: this.clock.now(),
          kind: envelope.kind,
          key: envelope.key,
          tenant: envelope.tenant,
          messageId: messageId(envelope),
          replyTo: envelope.replyTo as ReplyTo | null,
          newId: this.clock.newId,
          newIdBeside: ({ kind }: Pick<Protocol, "kind">) => {
            const id = this.newIdBeside(envelope, kind);
            if (made === nothingMade) made = new Set();
            made.add(`${kind}/${id}`);
            return id;
          },
        };
        const turn = handler(actor.state, envelope.body, context);
        this.checkFacts(turn.effects);
        actor.state = turn.state;
        actor.tenant = envelope.tenant;
        actor.format = versionOf(known);
        return { result: "done", effects: turn.effects, reply: turn.reply, made };
      } catch (error) {
        if (attempt >= handlerAttempts) {
          return {
            result: "failed",
            error: error instanceof Error ? `${error.name}: ${error.message}` : String(error),
            attempts: attempt,
          };
        }
      }
    }
  }
}

const nothingMade = new Set<string>();
