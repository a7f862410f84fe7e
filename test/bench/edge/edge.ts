/**
 * Edge hosts by the thousand on one node: memory, what they take when idle, a command to all, and their return after the
 * node's death. BENCH_EDGE_HOSTS is their number (10,000); most are put into the tables, the others enroll. The daemons
 * are simulated by a program that speaks the true protocol; what it spends is told apart.
 */
import type { BenchStores } from "../stores.ts";
import type { Row } from "../table.ts";
import { commandRows } from "./commands.ts";
import { measureFloors } from "./floor.ts";
import { frameRows } from "./frames.ts";
import { linkRows } from "./links.ts";
import { realDaemonRows } from "./real-daemons.ts";
import { reconnectRows } from "./reconnects.ts";
import { openScene, work } from "./scene.ts";

const count = Number(process.env.BENCH_EDGE_HOSTS ?? "10000");
const idleSeconds = 15;
const bareSocketsPerSecond = 2_000;

export async function benchEdge(stores: BenchStores): Promise<Row[]> {
  const rows = frameRows();
  const floors = await measureFloors(stores, count, work, bareSocketsPerSecond);
  const scene = await openScene(stores, "edge", count, idleSeconds);
  try {
    rows.push(...(await linkRows(scene, floors)));
    rows.push(...(await commandRows(scene, floors)));
    rows.push(...(await reconnectRows(scene, floors)));
  } finally {
    await scene.stop();
  }
  return [...rows, ...(await realDaemonRows(stores))];
}
