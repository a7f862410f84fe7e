import { afterEach, expect, test } from "bun:test";
import { type HealthOptions, healthRoutes, NotReady } from "../../src/http/operations/health.ts";
import { type OpenApp, openApp } from "./open-app.ts";

let app: OpenApp | null = null;
afterEach(() => app?.stop());

const up = async () => {};
const down = async () => {
  throw new Error("away");
};
let now = 0;
const status = { database: true, redis: true, partitions: 64, consuming: true, draining: false };
function open(changes: Partial<HealthOptions> = {}) {
  app = openApp({
    routes: healthRoutes({
      database: up,
      redis: up,
      runtime: async () => status,
      storage: up,
      identityProvider: null,
      payment: null,
      weaknesses: () => [],
      stuck: () => null,
      draining: () => false,
      now: () => now,
      ...changes,
    }),
  });
}
async function get(path: string) {
  const response = await fetch(app?.url + path);
  return { status: response.status, text: await response.text() };
}
async function ready() {
  const { status, text } = await get("/health/ready");
  const body = JSON.parse(text) as {
    status: string;
    dependencies: Record<string, { status: string; latency_ms: number | null }>;
  };
  const states = Object.fromEntries(Object.entries(body.dependencies).map(([name, { status }]) => [name, status]));
  return { status, verdict: body.status, states, body };
}

test("/health is exactly this, with everything down", async () => {
  open({ database: down, redis: down, storage: down });
  expect(await get("/health")).toEqual({ status: 200, text: '{"status":"ok"}' });
  now += 5000;
  expect(await get("/health/live")).toEqual({
    status: 200,
    text: '{"status":"healthy","mode":"live","uptime_seconds":5}',
  });
});

test("probes that go well leave no log line, others do", async () => {
  let reason: string | null = null;
  open({ stuck: () => reason });
  await get("/health");
  await get("/health/live");
  reason = "the lane does not get on";
  await get("/health/live");
  const lines = app?.log.map((line) => JSON.parse(line)).filter(({ msg }) => msg === "request");
  expect(lines).toMatchObject([{ url: "/health/live", status: 503 }]);
});

test("a node whose lane does not get on is not alive", async () => {
  open({ stuck: () => "the lane does not get on" });
  const { status, text } = await get("/health/live");
  expect([status, JSON.parse(text)]).toMatchObject([503, { status: "stuck", reason: "the lane does not get on" }]);
});

test("readiness tells the reason that is meant for clients, and no other error's text", async () => {
  const database = () => Promise.reject(new NotReady("it is read-only"));
  open({ database, redis: () => Promise.reject(new Error("ENOENT /a/path")) });
  expect((await ready()).body.dependencies).toMatchObject({
    database: { status: "down", reason: "it is read-only" },
    redis: { status: "down", reason: "it fails" },
    queue: { status: "up", reason: null },
  });
});

test("a ready node says what it cannot hold agents to", async () => {
  const weaknesses = [{ code: "limit_not_enforced", message: "process: This node does not enforce: system_calls" }];
  open({ weaknesses: () => weaknesses });
  const { status, body } = await ready();
  expect([status, body]).toMatchObject([200, { status: "ready", warnings: weaknesses }]);
});

test("a ready node says so", async () => {
  open();
  const { status, verdict, states } = await ready();
  expect([status, verdict]).toEqual([200, "ready"]);
  expect(states).toEqual({
    database: "up",
    redis: "up",
    queue: "up",
    storage: "up",
    identity_provider: "disabled",
    payment: "disabled",
  });
});

test.each([
  [{ database: down }, 503, "unavailable", "database"],
  [{ redis: down }, 503, "unavailable", "redis"],
  [{ storage: down }, 200, "degraded", "storage"],
  [{ runtime: async () => ({ ...status, consuming: false }) }, 503, "unavailable", "queue"],
  [{ runtime: down as never }, 503, "unavailable", "queue"],
  [{ identityProvider: down }, 200, "degraded", "identity_provider"],
  [{ payment: down }, 200, "degraded", "payment"],
  [{ database: () => new Promise(() => {}) }, 503, "unavailable", "database"],
] as const)("with %# down", async (changes, expected, word, name) => {
  open(changes);
  const { status, verdict, states, body } = await ready();
  expect([status, verdict, states[name]]).toEqual([expected, word, "down"]);
  expect(body.dependencies[name]?.latency_ms ?? 0).toBeLessThan(1500);
});

test("a draining node is unavailable though all is up", async () => {
  open({ draining: () => true });
  const { status, verdict, states } = await ready();
  expect([status, verdict, states.database]).toEqual([503, "unavailable", "up"]);
});

test("findings are kept for 2 s", async () => {
  let probes = 0;
  open({ database: async () => probes++ });
  await Promise.all([ready(), ready(), ready()]);
  now += 1999;
  await ready();
  expect(probes).toBe(1);
  now += 1;
  await ready();
  expect(probes).toBe(2);
});
