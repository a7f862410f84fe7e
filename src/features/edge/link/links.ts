/** The links of this node: which sockets there are, how many may be, and how they end. */
import { closes } from "../../../../actors/edge/frames.ts";
import { Problem } from "../../../../actors/kernel/problem.ts";
import { iso } from "../../../../actors/kernel/time.ts";
import { Link, type LinkHooks } from "./link.ts";
import { createWheel } from "./wheel.ts";

export interface LinksOptions {
  /** Of this service node. */
  readonly node: string;
  readonly staleMs: number;
  readonly heartbeatMs: number;
  /** How long a daemon may take for its hello, and this node for the answer to it, ms. */
  readonly helloWithinMs: number;
  readonly answerWithinMs: number;
  /** For how long one that waited for the answer in vain is sent away, ms. */
  readonly retryAfterMs: () => number;
  /** Steady, ms. */
  readonly steady: () => number;
  /** Unix ms, the database's. @throws where it is not known */
  readonly now: () => number;
  readonly hooks: Omit<LinkHooks, "ended" | "steady">;
  /** A link is silent for longer than a healthy one, or is heard again. */
  health(link: Link): void;
  /** A link has ended that was a host's. @param longer what waits for the host waits a minute longer */
  closed(link: Link, longer: boolean): void;
}

export type Links = ReturnType<typeof createLinks>;

/** Sockets that are not welcomed yet: before their hello, and while it is looked at. */
const most = { fresh: 1_000, freshOfAddress: 20 };
/** A link that has missed one and a half heartbeats is not healthy. */
const unhealthyHeartbeats = 1.5;
/** Over how long links are closed when this node leaves, ms. */
const spreadMs = 4_000;
const spreadStepMs = 50;

export function createLinks(options: LinksOptions) {
  const { node, steady, staleMs, now } = options;
  const fresh = new Set<Link>();
  const freshOf = new Map<string, number>();
  const byHost = new Map<string, Link>();
  let count = 0;
  let isLeaving = false;

  const unhealthyMs = unhealthyHeartbeats * options.heartbeatMs;
  const wheel = createWheel<Link>((link) => {
    if (link.phase === "ended") return null;
    const silentMs = steady() - link.seenAt;
    if (!link.isOpen) {
      const left = options.helloWithinMs + options.answerWithinMs - (steady() - link.openedAt);
      if (link.phase === "fresh") link.close(closes.helloLate, "no hello");
      // One whose hello has come waits for this node, which may wait for its stores.
      else if (left > 0) return left;
      else link.overloaded(options.retryAfterMs());
      return null;
    }
    if (silentMs >= staleMs) {
      link.close(closes.silent, "silent");
      return null;
    }
    const isHealthy = silentMs < unhealthyMs;
    if (isHealthy !== link.isHealthy) setHealth(link, isHealthy);
    return Math.min(isHealthy ? unhealthyMs - silentMs : Number.POSITIVE_INFINITY, staleMs - silentMs);
  });

  function setHealth(link: Link, isHealthy: boolean): void {
    link.isHealthy = isHealthy;
    options.health(link);
  }

  function leaveFresh(link: Link): void {
    if (!fresh.delete(link) || link.address === null) return;
    const left = (freshOf.get(link.address) ?? 1) - 1;
    if (left > 0) freshOf.set(link.address, left);
    else freshOf.delete(link.address);
  }

  const hooks: LinkHooks = {
    ...options.hooks,
    steady,
    frame(link, t, b, s) {
      // The one that finds it healthy again need not wait for the wheel.
      if (!link.isHealthy && t === "heartbeat") setHealth(link, true);
      options.hooks.frame(link, t, b, s);
    },
    ended(link) {
      wheel.delete(link);
      leaveFresh(link);
      const { host } = link;
      if (host === null || link.epoch === 0) return;
      if (byHost.get(host.id) === link) byHost.delete(host.id);
      options.closed(link, link.isToBlame || isLeaving);
    },
  };

  return {
    freshCount: () => fresh.size,
    linkOf: (hostId: string) => byHost.get(hostId),
    all: (): Iterable<Link> => byHost.values(),

    /** @throws Problem 429 `rate_limited`, 503 `service_unavailable` where there is no room for one more */
    requireRoom(address: string | null): void {
      if (isLeaving || fresh.size >= most.fresh)
        throw new Problem("service_unavailable", "This node takes no more links now", {}, { "Retry-After": "5" });
      if (address !== null && (freshOf.get(address) ?? 0) >= most.freshOfAddress)
        throw new Problem(
          "rate_limited",
          "Too many links of this address wait for their welcome",
          {},
          { "Retry-After": "10" },
        );
    },

    /** A link whose socket is about to open. @throws Problem 503 where the time is not known */
    create(address: string | null): Link {
      const server_nonce = crypto.getRandomValues(new Uint8Array(32)).toBase64();
      const challenge = JSON.stringify({ server_nonce, server_time: iso(now()) });
      count += 1;
      const link = new Link(hooks, `${node}:${count}`, server_nonce, address, challenge);
      fresh.add(link);
      if (address !== null) freshOf.set(address, (freshOf.get(address) ?? 0) + 1);
      wheel.set(link, options.helloWithinMs);
      return link;
    },
    /** One whose socket did not come about. */
    discard: (link: Link): void => link.closed(),

    /** The link is the host's from now on. @returns false: a link of a later epoch is, and this one has ended */
    take(link: Link, hostId: string): boolean {
      leaveFresh(link);
      const other = byHost.get(hostId);
      if (other !== undefined && other.epoch > link.epoch) {
        link.close(closes.superseded, "superseded");
        return false;
      }
      if (other !== link) other?.close(closes.superseded, "superseded");
      byHost.set(hostId, link);
      wheel.set(link, unhealthyMs);
      return true;
    },

    /** What is committed of a host: an older link of it ends here. */
    stands(hostId: string, { epoch, owner, revokedAt }: Standing): void {
      const link = byHost.get(hostId);
      if (link === undefined) return;
      if (revokedAt !== null) {
        if (link.isOpen) link.send("revoked", { node_id: hostId, revoked_at: iso(revokedAt) });
        link.close(closes.revoked, "revoked");
      } else if (epoch > link.epoch || (epoch === link.epoch && owner !== node))
        link.close(closes.superseded, "superseded");
    },

    /** Ends all links within some seconds, a few at a time. */
    async leave(): Promise<void> {
      if (isLeaving) return;
      isLeaving = true;
      const all = [...fresh, ...byHost.values()];
      const steps = spreadMs / spreadStepMs;
      const portion = Math.max(50, Math.ceil(all.length / steps));
      for (let from = 0; from < all.length; from += portion) {
        for (const link of all.slice(from, from + portion)) link.close(closes.restarting, "the node leaves");
        if (from + portion < all.length) await Bun.sleep(spreadStepMs);
      }
    },
    stop(): void {
      wheel.stop();
      for (const link of [...fresh, ...byHost.values()]) link.close(closes.restarting, "the node leaves");
    },
  };
}

/** A host as its row, or its actor, has it. */
export interface Standing {
  readonly epoch: number;
  readonly owner: string | null;
  /** Unix ms. */
  readonly revokedAt: number | null;
}
