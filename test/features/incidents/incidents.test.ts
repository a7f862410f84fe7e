import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { listIncidents } from "../../../src/features/incidents/records.ts";
import { createIncidents, type Incident, type Incidents } from "../../../src/features/incidents/service.ts";
import { pageOf } from "../../../src/http/paging.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";

let stores: TestStores;
let incidents: Incidents;
let now = Date.UTC(2031, 4, 2, 10);
const warnings: unknown[] = [];
beforeAll(async () => {
  stores = await freshStores();
});
afterAll(() => stores.dispose());
beforeEach(async () => {
  await stores.sql`delete from security_incidents`;
  warnings.length = 0;
  incidents = createIncidents({
    sql: stores.sql,
    now: () => now,
    newId: () => Bun.randomUUIDv7(),
    retentionDays: 90,
    warn: (error) => warnings.push(error),
  });
});

const blocked = (change: Partial<Incident> = {}): Incident => ({
  category: "egress_blocked",
  tenant: "acme",
  agentId: "a",
  executionId: "e",
  sessionId: null,
  toolName: null,
  violationType: "no_network",
  details: { host: "x.test", port: 443 },
  ...change,
});

interface Listed {
  readonly items: readonly {
    readonly id: string;
    readonly count: number;
    readonly severity: string;
    readonly category: string;
    readonly details: Record<string, unknown>;
    readonly created_at: string;
    readonly last_seen_at: string;
  }[];
  readonly next_cursor: string | null;
}
const list = async (query: Parameters<typeof listIncidents>[2] = {}, tenant = "acme"): Promise<Listed> =>
  (await listIncidents(stores.sql, tenant, query, pageOf(query, 2))) as unknown as Listed;

test("text that no store takes keeps no other incident from being written", async () => {
  incidents.report(blocked({ toolName: "a\0b\ud800", details: { attempted: "/x\0" } }));
  incidents.report(blocked({ tenant: "other" }));
  await incidents.flush();
  expect((await list({}, "other")).items).toHaveLength(1);
  expect((await list()).items).toMatchObject([{ details: { attempted: "/x" } }]);
});

test("equal incidents of a run within a minute are one record with a count", async () => {
  incidents.report(blocked());
  incidents.report(blocked());
  await incidents.flush();
  now += 59_000;
  incidents.report(blocked());
  incidents.report(blocked({ details: { host: "y.test", port: 443 } }));
  incidents.report(blocked({ executionId: "f" }));
  incidents.report(blocked({ tenant: "other" }));
  await incidents.flush();
  const { items } = await list({ execution_id: "e" });
  expect(items.map(({ details, count }) => [details.host, count])).toEqual([
    ["y.test", 1],
    ["x.test", 3],
  ]);
  expect(items[1]).toMatchObject({
    type: "egress_blocked",
    category: "egress_blocked",
    severity: "medium",
    tenant_id: "acme",
    agent_id: "a",
    execution_id: "e",
    session_id: null,
    tool_name: null,
    violation_type: "no_network",
    created_at: new Date(now - 59_000).toISOString(),
    occurred_at: new Date(now - 59_000).toISOString(),
    last_seen_at: new Date(now).toISOString(),
  });
  now += 2_000;
  incidents.report(blocked());
  await incidents.flush();
  expect((await list({ execution_id: "e" })).items.map(({ count }) => count)).toEqual([1, 1, 3]);
  expect((await list()).items).toHaveLength(4);
  expect((await list({}, "other")).items).toHaveLength(1);
  await incidents.stop();
});

test("filters and pages", async () => {
  const times: number[] = [];
  for (const category of ["egress_blocked", "ssrf_blocked", "replay_detected"] as const) {
    times.push(now);
    incidents.report(blocked({ category }));
    now += 1_000;
  }
  await incidents.flush();
  const categories = async (query: Parameters<typeof list>[0]) =>
    (await list(query)).items.map(({ category }) => category);
  expect(await categories({})).toEqual(["replay_detected", "ssrf_blocked", "egress_blocked"]);
  expect(await categories({ severity: "high" })).toEqual(["replay_detected", "ssrf_blocked"]);
  expect(await categories({ category: "ssrf_blocked" })).toEqual(["ssrf_blocked"]);
  expect(await categories({ type: "ssrf_blocked" })).toEqual(["ssrf_blocked"]);
  const second = new Date(times[1] ?? 0).toISOString();
  expect(await categories({ since: second })).toEqual(["replay_detected", "ssrf_blocked"]);
  expect(await categories({ until: second })).toEqual(["ssrf_blocked", "egress_blocked"]);
  expect(await categories({ execution_id: "nobody" })).toEqual([]);
  const first = await list({ limit: 2 });
  expect(await categories({ limit: 2, cursor: first.next_cursor ?? "" })).toEqual(["egress_blocked"]);
  expect(await categories({ cursor: Buffer.from('["x","y"]').toString("base64url") })).toEqual([]);
  await expect(list({ since: "yesterday" })).rejects.toMatchObject({ code: "validation_failed" });
  await incidents.stop();
});

test("a flood stays small, and is counted", async () => {
  for (let at = 0; at < 5_000; at++) incidents.report(blocked({ details: { host: `${at}.test`, port: 80 } }));
  incidents.report(blocked({ executionId: "f" }));
  await incidents.stop();
  const { items } = await list({ limit: 500 });
  expect(items).toHaveLength(102);
  expect(items.reduce((sum, { count }) => sum + count, 0)).toBe(5_001);
  expect(items.find(({ details }) => details.further === true)?.count).toBe(4_900);
});

test("what could not be written is written later, once", async () => {
  await incidents.flush();
  incidents.report(blocked());
  await stores.sql`alter table security_incidents rename to away`;
  await expect(incidents.flush()).rejects.toThrow();
  incidents.report(blocked());
  await stores.sql`alter table away rename to security_incidents`;
  await incidents.stop();
  expect((await list()).items.map(({ count }) => count)).toEqual([2]);
});

test("old incidents go", async () => {
  incidents.report(blocked());
  await incidents.stop();
  now += 91 * 86_400_000;
  const later = createIncidents({
    sql: stores.sql,
    now: () => now,
    newId: () => Bun.randomUUIDv7(),
    retentionDays: 90,
    warn: (error) => warnings.push(error),
  });
  await later.stop();
  expect((await list()).items).toEqual([]);
  expect(warnings).toEqual([]);
});
