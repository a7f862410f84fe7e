/**
 * Runs one message through its actor, in memory. What comes out is data for the journal; nothing
 * here touches a store, and a failed turn leaves its actor as it was.
 */
import type { TSchema } from "@sinclair/typebox";
import { type TypeCheck, TypeCompiler } from "@sinclair/typebox/compiler";
import type { Effect } from "../../../actors/kernel/effect.ts";
import type { Json } from "../../../actors/kernel/json.ts";
import type { ReplyTo } from "../../../actors/kernel/message.ts";
import type { Turn } from "../../../actors/kernel/turn.ts";
import { type Envelope, messageId } from "../mailbox/envelope.ts";
import { idInPartition, partitionOf } from "../mailbox/partition.ts";
import type { AnyActorDefinition } from "../port.ts";

/** An actor as this node holds it. A `state` of null means that it does not exist (any more). */
export interface Resident {
  readonly kind: string;
  readonly key: string;
  readonly partition: number;
  tenant: string;
  /** Counts the commits that changed the actor. */
  version: number;
  /** Last sequence number of each log. */
  logs: Record<string, number>;
  state: Json;
  usedAt: number;
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
  | { readonly result: "failed"; readonly error: string; readonly attempts: number };

type Handler = (state: Json, body: Json, context: object) => Turn<Json>;

interface Kind {
  readonly state: TypeCheck<TSchema>;
  readonly complete: ((stored: Json) => Json) | undefined;
  readonly listed: ReadonlySet<string> | undefined;
  readonly messages: ReadonlyMap<string, TypeCheck<TSchema>>;
  readonly receive: ReadonlyMap<string, Handler>;
}

/** How often a handler that throws is tried before its message becomes a dead letter. */
const handlerAttempts = 3;

export class Turns {
  private readonly kinds: ReadonlyMap<string, Kind>;

  constructor(
    actors: readonly AnyActorDefinition[],
    private readonly clock: { now(): number; newId(): string },
    private readonly partitions: number,
  ) {
    this.kinds = new Map(
      actors.map((definition) => [
        definition.kind,
        {
          state: TypeCompiler.Compile(definition.state as TSchema),
          complete: definition.complete,
          listed: definition.listed === undefined ? undefined : new Set(definition.listed),
          messages: new Map(
            Object.entries(definition.messages).map(([type, schema]) => [
              type,
              TypeCompiler.Compile(schema as TSchema),
            ]),
          ),
          receive: new Map(Object.entries(definition.receive) as [string, Handler][]),
        },
      ]),
    );
  }

  /**
   * Brings a state that came from the store, whichever version wrote it, into today's shape.
   * @returns what is wrong with it, or null
   */
  takeIn(resident: Resident): string | null {
    const known = this.kinds.get(resident.kind);
    if (known === undefined) return `no actor kind ${resident.kind}`;
    const state = known.complete === undefined ? resident.state : known.complete(resident.state);
    if (!known.state.Check(state)) return firstFault(known.state, state);
    resident.state = state;
    return null;
  }

  /** The members of a kind's states that are stored apart, for lists. */
  readonly listedOf = (kind: string): ReadonlySet<string> | undefined => this.kinds.get(kind)?.listed;

  /** What is wrong with a message for this kind, or null. */
  messageFault(kind: string, type: string, body: Json): string | null {
    const known = this.kinds.get(kind);
    if (known === undefined) return `no actor kind ${kind}`;
    const schema = known.messages.get(type);
    if (schema === undefined) return `${kind} takes no message ${type}`;
    return schema.Check(body) ? null : firstFault(schema, body);
  }

  /** Where none can be had any id will do: what the two tell each other then takes two commits. */
  private newIdBeside(actor: Envelope, kind: string): string {
    const partition = partitionOf(actor.kind, actor.key, this.partitions);
    const id = this.clock.newId();
    return idInPartition(kind, id, partition, this.partitions) ?? id;
  }

  run(resident: Resident, envelope: Envelope): TurnResult {
    if (resident.state !== null && resident.tenant !== envelope.tenant) return { result: "foreign" };
    const fault = this.messageFault(envelope.kind, envelope.type, envelope.body);
    if (fault !== null) return { result: "failed", error: fault, attempts: 1 };
    const handler = this.kinds.get(envelope.kind)?.receive.get(envelope.type) as Handler;
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
          newIdBeside: (kind: string) => {
            const id = this.newIdBeside(envelope, kind);
            if (made === nothingMade) made = new Set();
            made.add(`${kind}/${id}`);
            return id;
          },
        };
        const turn = handler(resident.state, envelope.body, context);
        resident.state = turn.state;
        resident.tenant = envelope.tenant;
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

function firstFault(check: TypeCheck<TSchema>, value: unknown): string {
  const first = check.Errors(value).First();
  return first === undefined ? "does not fit its schema" : `${first.path || "/"}: ${first.message}`;
}
