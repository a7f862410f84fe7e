/**
 * Changes that were perhaps told to no one: those of a node that died between a commit and its telling, and those that
 * Redis has lost. Which ones cannot be known, so the followers of all tenants are told of a gap.
 */
import type { Feeds } from "./feeds.ts";
import type { ChangeStore } from "./store.ts";
import type { Watched } from "./watched.ts";

export interface LossesOptions {
  readonly store: Pick<ChangeStore, "lose">;
  readonly watched: Pick<Watched, "look" | "all" | "forget">;
  readonly feeds: Pick<Feeds, "lastOf" | "renew">;
  readonly tell: (tenant: string) => void;
  readonly warn: (event: string, facts: Readonly<Record<string, unknown>>) => void;
}

/** Partitions of a node that died are taken one after the other: one gap tells of some. */
const gatherMs = 300;
const retryMs = 1000;
const atOnce = 100;

export function createLosses({ store, watched, feeds, tell, warn }: LossesOptions) {
  let timer: ReturnType<typeof setTimeout> | null = null;
  let isRedisLost = false;
  let isOver = false;

  async function settle(): Promise<void> {
    if (isRedisLost) {
      watched.forget();
      await feeds.renew();
    }
    await watched.look();
    const tenants = watched.all();
    for (let from = 0; from < tenants.length; from += atOnce) {
      const some = tenants.slice(from, from + atOnce);
      await Promise.all(some.map((tenant) => store.lose(tenant, feeds.lastOf(tenant))));
      for (const tenant of some) tell(tenant);
    }
    isRedisLost = false;
  }

  function soon(ms: number): void {
    if (isOver) return;
    timer ??= setTimeout(() => {
      timer = null;
      settle().catch((error: unknown) => {
        warn("changes_gap_not_told", { error: String(error) });
        soon(retryMs);
      });
    }, ms);
  }

  return {
    interrupted: (): void => soon(gatherMs),
    redisLost(): void {
      isRedisLost = true;
      soon(gatherMs);
    },
    end(): void {
      isOver = true;
      if (timer !== null) clearTimeout(timer);
    },
  };
}
