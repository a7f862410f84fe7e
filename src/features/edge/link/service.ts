/** The parts of links on this node, put together. */
import { frameLimits } from "../../../../actors/edge/frames.ts";
import { edgeHost } from "../../../../actors/edge-host/host.ts";
import type { HostState } from "../../../../actors/edge-host/state.ts";
import type { Incoming } from "../../../http/route.ts";
import { type ActorChange, defineProjection } from "../../../runtime/port.ts";
import type { NodeContext, ServiceOf } from "../../feature.ts";
import type { Incidents } from "../../incidents/port.ts";
import type { edgeCommands } from "../commands/feature.ts";
import type { edgeHosts } from "../hosts/feature.ts";
import type { edgeKeys } from "../keys/feature.ts";
import type { RunProgress } from "../run-stream/port.ts";
import { admission } from "./handshake/admission.ts";
import { createGreeting, randomRetry } from "./handshake/greeting.ts";
import { heldKeys } from "./handshake/service-keys.ts";
import { linkIncidents } from "./incidents.ts";
import { createTelling } from "./incoming/telling.ts";
import { createUplink } from "./incoming/uplink.ts";
import { createLinks } from "./links.ts";
import { createMetrics, observe } from "./metrics.ts";
import { presenceRecords } from "./presence.ts";
import { createRounds } from "./rounds.ts";
import { linkRoutes } from "./routes.ts";
import { createSender } from "./sending/sender.ts";
import { openWakeups } from "./sending/wakeups.ts";

type Node = Pick<
  NodeContext,
  "sql" | "redisServers" | "prefix" | "databaseNow" | "now" | "runtime" | "notices" | "info" | "warn"
> & {
  readonly settings: {
    readonly heartbeatSeconds: number;
    readonly staleSeconds: number;
    readonly minVersion: string | null;
    readonly hellosPerSecond: number;
  };
};

interface Needs {
  readonly edgeCommands: ServiceOf<typeof edgeCommands>;
  readonly edgeHosts: ServiceOf<typeof edgeHosts>;
  readonly edgeKeys: ServiceOf<typeof edgeKeys>;
  readonly edgeRunStream: RunProgress;
  readonly incidents: Incidents;
}

/** How long a list of live nodes is good enough, ms. */
const liveForMs = 1_000;
const helloDeadlineMs = 20_000;
const reportDeadlineMs = 20_000;
/** Hosts of a purged tenant looked at by one round. */
const erasedAtOnce = 1_000;

