/**
 * What followers of agents' streams on this node share: who looks for new events, and when.
 *
 * Nodes tell one another which agents have news, at most every 50 ms. That is a hint: every few seconds each followed
 * agent is looked at anyway.
 */

import { executionEvents } from "../../../../actors/execution/events.ts";
import { execution } from "../../../../actors/execution/execution.ts";
import type { Json } from "../../../../actors/kernel/json.ts";
import type { LogEntry, News, Runtime } from "../../../runtime/port.ts";
import type { Sql } from "../../../store/postgres/pool.ts";
import { openRedis, openSubscriber, type RedisServers } from "../../../store/redis/connections.ts";
import { agentHistory } from "../../agents/port.ts";
import { agentNumbering, type StreamKey } from "./numbering.ts";

export interface AgentFeedsOptions {
  readonly sql: Sql;
  readonly redisServers: RedisServers;
  /** Of every key and channel. */
  readonly prefix: string;
  readonly runtime: Pick<Runtime, "of">;
  /** Whether the tenant still sees the agent. */
  readonly isVisible: (tenant: string, agentId: string) => Promise<boolean>;
  readonly report: (event: string, facts: Record<string, unknown>) => void;
  /** Followed agents are looked at this often without being told to; 5000 when absent. */
  readonly lookEveryMs?: number;
}

/** Entries are numbered by their id in the stream. */
export interface Page {
  readonly entries: readonly LogEntry[];
  /** To go on from. */
  readonly last: number;
  readonly isFull: boolean;
}

const pageSize = 100;
const tellEveryMs = 50;
/** Between two looks at one agent. */
const restMs = 100;
const sweepEveryMs = 3_600_000;

/** A followed stream; one per tenant and agent on a node. */
export interface Feed extends StreamKey {
  readonly followers: Set<() => void>;
  readonly pages: Map<number, Promise<Page>>;
  /** The tenant does not see the agent any more: nothing follows what is numbered now. */
  isOver: boolean;
  /** A look is under way; `again`: another is wanted after it. */
  looking: boolean;
  again: boolean;
}

export type AgentFeeds = ReturnType<typeof openAgentFeeds>;

