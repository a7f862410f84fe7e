/** The typed way to actors: what may be said to one and what it answers follow from its definition. */
import type { AnyActorDefinition } from "../../actors/kernel/actor.ts";
import type { LogDefinition } from "../../actors/kernel/effect.ts";
import type { Json } from "../../actors/kernel/json.ts";
import type { Messages, Protocol } from "../../actors/kernel/message.ts";
import { readable } from "./definition.ts";
import type { Actors, Address, AskOptions, Correspondence, LogEntry, LogPoint, TailListener } from "./port.ts";
import type { Reading } from "./reads/reading.ts";

/** What handles are made of: actors by address, messages by name. Nothing here is checked by the compiler. */
export interface HandleLinks extends Reading {
  ask(to: Address, type: string, body: Json, options?: AskOptions): Promise<Json>;
  tell(to: Address, type: string, body: Json): Promise<void>;
  tellCommitted(to: Address, type: string, body: Json): Promise<void>;
  tail(at: Address, after: number, listener: TailListener): () => void;
  /** See `Actors`. */
  newId(kind: string): string;
  /** Whether this node owns the actor's partition. */
  isHere(kind: string, key: string): boolean;
}

const noOptions: AskOptions = {};

class Handle {
  constructor(
    private readonly links: HandleLinks,
    private readonly definition: AnyActorDefinition,
    readonly address: Address,
  ) {}

  ask(type: string, body: Json, options = noOptions): Promise<Json> {
    return this.links.ask(this.address, type, body, options);
  }
  tell(type: string, body: Json): Promise<void> {
    return this.links.tell(this.address, type, body);
  }
  tellCommitted(type: string, body: Json): Promise<void> {
    return this.links.tellCommitted(this.address, type, body);
  }
  async read(): Promise<Json> {
    const stored = await this.links.read(this.address);
    return stored === null ? null : readable(this.definition, stored);
  }
  log({ name }: LogDefinition, after: number, limit: number): Promise<readonly LogEntry[]> {
    return this.links.log(this.address, name, after, limit);
  }
  logPages({ name }: LogDefinition, after: number, rows: number): AsyncGenerator<readonly LogEntry[]> {
    return this.links.logPages(this.address, name, after, rows);
  }
  logLength({ name }: LogDefinition): Promise<number> {
    return this.links.logLength(this.address, name);
  }
  tail(after: number, listener: TailListener): () => void {
    return this.links.tail(this.address, after, listener);
  }
}

/**
 * The actors of a definition. Bodies, replies and log entries are what the schemas say because the compiler held both
 * ends to them; a state is checked when it is read, since an earlier version may have written it.
 */
export function actorsOf<D extends AnyActorDefinition>(links: HandleLinks, definition: D): Actors<D> {
  const { kind, version } = definition;
  const versioned = version === undefined ? {} : { version };
  const actors = {
    newId: () => links.newId(kind),
    isHere: (key: string) => links.isHere(kind, key),
    at: (tenant: string, key: string) => new Handle(links, definition, { kind, key, tenant, ...versioned }),
    async readMany(tenant: string, keys: readonly string[]) {
      const stored = await links.readMany(kind, tenant, keys);
      return new Map(stored.map((one) => [one.key, readable(definition, one)]));
    },
    async readListed(tenant: string, keys: readonly string[]) {
      const stored = await links.readListed(definition, tenant, keys);
      return new Map(stored.map((one) => [one.key, one.state]));
    },
    logPoints: ({ name }: LogDefinition, behind: readonly LogPoint[], limit: number) =>
      links.logPoints(kind, name, behind, limit),
    eraseLogs: (keys: readonly string[], except: readonly LogDefinition[]) =>
      links.eraseLogs(
        kind,
        keys,
        except.map(({ name }) => name),
      ),
    logEntries: ({ name }: LogDefinition, points: readonly LogPoint[]) => links.logEntries(kind, name, points),
  };
  // The one place where the types of a definition meet the JSON that travels and is stored.
  return actors as unknown as Actors<D>;
}

/** Messages alone, for one who holds an address of this protocol. */
export function correspondence<M extends Messages>(
  links: Pick<HandleLinks, "ask" | "tell">,
  protocol: Protocol<M>,
  address: Address,
): Correspondence<M> {
  if (address.kind !== protocol.kind) throw new Error(`${address.kind} ${address.key} is no ${protocol.kind}`);
  const { ask, tell } = links;
  const between = {
    address,
    ask: (type: string, body: Json, options = noOptions) => ask(address, type, body, options),
    tell: (type: string, body: Json) => tell(address, type, body),
  };
  // As in `actorsOf`.
  return between as unknown as Correspondence<M>;
}
