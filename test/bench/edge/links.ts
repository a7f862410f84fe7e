/** Ten thousand daemons that are connected and have nothing to do: memory, and what their heartbeats take. */
import { residentMiB } from "../service.ts";
import { percentile, type Row } from "../table.ts";
import type { Floors } from "./floor.ts";
import { eachOf, type Scene, spentDuring } from "./scene.ts";

/** Below what a node admits. */
const hellosPerSecond = 400;
const settleMs = 15_000;
const idleSeconds = 45;

export async function linkRows(scene: Scene, floors: Floors): Promise<Row[]> {
  const { fleet, count, node } = scene;
  const before = await residentMiB(node.pid);
  const spent = await spentDuring(scene, async () => {
    fleet.order({ order: "connect", perSecond: hellosPerSecond });
    await fleet.until("all hosts connected", ({ welcomed }) => welcomed === count, 600_000);
  });
  const waits = [...(await fleet.waits())];
  const { unsound, closes } = await fleet.counts();
  if (unsound > 0) throw new Error(`${unsound} frames did not verify`);
  await Bun.sleep(settleMs);
  const kib = ((await residentMiB(node.pid)) - before) * (1024 / count);
  const idle = await spentDuring(scene, () => Bun.sleep(idleSeconds * 1000));
  const heartbeats = `heartbeats every 30 s`;
  const stores = `PostgreSQL ${rate(idle.postgres, idle)}, Redis ${rate(idle.redis, idle)} ms/s`;
  return [
    {
      ...{ name: `${count} hosts connected, each`, unit: "KiB", value: kib, goal: "<= 6" },
      ...{ floor: floors.kib, floorIs: "bare Bun server with as many WebSockets" },
      note: "growth of the node's resident memory, 15 s after the last",
    },
    {
      ...{ name: `${count} hosts connected, idle`, unit: "ms/s", value: idle.node / idle.seconds, goal: "<= 50" },
      ...{ floor: scene.idleAlone, floorIs: "the same node before it had a host" },
      note: `CPU of the node, ${heartbeats}; ${stores}`,
    },
    {
      ...{ name: `a host connects, ${hellosPerSecond}/s, CPU of the node`, unit: "µs", goal: "–" },
      ...{ value: (spent.node * 1000) / count, floor: floors.helloCpu },
      floorIs: "bare server that verifies and answers, without stores",
      note: `${eachOf(spent, count)}; closed meanwhile ${JSON.stringify(closes)}`,
    },
    {
      ...{ name: "from opening a socket to its welcome, p99", unit: "ms", value: percentile(waits, 0.99), goal: "–" },
      ...{ floor: percentile(waits, 0.5), floorIs: "the median" },
      note: `${hellosPerSecond} a second`,
    },
  ];
}

const rate = (ms: number, { seconds }: { readonly seconds: number }): string => (ms / seconds).toFixed(0);