export function openLink(node: Node, { edgeCommands, edgeHosts, edgeKeys, edgeRunStream: progress, incidents }: Needs) {
  const { sql, runtime, notices, settings, info, warn } = node;
  const steady = () => performance.now();
  const heartbeatMs = settings.heartbeatSeconds * 1000;
  const staleMs = settings.staleSeconds * 1000;
  const failed = (error: unknown) => warn("edge_link", { error: String(error) });
  const actor = ({ tenant, id }: { readonly tenant: string; readonly id: string }) =>
    runtime.of(edgeHost).at(tenant, id);
  const told = linkIncidents(incidents);
  const metrics = createMetrics({ sql, beforeHello: () => links.freshCount(), incidents: incidents.counts });

  const changed = createTelling({
    ...{ steady, failed },
    async tell({ host, epoch, isHealthy: healthy, accepting }) {
      if (host !== null) await actor(host).tell("link_changed", { epoch, healthy, accepting });
    },
  });

  const door = admission(settings.hellosPerSecond, steady);
  const links = createLinks({
    ...{ node: runtime.nodeId, staleMs, heartbeatMs, steady, now: node.databaseNow },
    ...{ helloWithinMs: frameLimits.helloWithinMs, answerWithinMs: helloDeadlineMs, retryAfterMs: randomRetry },
    hooks: {
      metrics,
      turnedAway() {
        if (door.admits()) return null;
        metrics.handshakes.inc({ result: "overloaded" });
        return door.retryAfterMs();
      },
      greet: (link, text) => greet(link, text),
      frame: (link, t, b, s) => uplink.frame(link, t, b, s),
      refused: (link, why) => told.frameRefused(link.host, why),
    },
    health: changed,
    closed(link, longer) {
      uplink.closed(link);
      rounds.beat(link);
      if (link.host === null) return;
      actor(link.host).tell("link_closed", { epoch: link.epoch, longer }).catch(failed);
    },
  });
  const uplink = createUplink({
    ...{ metrics, now: node.now, progress },
    report: (link, reports) => {
      if (link.host === null) throw new Error("the link is no host's");
      const options = { repeatable: true, deadlineMs: reportDeadlineMs } as const;
      return actor(link.host).ask("reports", { epoch: link.epoch, reports: [...reports] }, options);
    },
    changed,
    beat: (link) => rounds.beat(link),
    policyRefused: (link, commandId, kind) => told.policyRefused(link.host, commandId, kind),
    rejected: (link) => told.frameRefused(link.host, "it cannot be stored"),
  });
  const sender = createSender({
    ...{ sql, node: runtime.nodeId, commands: edgeCommands, progress, warn: failed },
    linkOf: links.linkOf,
    sent: uplink.sent,
  });
  const wakeups = openWakeups({
    ...{ redisServers: node.redisServers, prefix: node.prefix, node: runtime.nodeId },
    wake: sender.wake,
  });
  const rounds = createRounds({
    ...{ runtime, links, sender, wakeups, staleMs, now: node.now, steady, warn: failed },
    records: presenceRecords(sql),
    repeated: (count) => metrics.wakeups.inc(count),
  });
  let live: { readonly at: number; readonly nodes: Promise<readonly string[]> } | null = null;
  const greet = createGreeting({
    ...{ node: runtime.nodeId, now: node.databaseNow, heartbeatMs, staleMs, minVersion: settings.minVersion },
    keys: heldKeys(edgeKeys, steady),
    hostOf: edgeHosts.byKey,
    promote: edgeHosts.promote,
    liveNodes(isFresh) {
      if (isFresh || live === null || steady() - live.at > liveForMs) {
        live = { at: steady(), nodes: runtime.liveNodes() };
        const { nodes } = live;
        nodes.catch(() => {
          if (live?.nodes === nodes) live = null;
        });
      }
      return live.nodes;
    },
    ask: (host, hello) => actor(host).ask("hello", hello, { repeatable: true, deadlineMs: helloDeadlineMs }),
    formerKey: told.formerKey,
    taken(link, host, hello, reply) {
      if (reply.journal_replaced) told.journalReplaced(host);
      if (reply.cloned) told.cloned(host);
      link.host = host;
      link.epoch = reply.epoch;
      link.accepting = reply.accepting;
      if (link.phase !== "greeting") {
        actor(host).tell("link_closed", { epoch: reply.epoch, longer: link.isToBlame }).catch(failed);
        return;
      }
      if (!links.take(link, host.id)) return;
      const runs = new Map(
        reply.in_flight.map(({ command_id, run_id, max_output_bytes }) => [
          command_id,
          { runId: run_id, maxBytes: max_output_bytes },
        ]),
      );
      const owed = reply.outdated ? hello.commands.map(({ command_id }) => command_id) : null;
      uplink.opened(link, runs, owed);
    },
    welcomed(link, reply) {
      uplink.welcomed(link, reply.in_flight.length);
      if (link.host !== null) sender.wake([link.host.id]);
    },
    counted: (result) => metrics.handshakes.inc({ result }),
  });

  /** What a commit of this node made of hosts: their links, wherever they are, hear of it. */
  function committed(changes: readonly ActorChange<HostState>[]): void {
    for (const { key, tenant, before, after } of changes) {
      if (after === null) continue;
      observe(metrics, before, after);
      news(info, tenant, key, before, after);
      for (const step of stepsOf(key, before, after)) progress.step(tenant, step.run_id, step);
      links.stands(key, { epoch: after.epoch, owner: after.link?.node ?? null, revokedAt: after.revoked_at });
      const former = before?.link?.node ?? runtime.nodeId;
      if (former !== runtime.nodeId && before?.epoch !== after.epoch) notices.tell("edge_host", key);
    }
    wakeups.committed(changes);
  }

  let isWatched = false;
  function watch({ stopping }: Incoming): void {
    if (isWatched) return;
    isWatched = true;
    stopping.addEventListener("abort", () => void links.leave(), { once: true });
  }

  return {
    metrics,
    routes: linkRoutes(links, watch),
    projection: defineProjection(edgeHost, () => [], committed),
    work() {
      wakeups.work();
      const heard = notices.on("edge_host", (id) => {
        if (id !== null && links.linkOf(id) !== undefined) rounds.recheck([id]).catch(failed);
      });
      return async () => {
        heard();
        await sender.stop();
        await wakeups.close();
      };
    },
    rounds: () => rounds.begin(),
    /** @returns whether the tenant has no actor of a host any more */
    async erase(tenant: string): Promise<boolean> {
      const records = presenceRecords(sql);
      let isEmpty = true;
      for (let after: string | null = null; ; ) {
        const ids: readonly string[] = (await records.ofTenant(tenant, after, erasedAtOnce)).map(({ id }) => id);
        const known = await runtime.of(edgeHost).readMany(tenant, ids);
        if (known.size > 0) isEmpty = false;
        await Promise.all([...known.keys()].map((id) => actor({ tenant, id }).tellCommitted("erase", {})));
        after = ids.at(-1) ?? null;
        if (after === null || ids.length < erasedAtOnce) return isEmpty;
      }
    },
    async close() {
      links.stop();
      await wakeups.close();
    },
  };
}

const announced = { connected: "edge_host_connected", disconnected: "edge_host_disconnected" } as const;

/** What operators read of a host's link. */
function news(
  info: Node["info"],
  tenant: string,
  id: string,
  before: HostState | null,
  { status, epoch }: HostState,
): void {
  const isNew = status === "connected" ? before?.epoch !== epoch : before?.status !== status;
  if (isNew && (status === "connected" || status === "disconnected"))
    info(announced[status], { tenant, node_id: id, epoch });
}

/** Steps of commands that those who look at their runs may see. */
function stepsOf(id: string, before: HostState | null, after: HostState) {
  const known = new Map(before?.commands.map((command) => [command.command_id, command]));
  return after.commands.flatMap(({ command_id, run_id, status, cancelled }) => {
    const former = known.get(command_id);
    const step = { node_id: id, command_id, run_id };
    const isCancelled = cancelled !== null && former?.cancelled == null;
    return [
      ...(status === "dispatched" && former?.status !== "dispatched"
        ? [{ ...step, status: "dispatched" as const }]
        : []),
      ...(status === "running" && former?.status !== "running" ? [{ ...step, status: "running" as const }] : []),
      ...(isCancelled && status !== "pending" ? [{ ...step, status: "cancelling" as const }] : []),
    ];
  });
}
