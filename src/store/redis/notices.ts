/**
 * Notices between nodes: what another one changed in PostgreSQL is read anew at once. A notice is a hint. One that is
 * lost, because Redis or a connection was away, is made up for by the bound in time that every cache has of its own.
 */
import { openRedis, openSubscriber, type RedisServers } from "./connections.ts";

/**
 * What a notice may be about: a tenant's slug, a membership's tenant, an API key's id, a tenant of rate limits, a tenant
 * of security contexts, that of a tool server ("": of all tenants), an edge host's id, a fleet run that has news, a tenant
 * whose records changed.
 */
const topics = [
  "tenant",
  "member",
  "key",
  "rates",
  "context",
  "tool_server",
  "edge_host",
  "edge_run",
  "changes",
] as const;
export type NoticeTopic = (typeof topics)[number];

export interface Notices {
  /** Says that something was changed; call it after the commit. Heard on this node at once. Never throws. */
  tell(topic: NoticeTopic, key: string): void;
  /**
   * @param heard what was changed; null: some notices may have been missed, so anything may have. Must not throw
   * @returns a function that ends it
   */
  on(topic: NoticeTopic, heard: (key: string | null) => void): () => void;
}

/** @param prefix starts the name of the channel */
export function openNotices(servers: RedisServers, prefix: string): Notices & { close(): void } {
  const channel = `${prefix}:notices`;
  const commands = openRedis(servers);
  const subscriber = openSubscriber(servers);
  const listeners = new Map<NoticeTopic, Set<(key: string | null) => void>>();

  const listenersOf = (topic: NoticeTopic) => listeners.get(topic) ?? new Set();

  function missed(): void {
    for (const all of listeners.values()) for (const heard of all) heard(null);
  }

  subscriber.on("message", (_, text: string) => {
    const notice = readNotice(text);
    if (notice !== null) for (const heard of listenersOf(notice.topic)) heard(notice.key);
  });
  // What was told between the loss of the connection and the new subscription was not heard.
  subscriber.on("ready", () => void subscriber.subscribe(channel).then(missed, () => {}));

  return {
    tell(topic, key) {
      for (const heard of listenersOf(topic)) heard(key);
      commands.publish(channel, JSON.stringify([topic, key])).catch(() => {});
    },
    on(topic, heard) {
      const all = listenersOf(topic).add(heard);
      listeners.set(topic, all);
      return () => void all.delete(heard);
    },
    close() {
      subscriber.disconnect();
      commands.disconnect();
    },
  };
}

/** Null for what another version of the program says otherwise. */
function readNotice(text: string): { readonly topic: NoticeTopic; readonly key: string } | null {
  try {
    const [about, key]: unknown[] = JSON.parse(text);
    const topic = topics.find((one) => one === about);
    return topic !== undefined && typeof key === "string" ? { topic, key } : null;
  } catch {
    return null;
  }
}
