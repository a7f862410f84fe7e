/** The series about executions and messages put aside, as Prometheus reads them. */
import { afterAll, expect, test } from "bun:test";
import { Registry } from "prom-client";
import { executionMetrics } from "../../../src/features/executions/metrics.ts";
import { executionRecords } from "../../../src/features/executions/records.ts";
import { freshStores } from "../../harness/stores.ts";

const stores = await freshStores();
afterAll(() => stores.dispose());

const counts = {
  turns: 0,
  commits: 0,
  deadLetters: 3,
  backlog: 4,
  backlogBytes: 0,
  cachedActors: 0,
  cachedBytes: 7,
  calls: 3,
  timers: 2,
  activitiesRunning: 0,
  activitiesWaiting: 5,
  activitiesWaitingBytes: 6,
  tails: 0,
};

test("unfinished executions by status, messages put aside, and no tenant's name", async () => {
  const rows = [
    ["running", null],
    ["running", null],
    ["pending", null],
    ["completed", "now()"],
  ] as const;
  for (const [status, ended] of rows) {
    await stores.sql`
      insert into executions (execution_id, tenant, agent_id, status, created_at, started_at, ended_at)
      values (${crypto.randomUUID()}, 'acme', ${crypto.randomUUID()}, ${status}, now(), now(),
        ${ended === null ? null : new Date()})`;
  }
  const registry = new Registry();
  for (const metric of executionMetrics(executionRecords(stores.sql), {
    counts: () => counts,
    waitingForVersion: () => Promise.resolve(7),
  }))
    registry.registerMetric(metric);
  const text = await registry.metrics();
  expect(text).toContain('svc_executions{status="running"} 2');
  expect(text).toContain('svc_executions{status="pending"} 1');
  expect(text).not.toContain("completed");
  expect(text).toContain("svc_dead_letters_total 3");
  expect(text).toContain("svc_messages_waiting_for_version 7");
  expect(text).not.toContain("acme");
});

test("a store that is away costs its series, not the page", async () => {
  const registry = new Registry();
  const away = { countUnfinished: () => Promise.reject(new Error("away")) };
  for (const metric of executionMetrics(away, { counts: () => counts, waitingForVersion: () => Promise.resolve(7) }))
    registry.registerMetric(metric);
  const text = await registry.metrics();
  expect(text).toContain("svc_dead_letters_total 3");
  expect(text).not.toContain('status="running"');
});
