/** Thousands of simulated daemons in one process, at the orders of a bench. */
import { readFileSync } from "node:fs";
import { frameLimits } from "../../../../actors/edge/frames.ts";
import { type Link, pinned, SimulatedDaemon, type World } from "./daemon.ts";
import type { Counts, Order, Said, SimulatedHost } from "./orders.ts";
import { Wheel } from "./wheel.ts";

const counts: Counts = {
  ...{ open: 0, welcomed: 0, hellos: 0, welcomes: 0, heartbeats: 0, acks: 0 },
  ...{ invoked: 0, started: 0, results: 0, acknowledged: 0, cancelled: 0, unsound: 0 },
  ...{ closes: {}, lagMs: 0 },
};
const keptWaits = 10_000;
let waits: number[] = [];

const world: World = {
  counts,
  pins: new Map(),
  wheel: new Wheel<Link>(2 * frameLimits.heartbeatMs, (link) => link.beat()),
  urls: [],
  work: [0, 0],
  resting: false,
  welcomed(ms) {
    waits.push(ms);
    if (waits.length > 2 * keptWaits) waits = waits.slice(-keptWaits);
  },
};
let daemons: readonly SimulatedDaemon[] = [];

const lookMs = 20;
let lookedAt = performance.now();
setInterval(() => {
  const now = performance.now();
  counts.lagMs = Math.max(counts.lagMs, now - lookedAt - lookMs);
  lookedAt = now;
}, lookMs);

const say = (what: Said): void => void process.send?.(what);

function obey(order: Order): void {
  switch (order.order) {
    case "begin": {
      for (const [kid, key] of pinned(order.pins)) world.pins.set(kid, key);
      world.urls = order.urls;
      world.work = order.work;
      const lines = readFileSync(order.hostsFile, "utf8").trim().split("\n");
      daemons = lines.map((line) => new SimulatedDaemon(world, JSON.parse(line) as SimulatedHost));
      say({ said: "ready" });
      return;
    }
    case "connect": {
      world.resting = false;
      daemons.forEach((daemon, index) => {
        setTimeout(() => daemon.connect(), (index * 1000) / order.perSecond);
      });
      return;
    }
    case "urls": {
      world.urls = order.urls;
      return;
    }
    case "rest": {
      world.resting = true;
      for (const { link } of daemons) link?.close(1000);
      return;
    }
    case "counts": {
      say({ said: "counts", id: order.id, counts });
      counts.lagMs = 0;
      return;
    }
    case "waits": {
      say({ said: "waits", id: order.id, waits: waits.slice(-keptWaits) });
      return;
    }
  }
}

process.on("message", (order: Order) => obey(order));
