/** Rate limits against a real Redis (docs/reference/identity.md). */
import { afterAll, describe, expect, test } from "bun:test";
import { Problem } from "../../../actors/kernel/problem.ts";
import { usualTerms } from "../../../actors/policy/quota.ts";
import { demands, limitsOf, type RateUser } from "../../../actors/policy/rates/limits.ts";
import { buckets, type RateBucket, type RateResource, unlimited } from "../../../actors/policy/rates/resources.ts";
import { type Debited, openLimiter, type RateUse } from "../../../src/features/limits/limiter.ts";
import { overridesFor } from "../../../src/features/limits/overrides.ts";
import { createStandings } from "../../../src/features/limits/standings.ts";
import { overrideRate } from "../../harness/rates.ts";
import { freshStores } from "../../harness/stores.ts";
import { until } from "../../harness/until.ts";

const stores = await freshStores();
const { sql } = stores;
/** A Wednesday, the first second of an hour. */
const noon = Date.UTC(2031, 3, 2, 12, 0, 1);
let now = noon;
const warnings: Record<string, unknown>[] = [];
const terms = async (tenant: string) => usualTerms(tenant);
const options = {
  redisServers: stores.redisUrl,
  prefix: stores.prefix,
  now: () => now,
  standings: {
    of: async (tenant: string, user: RateUser | null) => {
      return { ...(await terms(tenant)), overrides: await overridesFor(sql, tenant, user) };
    },
  },
};
const limiter = openLimiter({ ...options, report: (_, facts) => warnings.push(facts) });
const other = openLimiter({ ...options, report: () => {} });

afterAll(async () => {
  limiter.close();
  other.close();
  await stores.dispose();
});

const person = (userId: string): RateUser => ({ realm: "people", userId });
const use = (tenant: string, user: RateUser | null = null): RateUse => ({
  tenant,
  user,
  demands: [demands.of("workflow_execution")],
});
const headersOf = async (debited: Promise<Debited>) => (await debited).headers;

/**
 * Follows all commands of the server, by a connection of its own: the client's `monitor` fails where a command comes
 * between the server's answer and the client's change of mode.
 */
async function observe(): Promise<{ lines(): string[]; close(): void }> {
  const { hostname, port, password } = new URL(stores.redisUrl);
  let told = "";
  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      data: (_, bytes) => {
        told += bytes.toString("latin1");
      },
    },
  });
  if (password !== "") socket.write(`AUTH ${password}\r\n`);
  socket.write("MONITOR\r\n");
  const greeting = password === "" ? "+OK\r\n" : "+OK\r\n+OK\r\n";
  await until(() => told.startsWith(greeting), { what: "the server to tell its commands" });
  return { lines: () => told.split("\r\n"), close: () => socket.end() };
}

async function refused(act: Promise<unknown>): Promise<Problem> {
  const error = await act.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof Problem)) throw new Error(`not refused: ${error}`);
  return error;
}

test("a burst empties the minute bucket, which refills evenly", async () => {
  now = noon;
  const start = use("u-burst", person("burst"));
  const headers = await headersOf(limiter.debit(start));
  expect(headers).toMatchObject({ "RateLimit-Limit": "2", "RateLimit-Remaining": "1" });
  expect(headers["RateLimit-Policy"]).toBe("2;w=60, 3;w=3600, 10;w=86400, 40;w=604800, 50;w=2592000");
  await limiter.debit(start);
  const problem = await refused(limiter.debit(start));
  expect(problem).toMatchObject({ code: "rate_limited", status: 429 });
  expect(problem.extras).toMatchObject({ resource_type: "workflow_execution", bucket: "per_minute", limit: 2 });
  expect(problem.headers).toMatchObject({ "Retry-After": "30" });
  now += 30_000;
  await limiter.debit(start);
  // The hour's third was the last: its window ends with the clock hour.
  now += 60_000;
  const hourly = await refused(limiter.debit(start));
  expect(hourly.extras).toMatchObject({ bucket: "hourly", remaining: 0, resets_at: "2031-04-02T13:00:00.000Z" });
  now = Date.UTC(2031, 3, 2, 13);
  await limiter.debit(start);
});

test("a refusal debits nothing, and what was never accepted is given back", async () => {
  now = noon;
  const start = use("u-refund", person("refund"));
  await limiter.debit(start);
  await limiter.debit(start);
  for (let again = 0; again < 5; again++) await refused(limiter.debit(start));
  await limiter.refund(start, now);
  await limiter.debit(start);
  await refused(limiter.debit(start));
});

test("several nodes together let through exactly what is allowed", async () => {
  now = noon;
  const outcomes = await Promise.allSettled(
    Array.from({ length: 200 }, (_, index) => (index % 2 === 0 ? limiter : other).debit(use("acme"))),
  );
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(50);
});

