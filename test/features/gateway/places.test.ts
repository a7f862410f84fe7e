/** The places of commands among the calls that run at once, over two nodes (docs/reference/gateway.md). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createCommandPlaces } from "../../../src/features/gateway/places.ts";
import { openCallCounters } from "../../../src/features/security-contexts/counters.ts";
import type { Address } from "../../../src/runtime/port.ts";
import { openRedis } from "../../../src/store/redis/connections.ts";
import { fakeRuntime } from "../../harness/runtime/fake-runtime.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";
import { until } from "../../harness/until.ts";

let stores: TestStores;
const prefix = `places-${Bun.randomUUIDv7()}`;
/** By execution, the dispatch that it waits for the result of. */
const awaited = new Map<string, string>();
const of = [{ context: "build", version: 1, index: 0, most: 1 }];

const runtime = fakeRuntime({
  state: ({ key }) => {
    const dispatch_id = awaited.get(key);
    const calls = dispatch_id === undefined ? [] : [{ dispatch_id, clearance: { places: of } }];
    return { status: "running", iteration: { loop: { calls } } };
  },
});

const open = () => openCallCounters({ redisServers: stores.redisUrl, prefix, newId: Bun.randomUUIDv7, warn: () => {} });
type Node = { readonly counters: ReturnType<typeof open>; readonly places: ReturnType<typeof createCommandPlaces> };
let nodes: readonly [Node, Node];
beforeAll(async () => {
  stores = await freshStores();
  const node = (): Node => {
    const counters = open();
    return { counters, places: createCommandPlaces({ runtime, counters, warn: () => {} }) };
  };
  nodes = [node(), node()];
});
afterAll(async () => {
  for (const { counters } of nodes ?? []) await counters.stop();
  await stores?.dispose();
});

const newExecution = (): Address => ({ kind: "execution", tenant: "acme", key: crypto.randomUUID() });
const command = (timeoutSeconds = 60) => ({ dispatchId: crypto.randomUUID(), timeoutSeconds, of });

/** A signed call of the execution under the same capability; gives its place back at once. */
async function signed({ tenant, key }: Address): Promise<boolean> {
  const governing = of.map(({ most, ...by }) => ({ ...by, capability: { tool_pattern: "*", max_concurrent: most } }));
  const lease = await nodes[1].counters.acquire({ tenant, principal: key }, { tool: "cmd.run", governing });
  if ("release" in lease) lease.release();
  return "release" in lease;
}

test("a result that comes to another node gives the places back there", async () => {
  const at = newExecution();
  const one = command();
  expect(await nodes[0].places.take(at, one)).toBeNull();
  awaited.set(at.key, one.dispatchId);
  expect(await signed(at)).toBe(false);
  // Of an execution that names another's dispatch nothing is given back.
  await nodes[1].places.giveBack(newExecution(), one.dispatchId);
  expect(await signed(at)).toBe(false);
  await nodes[1].places.giveBack(at, one.dispatchId);
  await until(() => signed(at), { what: "the place to be free" });
});

test("a command's places are held for its whole time, also without its node", async () => {
  const at = newExecution();
  const redis = openRedis(stores.redisUrl);
  try {
    await nodes[0].places.take(at, command(900));
    const [key = ""] = await redis.keys(`${prefix}:*${at.key}*`);
    const [, end] = await redis.zrange(key, "0", "-1", "WITHSCORES");
    expect(Number(end) - Date.now()).toBeGreaterThan(900_000);
    expect(await redis.pttl(key)).toBeGreaterThan(900_000);
    // A shorter lease beside it does not shorten the life of the set.
    const wide = [{ ...of[0], capability: { tool_pattern: "*", max_concurrent: 9 } }] as never;
    await nodes[1].counters.acquire({ tenant: "acme", principal: at.key }, { tool: "cmd.run", governing: wide });
    expect(await redis.pttl(key)).toBeGreaterThan(900_000);
  } finally {
    redis.disconnect();
  }
});

test("the next command of an execution has the places of one that was lost", async () => {
  const at = newExecution();
  const [lost, next] = [command(), command()];
  await nodes[0].places.take(at, lost);
  expect(await signed(at)).toBe(false);
  expect(await nodes[1].places.take(at, next)).toBeNull();
  expect(await signed(at)).toBe(false);
  // It is the later one's now: what is told of the lost one late does not free it.
  await nodes[0].places.giveBack(at, lost.dispatchId);
  expect(await signed(at)).toBe(false);
  await nodes[1].places.giveBack(at, next.dispatchId);
  await until(() => signed(at), { what: "the place to be free" });
});

test("a signed call that runs keeps a command out", async () => {
  const at = newExecution();
  const governing = of.map(({ most, ...by }) => ({ ...by, capability: { tool_pattern: "*", max_concurrent: most } }));
  const lease = await nodes[0].counters.acquire({ tenant: "acme", principal: at.key }, { tool: "x", governing });
  expect(await nodes[1].places.take(at, command())).toContain("cmd.run");
  if ("release" in lease) lease.release();
  await until(async () => (await nodes[1].places.take(at, command())) === null, { what: "the place" });
});
