/**
 * The door between the agents of a host and the gateway: the unix socket that they are given. Behind it is one process
 * that serves everybody, so nobody may hold as many connections as that process can have: those of one instance are
 * counted, by its token, and those without a good one make room for each other. What is allowed is for the gateway
 * itself to say; here connections are only let through.
 */
import { connect, createServer, type Server, type Socket } from "node:net";
import { LRUCache } from "lru-cache";
import type { ExecutionTokens } from "../execution-tokens/port.ts";

export interface DoorOptions {
  /** Where the gateway listens. */
  readonly to: { readonly host: string; readonly port: number };
  readonly tokens: Pick<ExecutionTokens, "verify">;
  /** Connections of one instance at a time; a bootstrap needs one. */
  readonly perInstance?: number;
  /** Connections without a good token; the eldest makes room for the next. */
  readonly strangers?: number;
}

const usualPerInstance = 32;
const usualStrangers = 256;
/** How long a client may take for the head of its request, ms. */
const headMs = 10_000;
const maxHead = 16 * 1024;
/** How long a client may take to read the rest of an answer, ms. */
const lingerMs = 5_000;
/** Tokens that are remembered with their instance. */
const capacity = 4096;

/** The door, not yet listening. Its connections are closed by whoever closes the gateway behind it. */
export function createDoor({ to, tokens, ...limits }: DoorOptions): Server {
  const { perInstance = usualPerInstance, strangers: maxStrangers = usualStrangers } = limits;
  const strangers = new LRUCache<Socket, true>({
    max: maxStrangers,
    dispose: (_, socket, reason) => {
      if (reason === "evict") socket.destroy();
    },
  });
  const inside = new Map<string, number>();
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
  function takeSeat(client: Socket, instance: string): boolean {
    const taken = inside.get(instance) ?? 0;
    if (taken >= perInstance) return false;
    strangers.delete(client);
    inside.set(instance, taken + 1);
    client.once("close", () => {
      const left = (inside.get(instance) ?? 1) - 1;
      if (left > 0) inside.set(instance, left);
      else inside.delete(instance);
    });
    return true;
  }

  async function letIn(client: Socket, seen: Buffer): Promise<void> {
    const instance = await instanceOf(seen.toString("latin1"));
    if (client.destroyed) return;
    if (instance !== null && !takeSeat(client, instance)) return void client.destroy();
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

  return createServer({ allowHalfOpen: true }, (client) => {
    strangers.set(client, true);
    const late = setTimeout(() => client.destroy(), headMs);
    client.on("error", () => client.destroy());
    client.once("close", () => {
      clearTimeout(late);
      strangers.delete(client);
    });
    let seen: Buffer = Buffer.alloc(0);
    const read = (piece: Buffer | string): void => {
      seen = Buffer.concat([seen, Buffer.from(piece)]);
      if (!seen.includes("\r\n\r\n") && seen.length <= maxHead) return;
      client.off("data", read);
      client.pause();
      clearTimeout(late);
      void letIn(client, seen);
    };
    client.on("data", read);
    // Gone, or half gone, before it said what it wants.
    client.once("end", () => {
      if (client.listeners("data").includes(read)) client.destroy();
    });
  });
}
