/** Wrong signatures per client address and source, against a real Redis (docs/reference/stimuli.md). */
import { afterAll, expect, test } from "bun:test";
import { Problem } from "../../../../actors/kernel/problem.ts";
import {
  type FailedVerifications,
  openFailedVerifications,
} from "../../../../src/features/stimuli/sources/verification/failed-verifications.ts";
import { openRedis } from "../../../../src/store/redis/connections.ts";
import { freshStores } from "../../../harness/stores.ts";

const stores = await freshStores();
let now = Date.UTC(2031, 3, 2);
const options = { redisServers: stores.redisUrl, prefix: stores.prefix, now: () => now };
const one = openFailedVerifications(options);
const two = openFailedVerifications(options);
/** Nobody listens there. */
const away = openFailedVerifications({
  ...options,
  redisServers: "redis://127.0.0.1:1",
  perMinute: 3,
  maxSenders: 2,
  timeoutMs: 20,
});

afterAll(async () => {
  for (const node of [one, two, away]) node.close();
  await stores.dispose();
});

/** Null, or the seconds of the 429. */
async function refusal(act: () => void | Promise<void>): Promise<number | null> {
  try {
    await act();
    return null;
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== "rate_limited") throw error;
    return Number(error.headers["Retry-After"]);
  }
}
const fail = (node: FailedVerifications, address: string | null, source: string, sourceId: string | null = null) =>
  refusal(() => node.count({ address, source, sourceId }));
const look = (node: FailedVerifications, address: string | null, source: string, sourceId: string | null = null) =>
  refusal(() => {
    const exhausted = node.exhausted({ address, source, sourceId });
    if (exhausted !== null) throw exhausted;
  });

test("thirty a minute over all nodes, also at once; all others are refused", async () => {
  const nodes = Array.from({ length: 33 }, (_, index) => (index % 2 === 0 ? one : two));
  const answers = await Promise.all(nodes.map((node) => fail(node, "192.0.2.7", "ci")));
  const refused = answers.filter((answer) => answer !== null);
  expect(refused).toHaveLength(3);
  for (const seconds of refused) expect(seconds).toBeWithin(55, 61);
  expect(await fail(one, "192.0.2.7", "ci")).not.toBe(null);
  expect(await look(one, "192.0.2.7", "ci")).toBeWithin(55, 61);
  // Other sources, other addresses, and those without one are not affected.
  for (const [address, source, sourceId] of [
    ["192.0.2.7", "ci2"],
    ["192.0.2.8", "ci"],
    [null, "192.0.2.7 ci"],
    ["192.0.2.7", "ci", "0198c200-0000-7000-8000-000000000001"],
  ] as const) {
    expect(await look(one, address, source, sourceId)).toBe(null);
    expect(await fail(one, address, source, sourceId)).toBe(null);
  }
  // A node that met none of the refusals lets it try again, and learns from the first failure.
  const third = openFailedVerifications(options);
  expect(await look(third, "192.0.2.7", "ci")).toBe(null);
  expect(await fail(third, "192.0.2.7", "ci")).not.toBe(null);
  expect(await look(third, "192.0.2.7", "ci")).not.toBe(null);
  third.close();
  now += 61_000;
  expect(await look(one, "192.0.2.7", "ci")).toBe(null);
});

test("refused callers are told the limit", async () => {
  for (let time = 0; time < 31; time++) await fail(one, "192.0.2.9", "ci");
  now += 10_000;
  const told = { "RateLimit-Limit": "30", "RateLimit-Remaining": "0", "RateLimit-Policy": "30;w=60" };
  expect(one.exhausted({ address: "192.0.2.9", source: "ci", sourceId: null })?.headers).toMatchObject({
    ...told,
    "X-RateLimit-Limit": "30",
  });
  now += 61_000;
});

test("counters do not outlive their minute", async () => {
  await fail(one, "2001:db8::1", "shop");
  const redis = openRedis(stores.redisUrl);
  const keys = await redis.keys(`${stores.prefix}:failed-verifications:2001:db8::1 shop `);
  expect(keys).toHaveLength(1);
  expect(await redis.pttl(keys[0] ?? "")).toBeWithin(50_000, 60_001);
  redis.disconnect();
});

test("without Redis a node goes by its own count, of a bounded number of pairs", async () => {
  const answers = [];
  for (let time = 0; time < 4; time++) answers.push(await fail(away, "a", "ci"));
  expect(answers).toEqual([null, null, null, 60]);
  now += 10_500;
  expect(await look(away, "a", "ci")).toBe(50);
  for (const source of ["x", "y"]) for (let time = 0; time < 4; time++) await fail(away, "a", source);
  expect([await look(away, "a", "x"), await look(away, "a", "y")]).toEqual([60, 60]);
  // Two pairs are remembered.
  expect(await look(away, "a", "ci")).toBe(null);
  now += 60_000;
  expect(await look(away, "a", "y")).toBe(null);
  expect(await fail(away, "a", "y")).toBe(null);
});
