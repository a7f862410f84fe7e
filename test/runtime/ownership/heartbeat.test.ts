/** A node says that it lives whatever Redis does: nothing that waits for Redis delays it. */
import { expect, test } from "bun:test";
import { StoreProxy } from "../../faults/proxy.ts";
import { until } from "../../harness/until.ts";
import { at, Harness, manyKeys } from "../harness.ts";

const harness = new Harness();
const leaseTtlMs = 3_000;

test("a node keeps its partitions for two leases while its Redis answers nothing", async () => {
  const proxy = await StoreProxy.to(harness.stores.redisUrl);
  try {
    const first = await harness.node({ leaseTtlMs }, { redisUrl: proxy.url });
    const second = await harness.node({ leaseTtlMs });
    const owners = () => harness.stores.sql<{ partition: number; owner: string; epoch: string }[]>`
      select partition, owner, epoch from runtime_partitions order by partition`;
    const heldBy = (rows: Awaited<ReturnType<typeof owners>>, node: string) =>
      rows.filter(({ owner }) => owner === node).length;
    await until(
      async () => {
        const rows = await owners();
        return [first, second].every(({ runtime }) => heldBy(rows, runtime.nodeId) === 4);
      },
      { what: "two fair shares", timeoutMs: 30_000 },
    );
    const before = await owners();
    const beat = async () => {
      const [row] = await harness.stores.sql<{ at: number }[]>`
        select (extract(epoch from heartbeat_at) * 1000)::float8 as at from runtime_nodes where id = ${first.runtime.nodeId}`;
      return row?.at ?? 0;
    };
    const [now] = await harness.stores.sql<{ at: number }[]>`
      select (extract(epoch from clock_timestamp()) * 1000)::float8 as at`;
    proxy.hold();
    // Messages that wait for Redis on the node that is cut off from it.
    const told = manyKeys.map((key) => first.runtime.tell(at(key), "add", { label: "waits" }).catch(() => {}));
    await until(async () => (await beat()) > (now?.at ?? 0) + 2 * leaseTtlMs, {
      what: "heartbeats of two leases",
      timeoutMs: 60_000,
    });
    expect(await owners()).toEqual(before);
    proxy.release();
    await Promise.all(told);
  } finally {
    proxy.close();
  }
}, 120_000);
