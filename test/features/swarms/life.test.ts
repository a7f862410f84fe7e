/** Swarms as their rows, lists and locks show them (docs/reference/swarms.md). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { swarm } from "../../../actors/swarm/swarm.ts";
import { swarmsProjection } from "../../../src/features/swarms/projection.ts";
import { type SwarmReading, swarmReading } from "../../../src/features/swarms/reading.ts";
import { swarmRecords } from "../../../src/features/swarms/records.ts";
import { eraseSwarms } from "../../../src/features/swarms/service.ts";
import { pageOf } from "../../../src/http/paging.ts";
import { startTestNode, type TestNode } from "../../harness/runtime/runtime.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";
import { until } from "../../harness/until.ts";

const tenant = "north";
let stores: TestStores;
let node: TestNode;
let reading: SwarmReading;
beforeAll(async () => {
  stores = await freshStores();
  node = await startTestNode(stores, { actors: [swarm], projections: [swarmsProjection] });
  reading = swarmReading(stores.sql);
});
afterAll(async () => {
  await node?.stop();
  await stores?.dispose();
});

const id = () => crypto.randomUUID();
async function tell(swarmId: string, type: "joined" | "left" | "founder_ended", member?: string) {
  const body = member === undefined ? {} : { execution_id: member };
  await node.runtime.tellCommitted({ kind: "swarm", tenant, key: swarmId }, type, body);
}
const is = (swarmId: string, status: string) =>
  until(async () => ((await reading.one(tenant, swarmId))?.status === status ? reading.one(tenant, swarmId) : null), {
    what: `the swarm to be ${status}`,
  });

test("an ended member stays in the list, and its locks go with it", async () => {
  const [founder, one, two] = [id(), id(), id()];
  await tell(founder, "joined", one);
  await tell(founder, "joined", two);
  await until(async () => (await reading.one(tenant, founder))?.member_count === 2, { what: "two members" });
  const records = swarmRecords(stores.sql);
  const key = { tenant, swarmId: founder };
  for (const holder of [one, two, founder]) await records.lock(key, `of-${holder}`, holder, 600, null);
  await records.send(key, { id: id(), from: one, to: two, payload: '"secret"' });
  expect(await reading.inFull(tenant, founder)).toMatchObject({
    lock_count: 3,
    recent_message_count: 1,
    recent_messages: [{ from: one, to: two, payload_bytes: 8 }],
  });
  await tell(founder, "left", one);
  await until(async () => (await reading.one(tenant, founder))?.lock_count === 2, { what: "its lock to go" });
  expect((await reading.one(tenant, founder))?.member_ids).toEqual([one, two]);
  await tell(founder, "founder_ended");
  expect(await is(founder, "dissolving")).toMatchObject({ lock_count: 1, dissolved_at: null });
  await tell(founder, "left", two);
  expect(await is(founder, "dissolved")).toMatchObject({ lock_count: 0, member_ids: [one, two], member_count: 2 });
  expect(await reading.one("south", founder)).toBeNull();
});

test("lists are by status and page, without empty ones, and end with the tenant", async () => {
  const ids = [id(), id(), id()];
  for (const swarmId of ids) await tell(swarmId, "joined", id());
  const empty = id();
  await tell(empty, "founder_ended");
  await until(async () => (await reading.ofTenant(tenant, 100)).length === 5, { what: "all rows" });
  const list = async (status: "active" | "dissolved" | null, query = {}) =>
    reading.list(tenant, { status, swarmId: null }, pageOf(query, 2));
  expect((await list(null)).count).toBe(4);
  expect((await list("active")).items.map((one) => one.id).sort()).toEqual(ids.toSorted());
  expect(await reading.countActive(tenant)).toBe(3);
  const first = await list("active", { limit: 2 });
  const second = await list("active", { limit: 2, cursor: first.next_cursor ?? "" });
  expect([first.count, second.count, second.next_cursor]).toEqual([2, 1, null]);
  expect(await eraseSwarms({ runtime: node.runtime, reading }, tenant)).toBeTrue();
  expect(await reading.ofTenant(tenant, 100)).toEqual([]);
});
