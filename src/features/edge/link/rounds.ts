/** What links need now and then: heartbeats into rows, frames that were not sent, links whose nodes are gone. */
import { edgeHost } from "../../../../actors/edge-host/host.ts";
import { inPortions } from "../../../lib/portions.ts";
import { repeatedly } from "../../../lib/timers.ts";
import type { Runtime } from "../../../runtime/port.ts";
import type { Link } from "./link.ts";
import type { Links } from "./links.ts";
import type { Heard, LinkRow, PresenceRecords } from "./presence.ts";
import type { Sender } from "./sending/sender.ts";
import type { Wakeups } from "./sending/wakeups.ts";

export interface RoundsOptions {
  readonly runtime: Pick<Runtime, "of" | "liveNodes" | "nodeId">;
  readonly records: PresenceRecords;
  readonly links: Links;
  readonly sender: Pick<Sender, "wakeLate">;
  readonly wakeups: Pick<Wakeups, "forget">;
  readonly staleMs: number;
  /** Unix ms. */
  readonly now: () => number;
  /** Steady, ms. */
  readonly steady: () => number;
  /** Hosts whose frames were late. */
  repeated(count: number): void;
  warn(error: unknown): void;
}

const everyMs = { heard: 10_000, late: 2_500, owners: 30_000 };
/** Hosts told at once. */
const atOnce = 64;

export function createRounds(options: RoundsOptions) {
  const { runtime, records, links, sender, wakeups, staleMs, now, steady } = options;
  const node = runtime.nodeId;
  /** Links that were heard of since the last round, and those that have ended. */
  const beaten = new Set<Link>();

  const heardOf = (link: Link): readonly Heard[] => {
    const { host, epoch, running, heartbeatAt } = link;
    if (host === null) return [];
    const seenAt = Math.floor(now() - (steady() - link.seenAt));
    return [{ id: host.id, epoch, running, heartbeatAt: heartbeatAt === 0 ? null : heartbeatAt, seenAt }];
  };

  /** Looks whose the links of these hosts are. */
  async function recheck(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    for (const { id, epoch, owner_node, revoked_at } of await records.rows(ids))
      links.stands(id, { epoch, owner: owner_node, revokedAt: revoked_at?.getTime() ?? null });
  }

  async function writeHeard(): Promise<void> {
    const all = [...beaten];
    beaten.clear();
    if (all.length === 0) return;
    try {
      const found = await records.heard(node, all.flatMap(heardOf));
      await recheck(
        all.flatMap(({ host, isOpen }) => (host !== null && isOpen && !found.has(host.id) ? [host.id] : [])),
      );
    } catch (error) {
      for (const link of all) if (link.isOpen) beaten.add(link);
      throw error;
    }
  }

  const host = ({ tenant, id }: Pick<LinkRow, "tenant" | "id">) => runtime.of(edgeHost).at(tenant, id);

  async function leaveDead(isStopping: () => boolean): Promise<void> {
    const live = await runtime.liveNodes();
    // One that does not find itself is about to leave, or was silent for long: others look after the hosts.
    if (!live.includes(node)) return;
    const gone = new Set<string>();
    let living: ReadonlySet<string> = new Set(live);
    await inPortions<LinkRow>(
      {
        async find(after, limit) {
          const rows = await records.left(live, after, limit);
          // A node that the list lacks may be younger than it, but not than its link.
          if (rows.length > 0) living = new Set(await runtime.liveNodes());
          return rows;
        },
        isMine: ({ id, owner_node }) => {
          if (owner_node === null || living.has(owner_node)) return false;
          gone.add(owner_node);
          return runtime.of(edgeHost).isHere(id);
        },
        work: (row) => host(row).tell("link_closed", { epoch: row.epoch, longer: true }),
        atOnce,
      },
      isStopping,
    );
    await wakeups.forget([...gone]);
    for (const row of await records.silent(node, 2 * staleMs))
      if (links.linkOf(row.id)?.epoch !== row.epoch)
        await host(row).tell("link_closed", { epoch: row.epoch, longer: true });
  }

  async function tellActors(): Promise<void> {
    for (const row of await records.toRevoke()) await host(row).ask("revoke", {}, { repeatable: true });
    for (const row of await records.toHold())
      await host(row).ask("accept", { accepting: !row.held }, { repeatable: true });
  }

  return {
    beat: (link: Link): void => void beaten.add(link),
    recheck,
    /** Ends the links of nodes that do not live. @param isStopping asked between portions */
    leaveDead,
    begin(): () => Promise<void> {
      let isStopping = false;
      const failed = (error: unknown) => options.warn(error);
      const rounds = [
        repeatedly(everyMs.heard, writeHeard, failed),
        repeatedly(
          everyMs.late,
          async () => {
            const count = await sender.wakeLate();
            if (count > 0) options.repeated(count);
          },
          failed,
        ),
        repeatedly(everyMs.owners, () => leaveDead(() => isStopping), failed),
        repeatedly(everyMs.owners, tellActors, failed),
      ];
      return async () => {
        isStopping = true;
        await Promise.all(rounds.map((stop) => stop()));
      };
    },
  };
}