test("uses of one moment are one command, and are judged as one after the other", async () => {
  now = noon;
  const standings = createStandings({ sql, terms, notices: null, now: () => now });
  const limiter = openLimiter({ ...options, standings, report: () => {} });
  await limiter.debit(use("aside"));
  const observer = await observe();
  const answers = await Promise.all(Array.from({ length: 5 }, () => limiter.debit(use("at-once"))));
  expect(answers.map(({ headers }) => headers["RateLimit-Remaining"])).toEqual(["49", "48", "47", "46", "45"]);
  // Forty-five are left: the first of the moment get them, and those who are refused cost nothing.
  const outcomes = await Promise.allSettled(Array.from({ length: 64 }, () => limiter.debit(use("at-once"))));
  expect(outcomes.map(({ status }) => status === "fulfilled")).toEqual(outcomes.map((_, place) => place < 45));
  const problem = await refused(limiter.debit(use("at-once")));
  expect(problem.extras).toMatchObject({ remaining: 0 });
  await Promise.all([
    limiter.refund(use("at-once"), now),
    limiter.refund(use("at-once"), now),
    limiter.debit(use("aside")),
  ]);
  expect(await headersOf(limiter.debit(use("at-once")))).toMatchObject({ "RateLimit-Remaining": "1" });
  const sent = () =>
    observer.lines().filter((text) => /"eval/i.test(text) && text.includes(`${stores.prefix}:rates:{at-once}`));
  await until(() => sent().length >= 5, { what: "the commands to be told" });
  observer.close();
  limiter.close();
  expect(sent().map((text) => text.includes("{aside}"))).toEqual([false, false, false, true, false]);
});

test("more kinds of uses than one command takes are all judged", async () => {
  now = noon;
  const kinds = Array.from({ length: 150 }, (_, index) => use(`crowd-${index}`));
  const answers = await Promise.all(kinds.map((one) => limiter.debit(one)));
  expect(answers.map(({ headers }) => headers["RateLimit-Remaining"])).toEqual(kinds.map(() => "49"));
});

test("one person's use counts against the tenant, another tenant's does not", async () => {
  now = noon;
  const member = (userId: string): RateUser => ({ realm: "tenant-shared", userId });
  for (let count = 0; count < 50; count++) await limiter.debit(use("shared", member(`m${count % 2}`)));
  const problem = await refused(limiter.debit(use("shared", member("m3"))));
  expect(problem.extras).toMatchObject({ scope_type: "tenant" });
  await limiter.debit(use("elsewhere", member("m0")));
});

describe("overrides", () => {
  const override = { resource: "workflow_execution", bucket: "per_minute" } as const;

  test("of the tenant lifts both scopes, of one bucket leaves the others", async () => {
    now = noon;
    await overrideRate(sql, { ...override, tenant: "lifted", limit: 1000 });
    const member: RateUser = { realm: "tenant-lifted", userId: "lifted-1" };
    const outcomes = await Promise.allSettled(Array.from({ length: 600 }, () => limiter.debit(use("lifted", member))));
    // The hourly limit of the tier stays.
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(500);
  });

  test("of a person never lifts the tenant's cap, except in the person's own tenant", async () => {
    now = noon;
    await overrideRate(sql, { ...override, user: person("vip"), isConsumer: true, limit: 100 });
    const own = use("u-vip", person("vip"));
    for (let count = 0; count < 3; count++) await limiter.debit(own);
    const guest: RateUser = person("vip");
    for (let count = 0; count < 50; count++) await limiter.debit(use("club", guest));
    expect((await refused(limiter.debit(use("club", guest)))).extras).toMatchObject({ scope_type: "tenant" });
  });

  test("of a consumer does not lift the cap of an enterprise tenant they are in", async () => {
    now = noon;
    await overrideRate(sql, { ...override, user: person("star"), isConsumer: true, limit: 100 });
    const guest: RateUser = person("star");
    for (let count = 0; count < 50; count++) await limiter.debit(use("hall", guest));
    expect((await refused(limiter.debit(use("hall", guest)))).extras).toMatchObject({ scope_type: "tenant" });
  });
});

test("crossing 80 % of a window is reported once", async () => {
  now = noon;
  warnings.length = 0;
  for (let count = 0; count < 48; count++) await limiter.debit(use("warned"));
  now += 60_000;
  for (let round = 0; round < 9; round++) {
    for (let count = 0; count < 45; count++) await limiter.debit(use("warned"));
    now += 60_000;
  }
  expect(warnings.filter(({ bucket, tenant }) => bucket === "hourly" && tenant === "warned")).toHaveLength(1);
});

describe("one request with several resources", () => {
  const call = (tenant: string, user: RateUser | null = null): RateUse => ({
    tenant,
    user,
    demands: [demands.of("llm_call"), demands.balance("llm_token")],
  });
  const settle = (tenant: string, tokens: number): RateUse => ({
    tenant,
    user: null,
    demands: [demands.settled("llm_token", tokens)],
  });

  test("takes of all or of none, by one command for all scopes and buckets", async () => {
    now = noon;
    await overrideRate(sql, { tenant: "u-both", resource: "llm_token", bucket: "daily", limit: 10 });
    const observer = await observe();
    await limiter.debit(call("u-both", person("both")));
    await limiter.debit(settle("u-both", 25));
    expect((await refused(limiter.debit(call("u-both", person("both"))))).extras).toMatchObject({
      resource_type: "llm_token",
      bucket: "daily",
      remaining: 0,
    });
    const sent = () => observer.lines().filter((text) => /"eval/i.test(text) && text.includes("rates:{u-both}"));
    await until(() => sent().length >= 3, { what: "the commands to be told" });
    observer.close();
    expect(sent()).toHaveLength(3);
    // The refused one took no call either.
    const calls = (await left("u-both", null, "llm_call")).hourly;
    expect(calls).toBe(99);
  });

  test("one call may overdraw the tokens; the minute then refills from below nothing", async () => {
    now = noon;
    await limiter.debit(call("u-over"));
    await limiter.debit(settle("u-over", 30_000));
    expect((await refused(limiter.debit(call("u-over")))).extras).toMatchObject({
      bucket: "per_minute",
      resource_type: "llm_token",
    });
    now += 20_000;
    await refused(limiter.debit(call("u-over")));
    now += 11_000;
    await limiter.debit(call("u-over"));
  });

  async function left(tenant: string, user: RateUser | null, resource: RateResource) {
    const limits = limitsOf({ slug: tenant, tier: "free" }, user, resource, []);
    const found = await limiter.look(tenant, user, limits);
    return Object.fromEntries(limits.map(({ bucket }, index) => [bucket, found[index]]));
  }
});

test("subjects of two realms share nothing but the tenant's buckets", async () => {
  now = noon;
  const members = ["people", "tenant-mixed"].map((realm): RateUser => ({ realm, userId: "ann" }));
  for (const [bucket, limit] of [
    ["per_minute", 1000],
    ["hourly", 1000],
  ] as const) {
    await overrideRate(sql, { tenant: "mixed", resource: "workflow_execution", bucket, limit });
    for (const user of members)
      await overrideRate(sql, { tenant: "mixed", user, resource: "workflow_execution", bucket, limit: 2 });
  }
  for (const user of members) {
    for (let count = 0; count < 2; count++) await limiter.debit(use("mixed", user));
    expect((await refused(limiter.debit(use("mixed", user)))).extras).toMatchObject({ scope_type: "user" });
  }
});

test("a refund reaches the windows of its debit, not the next ones", async () => {
  now = Date.UTC(2031, 3, 2, 12, 59, 59);
  const start = use("u-turn", person("turn"));
  const { at } = await limiter.debit(start);
  now = Date.UTC(2031, 3, 2, 13, 0, 1);
  await limiter.debit(start);
  await limiter.refund(start, at);
  const hour = limitsOf({ slug: "u-turn", tier: "free" }, null, "workflow_execution", []);
  // One of the new hour is used; of the day, in which both were counted, one was given back.
  expect((await limiter.look("u-turn", null, hour)).slice(1, 3)).toEqual([2, 9]);
});

test("a node whose clock is behind does not begin a window anew", async () => {
  const start = use("u-skew", person("skew"));
  for (let count = 0; count < 3; count++) {
    now = Date.UTC(2031, 3, 2, 13, 0, 0);
    await limiter.debit({ ...start, demands: [demands.settled("workflow_execution", 1)] });
    now = Date.UTC(2031, 3, 2, 12, 59, 59);
    await limiter.debit({ ...start, demands: [demands.settled("workflow_execution", 1)] });
  }
  now = Date.UTC(2031, 3, 2, 13, 0, 0);
  expect((await refused(limiter.debit(start))).extras).toMatchObject({ bucket: "hourly", limit: 3 });
});

test("-1 lifts a limit and counts on; 0 blocks; a burst is what the minute holds", async () => {
  now = noon;
  const set = (bucket: RateBucket, limit: number, burst: number | null = null) =>
    overrideRate(sql, { tenant: "free-way", resource: "workflow_execution", bucket, limit, burst });
  for (const bucket of buckets) await set(bucket, unlimited);
  for (let count = 0; count < 60; count++) expect((await limiter.debit(use("free-way"))).headers).toEqual({});
  await set("per_minute", 5, 8);
  const outcomes = await Promise.allSettled(Array.from({ length: 12 }, () => limiter.debit(use("free-way"))));
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(8);
  await set("per_minute", unlimited);
  await set("hourly", 68);
  expect((await refused(limiter.debit(use("free-way")))).extras).toMatchObject({ bucket: "hourly", limit: 68 });
  await set("hourly", 0);
  expect((await refused(limiter.debit(use("free-way")))).extras).toMatchObject({
    bucket: "hourly",
    limit: 0,
    remaining: 0,
  });
});

test("without Redis nothing is let through", async () => {
  const away = openLimiter({ ...options, redisServers: "redis://127.0.0.1:1", report: () => {} });
  expect(await refused(away.debit(use("away")))).toMatchObject({ code: "limiter_unavailable", status: 503 });
  away.close();
});
