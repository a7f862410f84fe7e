/** Many nodes at once: they join, carry a load together, and leave. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { freshStores } from "../../harness/stores.ts";
import { until } from "../../harness/until.ts";
import { Cluster, type NodeProcess } from "../cluster.ts";
import { Load } from "../load.ts";

const isLong = process.env.SVC_LONG_TESTS === "1";
setDefaultTimeout(isLong ? 600_000 : 120_000);

const count = isLong ? 50 : 8;
const partitions = 256;
/** Nodes that start or stop at the same moment: each takes a second of a core to start. */
const atOnce = 4;
/** Until every partition has an owner and each owner its share; a second or two where the nodes have cores to themselves. */
const spreadWithinMs = isLong ? 60_000 : 30_000;

/** A few at once, in turn. */
async function inTurn<T>(all: readonly T[], act: (one: T) => Promise<unknown>): Promise<void> {
  for (let next = 0; next < all.length; next += atOnce) await Promise.all(all.slice(next, next + atOnce).map(act));
}

test("many nodes join, carry a load and leave: nothing is lost, partitions are spread", async () => {
  const stores = await freshStores();
  const cluster = new Cluster({ ...stores, poolSize: 2 }, { partitions, leaseTtlMs: 5_000 });
  const owners = () => stores.sql<{ owner: string | null; held: number }[]>`
    select owner, count(*)::int as held from runtime_partitions group by owner`;
  const spreadOver = (nodes: readonly NodeProcess[]) =>
    until(
      async () => {
        const rows = await owners();
        const names = rows.map(({ owner }) => owner).sort();
        const share = Math.floor(partitions / nodes.length);
        return (
          names.join() ===
            nodes
              .map(({ nodeId }) => nodeId)
              .sort()
              .join() && rows.every(({ held }) => held === share || held === share + 1)
        );
      },
      {
        what: `${partitions} partitions to be spread over ${nodes.length} nodes`,
        timeoutMs: spreadWithinMs,
        everyMs: 50,
      },
    );
  try {
    await cluster.start();
    const load = new Load(cluster, stores.sql);
    await inTurn(Array.from({ length: count - 1 }), () => cluster.start());
    expect(cluster.responsive).toHaveLength(count);
    await spreadOver(cluster.nodes);
    await load.more(300, 60_000);

    // While nodes neither come nor go, no partition changes hands.
    const moves = async () =>
      (await stores.sql<[{ epochs: number }]>`select sum(epoch)::int as epochs from runtime_partitions`)[0].epochs;
    const before = await moves();
    await load.more(300, 60_000);
    expect(await moves()).toBe(before);

    const [killed, ...others] = cluster.nodes;
    if (killed === undefined) throw new Error("unreachable: nodes were started");
    const staying = others.slice(-2);
    const leaving = others.slice(0, -2);
    await inTurn(leaving.slice(atOnce), (node) => leave(cluster, node));
    const late = leaving.slice(0, atOnce);
    await spreadOver([killed, ...late, ...staying]);
    await Promise.all([cluster.kill(killed), inTurn(late, (node) => leave(cluster, node))]);
    await spreadOver(staying);
    await load.more(100, 60_000);
    await load.settle(60_000);
  } finally {
    await cluster.killAll();
    await stores.dispose();
  }
});

async function leave(cluster: Cluster, node: NodeProcess): Promise<void> {
  node.responsive = false;
  expect(await cluster.drain(node)).toBe(0);
}
