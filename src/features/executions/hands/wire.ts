/**
 * Orders for commands between nodes, over Redis. Each node hears of an order; the one that has the instance takes it, by a
 * claim that only one node of a host gets, and says again and again that it is at work. An order is no promise: it is
 * lost with the node that took it, and the caller is told so.
 */
import type { DispatchCommand } from "../../../../actors/execution/loop/command.ts";
import type { ExecResult } from "../../../adapters/sandbox/port.ts";
import { openRedis, openSubscriber, type RedisServers } from "../../../store/redis/connections.ts";

export interface HandsOrder {
  readonly tenant: string;
  readonly executionId: string;
  readonly instanceId: string;
  readonly command: DispatchCommand;
  /** Unix ms by PostgreSQL's clock; no node begins with it later. */
  readonly good_until: number;
}

/** Null for what another version of the program says otherwise. */
function readMessage(text: string): Message | null {
  try {
    const message: Message | null = JSON.parse(text);
    const isKnown = ["order", "stop", "at_work", "done"].includes(message?.is ?? "") && typeof message?.id === "string";
    return isKnown ? message : null;
  } catch {
    return null;
  }
}

/** What a node does for others. */
export interface HandsServer {
  readonly holds: (order: HandsOrder) => Promise<boolean>;
  readonly run: (order: HandsOrder, signal: AbortSignal) => Promise<ExecResult | null>;
}

export interface HandsWire {
  serve(server: HandsServer): void;
  /** @returns null where no node has the instance, `lost` when the one that has it says nothing any more */
  ask(order: HandsOrder, signal: AbortSignal): Promise<ExecResult | "lost" | null>;
}

type Message =
  | { readonly is: "order"; readonly id: string; readonly from: string; readonly order: HandsOrder }
  | { readonly is: "stop"; readonly id: string }
  | { readonly is: "at_work" | "done"; readonly id: string };

/** Until the node that has the instance has taken an order, ms. */
const takenWithinMs = 5_000;
/** It says so this often, ms, and counts as gone after so much silence. */
const atWorkEveryMs = 3_000;
const silentMs = 20_000;
/** How long a claim and a result are kept, ms. */
const keptMs = 120_000;
/** Orders of one node that are under way; a further one is answered as if no node had the instance. */
const mostOrders = 1_000;

export function openHandsWire(servers: RedisServers, prefix: string, nodeId: string): HandsWire & { close(): void } {
  const commands = openRedis(servers);
  const subscriber = openSubscriber(servers);
  const all = `${prefix}:hands`;
  const own = `${all}:${nodeId}`;
  const heard = new Map<string, (is: "at_work" | "done") => void>();
  const working = new Map<string, AbortController>();
  let server: HandsServer | null = null;

  const tell = (channel: string, message: Message) =>
    commands.publish(channel, JSON.stringify(message)).catch(() => {});

  subscriber.on("message", (_, text: string) => {
    const message = readMessage(text);
    if (message === null) return;
    if (message.is === "order") void take(message).catch(() => {});
    else if (message.is === "stop") working.get(message.id)?.abort();
    else heard.get(message.id)?.(message.is);
  });
  subscriber.on("ready", () => void subscriber.subscribe(all, own).catch(() => {}));

  async function take({ id, from, order }: Extract<Message, { is: "order" }>): Promise<void> {
    if (server === null || from === nodeId || working.size >= mostOrders || !(await server.holds(order))) return;
    if ((await commands.set(`${all}:claim:${id}`, nodeId, "PX", keptMs, "NX")) === null) return;
    const stop = new AbortController();
    working.set(id, stop);
    const answer = `${all}:${from}`;
    void tell(answer, { is: "at_work", id });
    const beat = setInterval(() => void tell(answer, { is: "at_work", id }), atWorkEveryMs);
    try {
      const result = await server.run(order, stop.signal).catch(() => null);
      await commands.set(`${all}:result:${id}`, JSON.stringify(result), "PX", keptMs);
      await tell(answer, { is: "done", id });
    } finally {
      clearInterval(beat);
      working.delete(id);
    }
  }

  return {
    serve: (given) => {
      server = given;
    },
    async ask(order, signal) {
      signal.throwIfAborted();
      if (heard.size >= mostOrders) return null;
      const id = crypto.randomUUID();
      const { promise, resolve, reject } = Promise.withResolvers<"done" | "lost" | "none">();
      let timer = setTimeout(() => resolve("none"), takenWithinMs);
      heard.set(id, (is) => {
        clearTimeout(timer);
        if (is === "done") resolve("done");
        else timer = setTimeout(() => resolve("lost"), silentMs);
      });
      const left = () => {
        void tell(all, { is: "stop", id });
        reject(signal.reason);
      };
      signal.addEventListener("abort", left, { once: true });
      try {
        await tell(all, { is: "order", id, from: nodeId, order });
        const end = await promise;
        if (end !== "done") return end === "lost" ? "lost" : null;
        const text = await commands.getdel(`${all}:result:${id}`);
        return text === null ? "lost" : (JSON.parse(text) as ExecResult | null);
      } finally {
        clearTimeout(timer);
        signal.removeEventListener("abort", left);
        heard.delete(id);
      }
    },
    close() {
      for (const stop of working.values()) stop.abort();
      subscriber.disconnect();
      commands.disconnect();
    },
  };
}
