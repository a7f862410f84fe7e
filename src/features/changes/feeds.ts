/**
 * What followers of tenants on this node share: one reading of a tenant's changes, whichever node committed them. Nodes
 * tell each other of news; that is a hint, and each followed tenant is looked at every two seconds anyway.
 */
import type { ChangeType } from "../../../actors/change/change.ts";
import { Unread } from "../../../actors/change/unread.ts";
import { repeatedly } from "../../lib/timers.ts";
import type { ChangePage, ChangeStore } from "./store.ts";
import type { Watched } from "./watched.ts";

export interface FeedsOptions {
  readonly store: Pick<ChangeStore, "follow" | "read" | "lose">;
  readonly watched: Pick<Watched, "follow">;
  readonly warn: (event: string, facts: Readonly<Record<string, unknown>>) => void;
}

/** Between two readings of a tenant's changes, ms. */
const restMs = 20;
const lookEveryMs = 2000;
const renewEveryMs = 300_000;
/** Records that may wait for one follower. */
const mostUnread = 1000;

export interface Follower {
  readonly types: ReadonlySet<ChangeType>;
  readonly unread: Unread;
  /** Called when there is something unread. */
  readonly wake: () => void;
}

/** A followed tenant; one of each on a node. */
interface Feed {
  readonly tenant: string;
  readonly followers: Set<Follower>;
  /** Up to here followers were given what there is. */
  last: number;
  /** Up to here they know of what was lost. */
  lost: number;
  reading: Promise<void> | null;
  isWanted: boolean;
}

export interface Following {
  readonly unread: Unread;
  /** What comes behind this number is given to the follower. */
  readonly from: number;
  leave(): void;
}

export type Feeds = ReturnType<typeof createFeeds>;

export function createFeeds({ store, watched, warn }: FeedsOptions) {
  const feeds = new Map<string, Feed>();
  const opening = new Map<string, Promise<number>>();

  /** @returns the last number that was given before all nodes knew */
  async function begin(tenant: string): Promise<number> {
    const { last } = await store.follow(tenant);
    await watched.follow(tenant);
    return last;
  }

  function read(feed: Feed): Promise<void> {
    feed.isWanted = true;
    feed.reading ??= (async () => {
      while (feed.isWanted && feed.followers.size > 0) {
        feed.isWanted = false;
        const page = await store.read(feed.tenant, feed.last);
        if (page === null) await restart(feed);
        else give(feed, page);
        if (page?.more === true) feed.isWanted = true;
        else await Bun.sleep(restMs);
      }
    })()
      // The next hint or the next look reads again.
      .catch((error: unknown) => warn("changes_not_read", { tenant: feed.tenant, error: String(error) }))
      .finally(() => {
        feed.reading = null;
      });
    return feed.reading;
  }

  /** Redis has nothing of the tenant any more. */
  async function restart(feed: Feed): Promise<void> {
    const last = await begin(feed.tenant);
    feed.last = Math.max(feed.last, last);
    feed.lost = feed.last;
    for (const { unread, wake } of feed.followers) {
      unread.miss({ number: feed.last, gap: "lost" });
      wake();
    }
  }

  function give(feed: Feed, { floor, lost, changes, next }: ChangePage): void {
    const missing = Math.max(lost, floor > feed.last ? floor : 0);
    const isGap = missing > feed.lost;
    for (const { types, unread, wake } of feed.followers) {
      for (const change of changes) if (types.has(change.type)) unread.put(change);
      if (isGap) unread.miss({ number: Math.max(missing, feed.last), gap: "lost" });
      if (!unread.isEmpty) wake();
    }
    feed.last = Math.max(feed.last, next, isGap && changes.length === 0 ? missing : 0);
    feed.lost = Math.max(feed.lost, missing);
  }

  return {
    /**
     * Has a tenant's changes kept. Resolves once nothing that is committed from now on is missed.
     * @returns the number behind which that is
     * @throws when Redis does not answer
     */
    async ready(tenant: string): Promise<number> {
      const feed = feeds.get(tenant);
      if (feed !== undefined) return feed.last;
      const begun = opening.get(tenant) ?? begin(tenant).finally(() => opening.delete(tenant));
      opening.set(tenant, begun);
      return begun;
    },

    /** @param ready as `ready` had it */
    follow(tenant: string, types: ReadonlySet<ChangeType>, ready: number, wake: () => void): Following {
      const feed: Feed = feeds.get(tenant) ?? {
        tenant,
        followers: new Set(),
        last: ready,
        lost: ready,
        reading: null,
        isWanted: false,
      };
      feeds.set(tenant, feed);
      const follower: Follower = { types, unread: new Unread(mostUnread), wake };
      feed.followers.add(follower);
      void read(feed);
      return {
        unread: follower.unread,
        from: feed.last,
        leave() {
          feed.followers.delete(follower);
          if (feed.followers.size === 0 && feeds.get(tenant) === feed) feeds.delete(tenant);
        },
      };
    },

    /** Changes behind a number, as they are stored. */
    page: (tenant: string, after: number): Promise<ChangePage | null> => store.read(tenant, after),

    /** A tenant's changes are to be read; null: those of any may be. */
    heard(tenant: string | null): void {
      for (const feed of tenant === null ? feeds.values() : [feeds.get(tenant)])
        if (feed !== undefined) void read(feed);
    },

    /** The highest number that was given to followers here; 0: the tenant is not followed here. */
    lastOf: (tenant: string): number => feeds.get(tenant)?.last ?? 0,
    tenants: (): readonly string[] => [...feeds.keys()],
    /** Has the changes of all that are followed here kept, where Redis lost what it had. @throws when Redis does not answer */
    async renew(): Promise<void> {
      for (const tenant of [...feeds.keys()]) await begin(tenant);
    },

    followers: (): number => [...feeds.values()].reduce((sum, { followers }) => sum + followers.size, 0),

    /** Looks for what no hint told of, and keeps followed what is followed here. @returns a function that ends it */
    start(): () => Promise<void> {
      const look = async () => {
        for (const feed of feeds.values()) void read(feed);
      };
      const failed = (error: unknown) => warn("changes_not_read", { error: String(error) });
      const ends = [repeatedly(lookEveryMs, look, failed), repeatedly(renewEveryMs, this.renew, failed)];
      return async () => {
        await Promise.all(ends.map((end) => end()));
      };
    },
  };
}
