/** A node killed while starts are being accepted: the quota holds afterwards, and what died with the node blocks nobody. */
import { expect, test } from "bun:test";
import { unlimited } from "../../../actors/policy/rates/resources.ts";
import { openRedis } from "../../../src/store/redis/connections.ts";
import { manifest } from "../../harness/manifests.ts";
import { startNodeProcess } from "../../harness/node/node-process.ts";
import { setRates } from "../../harness/rates.ts";
import { freshStores } from "../../harness/stores.ts";
import { until } from "../../harness/until.ts";

test("killed between reservation and start: never over the limit, then room again", async () => {
  const stores = await freshStores();
  const node = await startNodeProcess(stores, { env: { SVC_LOG_LEVEL: "warn" } });
  const headers = {
    Authorization: `Bearer ${await node.token({ username: "ann", sub: "ann", tier: "free" }, "svc-consumer")}`,
  };
  // The rate of starts would refuse what is to be refused here for its number at once.
  await setRates(stores.sql, "u-ann", "agent_execution", unlimited);
  const call = (method: string, path: string, body?: unknown) => node.call(method, path, body, headers);
  const slow = manifest({ script: [{ content: "late", delay_ms: 60_000 }] });
  const agent = (await call("POST", "/v1/agents", slow)).body.agent_id;
  const start = () => call("POST", "/v1/executions", { agent_id: agent, input: "" });
  const live = async () =>
    (await call("GET", "/v1/executions?status=pending,running")).body.executions.map(({ id }: { id: string }) => id);

  for (let round = 0; round < 3; round++) {
    // The first start of all makes the others go one by one; afterwards they meet.
    const answers = Array.from({ length: 10 }, () => start().catch(() => null));
    await Promise.race(answers);
    await node.kill();
    await Promise.all(answers);
    await node.restart();
    const ids = await live();
    expect(ids.length).toBeLessThanOrEqual(2);
    for (const id of ids) expect((await call("POST", `/v1/executions/${id}/cancel`, {})).status).toBe(200);
  }
  // A reservation without a record blocks for a minute: each becomes a minute older.
  const redis = openRedis(stores.redisServers ?? stores.redisUrl);
  for (const key of await redis.keys(`${stores.prefix}:under-way:*`)) {
    for (const member of await redis.zrange(key, "0", "-1"))
      if (member !== "") await redis.zincrby(key, -60_000, member);
  }
  redis.disconnect();
  for (const what of ["room", "room for the second"]) await until(async () => (await start()).status === 200, { what });
  expect((await start()).status).toBe(429);
  await node.dispose();
  await stores.dispose();
}, 120_000);
