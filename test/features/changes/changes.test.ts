/** What followers of a tenant's records are told, over several nodes (docs/reference/events-stream.md). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { openChangeStore } from "../../../src/features/changes/store.ts";
import { openRedis } from "../../../src/store/redis/connections.ts";
import { caller } from "../../harness/callers.ts";
import { deleteKeys, freshStores, type TestStores } from "../../harness/stores.ts";
import { until } from "../../harness/until.ts";
import { type ChangesNode, openNode } from "./fixture.ts";
import { ChangeFollower } from "./follower.ts";

let stores: TestStores;
let one: ChangesNode;
let other: ChangesNode;
beforeAll(async () => {
  stores = await freshStores();
  [one, other] = await Promise.all([openNode(stores), openNode(stores)]);
});
afterAll(async () => {
  await Promise.all([one?.close(), other?.close()]);
  await stores?.dispose();
});

const open = (node: ChangesNode, tenant: string, query = {}, last: string | null = null) =>
  ChangeFollower.open(node.url, caller(tenant), query, last);
const sees = (follower: ChangeFollower, what: string) =>
  until(() => follower.seen.includes(what), { what: `${what} among ${follower.seen}` });

test("a change arrives from another node, in its tenant, for those who may read it", async () => {
  const north = await open(other, "north");
  const south = await open(other, "south");
  const approver = await ChangeFollower.open(other.url, caller("north", { scopes: new Set(["approval:read"]) }), {});
  const chosen = await open(other, "north", { types: "agent, approval" });
  one.changed("north", "a", "running");
  one.changed("south", "b", "running");
  one.changed("north", "c", "pending", { type: "approval" });
  await Promise.all([sees(north, "c pending"), sees(approver, "c pending"), sees(chosen, "c pending")]);
  await sees(south, "b running");
  expect([north.seen.toSorted(), south.seen, approver.seen, chosen.seen]).toEqual([
    ["a running", "c pending"],
    ["b running"],
    ["c pending"],
    ["c pending"],
  ]);
  expect(north.events[0]).toMatchObject({ event: null, data: { type: "execution", rev: expect.any(Number) } });
  for (const follower of [north, south, approver, chosen]) follower.close();
});

test("a thousand changes of a record in a second are few, the last among them", async () => {
  const follower = await open(other, "busy");
  const began = performance.now();
  for (let nth = 1; nth <= 1000; nth++) {
    one.changed("busy", "a", `s${nth}`, { rev: nth });
    if (nth % 10 === 0) await Bun.sleep(1);
  }
  await sees(follower, "a s1000");
  const seconds = (performance.now() - began) / 1000;
  expect(follower.events.length).toBeLessThanOrEqual(Math.ceil(seconds * 4) + 1);
  const revs = follower.events.map(({ data }) => data.rev);
  expect(revs).toEqual(revs.toSorted((a, b) => a - b));
  follower.close();
});

test("of changes of one record on several nodes the newest stays", async () => {
  const follower = await open(one, "moved");
  one.changed("moved", "a", "new", { rev: 5 });
  await sees(follower, "a new");
  other.changed("moved", "a", "old", { rev: 4 });
  other.changed("moved", "b", "old", { telling: "first" });
  await sees(follower, "b old");
  one.changed("moved", "b", "first", { telling: "first" });
  one.changed("moved", "b", "old", { telling: "differs" });
  one.changed("moved", "c", "end");
  await sees(follower, "c end");
  // By then what was too early for its record has had its time.
  one.changed("moved", "c", "further");
  await sees(follower, "c further");
  expect(follower.seen).toEqual(["a new", "b old", "c end", "c further"]);
  follower.close();
});

test("a follower goes on at any node where it was, and nothing comes twice", async () => {
  const first = await open(one, "resumed");
  one.changed("resumed", "a", "running");
  one.changed("resumed", "b", "running");
  await Promise.all([sees(first, "a running"), sees(first, "b running")]);
  first.close();
  one.changed("resumed", "b", "completed");
  const watcher = await open(one, "resumed");
  one.changed("resumed", "c", "running");
  await sees(watcher, "c running");
  const second = await open(other, "resumed", {}, first.lastId);
  await sees(second, "b completed");
  await sees(second, "c running");
  const third = await open(other, "resumed", { from: second.lastId });
  one.changed("resumed", "d", "running");
  await Promise.all([sees(second, "d running"), sees(third, "d running")]);
  expect([second.seen.toSorted(), third.seen]).toEqual([["b completed", "c running", "d running"], ["d running"]]);
  for (const follower of [watcher, second, third]) follower.close();
});

test("an old place, one that is none, and one where nothing was kept are gaps", async () => {
  const old = String((Date.now() - 2 * 3_600_000) * 1000);
  for (const last of [old, "1", "nonsense", String((Date.now() + 3_600_000) * 1000)]) {
    const follower = await open(one, `late-${last}`, {}, last);
    one.changed(`late-${last}`, "a", "running");
    await sees(follower, "a running");
    expect(follower.seen).toEqual(["gap expired", "a running"]);
    follower.close();
  }
  expect(
    await (
      await fetch(`${one.url}?types=agent,unheard`, { headers: { Authorization: `Bearer ${caller("t")}` } })
    ).json(),
  ).toMatchObject({
    code: "validation_failed",
    issues: [{ path: "types" }],
  });
});

test("records of a tenant that is not followed are not written", async () => {
  one.changed("quiet", "a", "running");
  const follower = await open(one, "noticed");
  one.changed("noticed", "b", "running");
  await sees(follower, "b running");
  const redis = openRedis(stores.redisServers ?? stores.redisUrl);
  const kept = (tenant: string) => redis.exists(`${stores.prefix}:{changes-${tenant}}:states`);
  expect([await kept("quiet"), await kept("noticed")]).toEqual([0, 1]);
  await one.erase("noticed");
  expect(await kept("noticed")).toBe(0);
  redis.disconnect();
  follower.close();
});

test("a node that died, and a Redis that lost all, are gaps for those who follow", async () => {
  const here = await open(one, "lost");
  const there = await open(other, "lost");
  one.changed("lost", "a", "running");
  await Promise.all([sees(here, "a running"), sees(there, "a running")]);
  other.interrupted();
  await Promise.all([sees(here, "gap lost"), sees(there, "gap lost")]);
  const { lastId } = here;
  one.changed("lost", "b", "running");
  await Promise.all([sees(here, "b running"), sees(there, "b running")]);
  const resumed = await open(other, "lost", {}, lastId);
  await sees(resumed, "b running");
  expect([here.seen, resumed.seen]).toEqual([["a running", "gap lost", "b running"], ["b running"]]);
  await deleteKeys(stores.redisServers ?? stores.redisUrl, stores.prefix);
  one.redisLost();
  other.redisLost();
  await until(() => here.seen.length > 3 && there.seen.length > 3, { what: "the second gap" });
  one.changed("lost", "c", "running");
  await Promise.all([sees(here, "c running"), sees(there, "c running")]);
  const expired = await open(other, "lost", {}, lastId);
  await sees(expired, "gap expired");
  for (const follower of [here, there, resumed, expired]) follower.close();
});

test("the oldest records go where there are too many, and leave a gap behind", async () => {
  const store = openChangeStore(stores.redisServers ?? stores.redisUrl, stores.prefix, 500, 3);
  const { last } = await store.follow("full");
  const put = (id: string) =>
    store.append("full", [{ type: "execution", id, status: "x", at: 0, rev: null, telling: "always" }], false);
  for (const id of ["a", "b", "c", "d", "e"]) await put(id);
  const page = await store.read("full", last);
  expect(page?.changes.map(({ record }) => record)).toEqual(["execution c", "execution d", "execution e"]);
  expect(page?.floor).toBeGreaterThan(last);
  expect(page?.floor).toBeLessThan(page?.changes[0]?.number ?? 0);
  store.close();
});

test("a tenant has two hundred streams over all nodes", async () => {
  const headers = { Authorization: `Bearer ${caller("many")}` };
  const abort = new AbortController();
  const opened = await Promise.all(
    Array.from({ length: 210 }, (_, nth) =>
      fetch((nth % 2 === 0 ? one : other).url, { headers, signal: abort.signal }).then(({ status }) => status),
    ),
  );
  expect(opened.filter((status) => status === 200).length).toBe(200);
  expect(opened.filter((status) => status === 429).length).toBe(10);
  abort.abort();
  await until(async () => (await fetch(one.url, { headers, signal: AbortSignal.timeout(500) })).status === 200, {
    what: "room",
  });
});
