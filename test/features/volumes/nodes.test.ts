/** Quotas where several nodes take uploads at once (docs/reference/volumes.md). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type NodeProcess, startNodeProcess } from "../../harness/node/node-process.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";

let stores: TestStores;
let nodes: readonly [NodeProcess, NodeProcess];
beforeAll(async () => {
  stores = await freshStores();
  const first = await startNodeProcess(stores);
  nodes = [first, await startNodeProcess(stores, { dataDir: first.dataDir })];
});
afterAll(async () => {
  // The second one's data is the first one's.
  for (const node of [...nodes].reverse()) await node.dispose();
  await stores.dispose();
});

test("parallel uploads through two nodes fill a volume to its limit and no further", async () => {
  const token = await nodes[0].token({ username: "both", tier: "pro" }, "svc-consumer");
  const who = { Authorization: `Bearer ${token}` };
  const body = { label: "both", size_limit_bytes: 1_000_000 };
  const { id } = (await nodes[0].call("POST", "/v1/volumes", body, who)).body;
  const statuses = await Promise.all(
    Array.from({ length: 24 }, async (_, n) => {
      const node = nodes[n % 2 === 0 ? 0 : 1];
      const url = `${node.url}/v1/volumes/${id}/files/upload?path=/f${n}`;
      const response = await fetch(url, { method: "POST", headers: who, body: new Uint8Array(100_000).fill(n) });
      await response.arrayBuffer();
      return response.status;
    }),
  );
  expect(new Set(statuses)).toEqual(new Set([200, 402]));
  // One that waits for room behind uploads that are refused in the end may be refused as well; none is too many.
  const stored = statuses.filter((status) => status === 200).length;
  expect(stored).toBeLessThanOrEqual(10);
  const shown = (await nodes[1].call("GET", `/v1/volumes/${id}`, undefined, who)).body;
  expect(shown).toMatchObject({ used_bytes: stored * 100_000, file_count: stored });
});
