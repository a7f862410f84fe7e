/**
 * Changes of this node on their way to those who follow: gathered for a moment, of each record the newest, written to
 * Redis where the tenant is followed, and made known to all nodes.
 */
import type { RecordChange } from "../../../actors/change/change.ts";
import { Outgoing } from "../../../actors/change/outgoing.ts";
import type { ChangeStore } from "./store.ts";
import type { Watched } from "./watched.ts";

export interface AnnouncingOptions {
  readonly store: Pick<ChangeStore, "append" | "lose" | "restMs">;
  readonly watched: Pick<Watched, "has" | "look" | "all">;
  /** Tells all nodes that a tenant's changes are to be read. */
  readonly tell: (tenant: string) => void;
  /** Told how many changes were told. */
  readonly counted: (count: number) => void;
  /** Told of a tenant whose changes had no room. */
  readonly dropped: () => void;
  readonly warn: (event: string, facts: Readonly<Record<string, unknown>>) => void;
}

/** What comes within this time goes together, ms. */
const gatherMs = 10;
const retryMs = 500;
const atOnce = 200;
/** How long the last ones of a leaving node may take, ms. */
const leavingMs = 2000;
const bounds = { perTenant: 5_000, total: 20_000 } as const;

export function createAnnouncing({ store, watched, tell, counted, dropped, warn }: AnnouncingOptions) {
  const outgoing = new Outgoing(bounds);
  let timer: ReturnType<typeof setTimeout> | null = null;
  let timerAt = Number.POSITIVE_INFINITY;
  let flushing: Promise<void> | null = null;

  const steady = () => performance.now();

  function plan(at: number): void {
    if (flushing !== null || (timer !== null && timerAt <= at)) return;
    if (timer !== null) clearTimeout(timer);
    timerAt = at;
    timer = setTimeout(() => void flush(), Math.max(0, at - steady()));
  }

  function flush(isLast = false): Promise<void> {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    flushing ??= (async () => {
      let again = gatherMs;
      try {
        await flushAll(isLast);
      } catch (error) {
        // They wait, as far as there is room.
        warn("changes_not_told", { error: String(error) });
        again = retryMs;
      } finally {
        flushing = null;
        const next = outgoing.next();
        if (next !== null && !isLast) plan(Math.max(next, steady() + again));
      }
    })();
    return flushing;
  }

  async function flushAll(isLast: boolean): Promise<void> {
    const tenants = outgoing.tenants;
    if (tenants.some((tenant) => watched.has(tenant) === null)) await watched.look();
    await Promise.all(tenants.map((tenant) => flushOne(tenant, isLast)));
  }

  async function flushOne(tenant: string, isLast: boolean): Promise<void> {
    if (watched.has(tenant) !== true) {
      outgoing.forget(tenant);
      return;
    }
    let isNews = false;
    for (;;) {
      const due = outgoing.due(tenant, isLast ? Number.POSITIVE_INFINITY : steady(), atOnce);
      if (due.length === 0) break;
      const waits = await store.append(tenant, due, isLast);
      if (waits === null) {
        outgoing.forget(tenant);
        break;
      }
      const now = steady();
      due.forEach((change, index) => {
        const wait = waits[index] ?? 0;
        if (wait > 0) outgoing.early(tenant, change, now + wait);
        else outgoing.told(tenant, change, now + store.restMs);
      });
      const count = waits.filter((wait) => wait === 0).length;
      counted(count);
      isNews ||= count > 0;
    }
    if (outgoing.hasLost(tenant)) {
      await store.lose(tenant, 0);
      outgoing.lossTold(tenant);
      dropped();
      isNews = true;
    }
    if (isNews) tell(tenant);
  }

  function put(tenant: string, change: RecordChange): void {
    if (watched.has(tenant) === false) return;
    outgoing.put(tenant, change);
    plan(steady() + gatherMs);
  }

  return {
    put,

    /** Tells of a change in every tenant that is followed. @throws when Redis does not answer */
    async putForAll(change: RecordChange): Promise<void> {
      await watched.look();
      for (const tenant of watched.all()) put(tenant, change);
    },

    waiting: (): number => outgoing.size,

    /** The node leaves: what waits is told now. */
    async close(): Promise<void> {
      await flushing;
      await Promise.race([flush(true), Bun.sleep(leavingMs)]);
      if (timer !== null) clearTimeout(timer);
    },
  };
}
