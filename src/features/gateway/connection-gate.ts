/**
 * The connection gate between the agents of a host and the gateway: the unix sockets that agents are given. The process
 * behind it serves every instance, so one instance may not hold all the connections that this process can have: each
 * instance has a number of slots, counted by its token, and connections without a valid token displace each other. The
 * gate only passes connections on; the gateway itself decides what a message may do.
 */
import { connect, createServer, type Server, type Socket } from "node:net";
import { LRUCache } from "lru-cache";
import type { ExecutionTokens } from "../execution-tokens/port.ts";

export interface ConnectionGateOptions {
  /** Where the gateway listens. */
  readonly to: { readonly host: string; readonly port: number };
  readonly tokens: Pick<ExecutionTokens, "verify">;
  /** Connections of one instance at a time; a bootstrap needs one. */
  readonly perInstance?: number;
  /** Connections of one gate without a valid token; past this number the oldest is closed. */
  readonly unauthenticated?: number;
}

const defaultPerInstance = 32;
const defaultUnauthenticated = 256;
/** How long a client may take for the head of its request, ms. */
const headMs = 10_000;
const maxHead = 16 * 1024;
/** How long a client may take to read the rest of an answer, ms. */
const lingerMs = 5_000;
type Unauthenticated = LRUCache<Socket, true>;

/** Tokens that are remembered with their instance. */
const capacity = 4096;

/**
 * Makes gates, one for each socket: what one counts without a token displaces nothing at another. None listens yet. Closing
 * the gateway behind them closes their connections.
 */
export function connectionGates({ to, tokens, ...limits }: ConnectionGateOptions): () => Server {
  const { perInstance = defaultPerInstance, unauthenticated: maxUnauthenticated = defaultUnauthenticated } = limits;
  const slotsTaken = new Map<string, number>();
  const known = new LRUCache<string, string>({ max: capacity });

  /** The instance that a head speaks for; null for none. */
  async function instanceOf(head: string): Promise<string | null> {
    const token =
      /^[A-Z]+ [^\r\n]*?\/x\/([^/ ?]+)/.exec(head)?.[1] ?? /\r\nauthorization: *bearer +([^\s]+)/i.exec(head)?.[1];
    if (token === undefined) return null;
    const remembered = known.get(token);
    if (remembered !== undefined) return remembered;
    const identity = await tokens.verify(token).catch(() => null);
    if (identity === null) return null;
    known.set(token, identity.instanceId);
    return identity.instanceId;
  }

  /** Counts a connection by its instance. @returns false when there are enough of them */
  function takeSlot(client: Socket, instance: string, unauthenticated: Unauthenticated): boolean {
    const taken = slotsTaken.get(instance) ?? 0;
    if (taken >= perInstance) return false;
    unauthenticated.delete(client);
    slotsTaken.set(instance, taken + 1);
    client.once("close", () => {
      const left = (slotsTaken.get(instance) ?? 1) - 1;
      if (left > 0) slotsTaken.set(instance, left);
      else slotsTaken.delete(instance);
    });
    return true;
  }

  async function admit(client: Socket, seen: Buffer, unauthenticated: Unauthenticated): Promise<void> {
    const instance = await instanceOf(seen.toString("latin1"));
    if (client.destroyed) return;
    if (instance !== null && !takeSlot(client, instance, unauthenticated)) return void client.destroy();
    const gateway = connect({ ...to, allowHalfOpen: true, noDelay: true });
    gateway.on("error", () => client.destroy());
    client.once("close", () => gateway.destroy());
    gateway.once("close", () => {
      const rest = setTimeout(() => client.destroy(), gateway.readableEnded ? lingerMs : 0);
      client.once("close", () => clearTimeout(rest));
    });
    gateway.write(seen);
    client.pipe(gateway);
    gateway.pipe(client);
  }

  return () => {
    const unauthenticated: Unauthenticated = new LRUCache({
      max: maxUnauthenticated,
      dispose: (_, socket, reason) => {
        if (reason === "evict") socket.destroy();
      },
    });
    return createServer({ allowHalfOpen: true }, (client) => serve(client, unauthenticated));
  };

  function serve(client: Socket, unauthenticated: Unauthenticated): void {
    unauthenticated.set(client, true);
    const late = setTimeout(() => client.destroy(), headMs);
    client.on("error", () => client.destroy());
    client.once("close", () => {
      clearTimeout(late);
      unauthenticated.delete(client);
    });
    let seen: Buffer = Buffer.alloc(0);
    const read = (piece: Buffer | string): void => {
      seen = Buffer.concat([seen, Buffer.from(piece)]);
      if (!seen.includes("\r\n\r\n") && seen.length <= maxHead) return;
      client.off("data", read);
      client.pause();
      clearTimeout(late);
      void admit(client, seen, unauthenticated);
    };
    client.on("data", read);
    // Gone, or half gone, before it said what it wants.
    client.once("end", () => {
      if (client.listeners("data").includes(read)) client.destroy();
    });
  }
}