export function openAgentFeeds(options: AgentFeedsOptions) {
  const { sql, runtime, report, lookEveryMs = 5000 } = options;
  const numbering = agentNumbering(sql, runtime);
  const feeds = new Map<string, Feed>();
  const channel = `${options.prefix}:agent-news`;
  const commands = openRedis(options.redisServers);
  const subscriber = openSubscriber(options.redisServers);
  const untold = new Set<string>();
  let telling: ReturnType<typeof setTimeout> | null = null;
  let closed = false;

  const nameOf = ({ tenant, agentId }: StreamKey) => `${agentId} ${tenant}`;

  /** Numbers what is new and wakes the followers; one look at a time, with a rest in between. */
  async function look(feed: Feed): Promise<void> {
    if (feed.looking) {
      feed.again = true;
      return;
    }
    feed.looking = true;
    try {
      do {
        feed.again = false;
        // Asked before the numbering: the event that tells the removal was stored with it.
        const isVisible = await options.isVisible(feed.tenant, feed.agentId);
        await numbering.number(feed);
        feed.isOver = !isVisible;
        feed.pages.clear();
        for (const wake of [...feed.followers]) wake();
        if (feed.followers.size > 0) await Bun.sleep(restMs);
      } while (feed.again && feed.followers.size > 0 && !closed);
    } catch (error) {
      // The next hint or the next regular look tries again.
      report("agent_stream_behind", { agent_id: feed.agentId, error: String(error) });
    } finally {
      feed.looking = false;
    }
  }

  function lookAtAgents(agentIds: ReadonlySet<string> | null): void {
    for (const feed of feeds.values()) {
      if (agentIds === null || agentIds.has(feed.agentId)) void look(feed);
    }
  }

  function tell(agentId: string): void {
    untold.add(agentId);
    telling ??= setTimeout(() => {
      telling = null;
      const agentIds = new Set(untold);
      untold.clear();
      lookAtAgents(agentIds);
      commands.publish(channel, JSON.stringify([...agentIds])).catch(() => {});
    }, tellEveryMs);
  }

  async function read(key: StreamKey, after: number): Promise<Page> {
    const numbered = await numbering.behind(key, after, pageSize);
    const own = numbered.filter(({ execution }) => execution === null).map(({ sequence }) => sequence);
    const points = numbered.flatMap(({ execution, sequence }) =>
      execution === null ? [] : [{ key: execution, seq: sequence }],
    );
    const [history, entries] = await Promise.all([
      own.length === 0
        ? []
        : agentHistory(sql, key.tenant, key.agentId, Math.min(...own) - 1, Math.max(...own) - Math.min(...own) + 1),
      runtime.of(execution).logEntries(executionEvents, points),
    ]);
    const found = new Map<string, { at: number; entry: Json }>([
      ...history.map((one) => [`null ${one.sequence}`, one] as const),
      ...entries.map((one) => [`${one.key} ${one.seq}`, one] as const),
    ]);
    return {
      entries: numbered.flatMap(({ id, execution, sequence }) => {
        const one = found.get(`${execution} ${sequence}`);
        return one === undefined ? [] : [{ seq: id, at: one.at, entry: one.entry }];
      }),
      last: numbered.at(-1)?.id ?? after,
      isFull: numbered.length === pageSize,
    };
  }

  subscriber.on("message", (_, text: string) => lookAtAgents(new Set(JSON.parse(text) as string[])));
  subscriber.on("ready", () => lookAtAgents(null));
  void subscriber.subscribe(channel).catch(() => {});
  const regular = setInterval(() => lookAtAgents(null), lookEveryMs);
  const sweep = () =>
    void numbering.sweep().catch((error: unknown) => report("sweep_failed", { error: String(error) }));
  const sweeping = setInterval(sweep, sweepEveryMs);
  sweep();

  return {
    /** For the runtime: what this node committed. */
    announced(news: readonly News[]): void {
      for (const { kind, entries } of news) {
        const [first] = entries;
        if (kind !== execution.kind || first === undefined) continue;
        // Every event is an object of one key, whose body names the agent.
        const [body] = Object.values(first.entry as Record<string, { readonly agent_id?: unknown }>);
        if (typeof body?.agent_id === "string") tell(body.agent_id);
      }
    },

    /** For the agents: something happened to one. */
    async watch({ agentId }: { readonly agentId: string }): Promise<void> {
      tell(agentId);
    },

    /** Brings the ids of a stream up to date. @returns the highest */
    async settle(key: StreamKey): Promise<number> {
      await numbering.begin(key);
      await numbering.number(key);
      return numbering.last(key);
    },

    /**
     * @param wake called whenever there may be more to read
     * @returns the feed, and a function that ends following it
     */
    follow(key: StreamKey, wake: () => void): { feed: Feed; leave: () => void } {
      const name = nameOf(key);
      const feed: Feed = feeds.get(name) ?? {
        ...key,
        followers: new Set(),
        pages: new Map(),
        isOver: false,
        looking: false,
        again: false,
      };
      feeds.set(name, feed);
      feed.followers.add(wake);
      void look(feed);
      return {
        feed,
        leave: () => {
          feed.followers.delete(wake);
          if (feed.followers.size === 0 && feeds.get(name) === feed) feeds.delete(name);
        },
      };
    },

    /** The numbered events behind an id. */
    read: (key: StreamKey, after: number): Promise<Page> => read(key, after),

    /** The same for followers: those who stand at the same id share a reading, until the next look. */
    readShared(feed: Feed, after: number): Promise<Page> {
      const known = feed.pages.get(after);
      if (known !== undefined) return known;
      const page = read(feed, after);
      feed.pages.set(after, page);
      page.catch(() => feed.pages.delete(after));
      return page;
    },

    close(): void {
      closed = true;
      clearInterval(regular);
      clearInterval(sweeping);
      if (telling !== null) clearTimeout(telling);
      subscriber.disconnect();
      commands.disconnect();
    },
  };
}
