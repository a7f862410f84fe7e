/** What is recorded of refusals: grouped, bounded, durable, and listed (docs/reference/volumes.md). */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { listViolations } from "../../../src/features/storage-violations/records.ts";
import { violationOfCall } from "../../../src/features/storage-violations/refused-call.ts";
import {
  createStorageViolations,
  type StorageViolations,
  type Violation,
} from "../../../src/features/storage-violations/service.ts";
import { pageOf } from "../../../src/http/paging.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";

let stores: TestStores;
let violations: StorageViolations;
let now = Date.UTC(2031, 4, 2, 10);
const open = () =>
  createStorageViolations({
    sql: stores.sql,
    now: () => now,
    newId: () => Bun.randomUUIDv7(),
    retentionDays: 90,
    warn: () => {},
  });
beforeAll(async () => {
  stores = await freshStores();
});
afterAll(() => stores.dispose());
beforeEach(async () => {
  await stores.sql`delete from storage_violations`;
  violations = open();
});

const climbing = (change: Partial<Violation> = {}): Violation => ({
  category: "path_traversal_blocked",
  tenant: "acme",
  by: "svc-consumer/ann",
  volumeId: null,
  executionId: null,
  path: "../x",
  operation: "files.upload",
  details: {},
  ...change,
});

const list = async (query: Parameters<typeof listViolations>[2] = {}, tenant: string | null = "acme") => {
  await violations.flush();
  return listViolations(stores.sql, tenant, query, pageOf(query, 2));
};

test("1,000 equal refusals are one record with a count, and one question of the volume", async () => {
  const volume = Bun.randomUUIDv7();
  let asked = 0;
  const settle = async () => {
    asked += 1;
    return { volumeId: volume };
  };
  for (let n = 0; n < 1_000; n++) violations.recordViolation(climbing({ settle }));
  await violations.flush();
  for (let n = 0; n < 10; n++) violations.recordViolation(climbing({ settle }));
  const { items } = await list();
  expect(items).toMatchObject([
    { type: "path_traversal_blocked", severity: "high", volume_id: volume, path: "../x", details: { count: 1_010 } },
  ]);
  expect(asked).toBe(1);
  now += 61_000;
  violations.recordViolation(climbing({ settle }));
  expect((await list()).items).toHaveLength(2);
});

test("different refusals of one caller are bounded; another caller's are told apart", async () => {
  for (let n = 0; n < 5_000; n++) violations.recordViolation(climbing({ path: `../${n}` }));
  violations.recordViolation(climbing({ by: "svc-consumer/ben" }));
  const { items } = await list({ limit: 500 });
  expect(items).toHaveLength(102);
  expect(items.find(({ operation }) => operation === "several")).toMatchObject({
    path: null,
    details: { further: true, count: 4_900 },
  });
});

test("asking for very many volumes tells of none that is not there", async () => {
  for (let n = 0; n < 150; n++) {
    violations.recordViolation(
      climbing({ category: "unauthorized_volume_access", asked: `${n}`, settle: async () => null }),
    );
  }
  expect((await list()).items).toEqual([]);
});

test("what turns out to be nothing leaves no record; what the store refuses is mended", async () => {
  violations.recordViolation(climbing({ category: "unauthorized_volume_access", settle: async () => null }));
  violations.recordViolation(climbing({ path: `..\0\ud800${"x".repeat(5_000)}`, details: { requested: "a\0" } }));
  const { items } = await list();
  expect(items).toHaveLength(1);
  expect(items[0]?.path).toHaveLength(1_023);
});

test("a record that is told again after a crash counts once", async () => {
  const id = Bun.randomUUIDv7();
  violations.recordViolation(climbing({ id, executionId: "e", category: "quota_exceeded" }));
  await violations.flush();
  const restarted = open();
  restarted.recordViolation(climbing({ id, executionId: "e", category: "quota_exceeded" }));
  await restarted.stop();
  expect((await list({ execution_id: "e" })).items).toMatchObject([{ id, details: { count: 1 } }]);
});

test("what cannot be written is written later; age erases", async () => {
  violations.recordViolation(climbing());
  await stores.sql`alter table storage_violations rename to away`;
  expect(violations.flush()).rejects.toThrow();
  await violations.flush().catch(() => {});
  await stores.sql`alter table away rename to storage_violations`;
  expect((await list()).items).toHaveLength(1);
  await stores.sql`update storage_violations set last_seen_at = ${new Date(now - 91 * 86_400_000)}`;
  const later = open();
  await later.stop();
  expect((await list()).items).toHaveLength(0);
});

test("filters narrow, pages follow, other tenants stay out unless all are asked for", async () => {
  for (const [n, category] of (["path_traversal_blocked", "quota_exceeded", "quota_exceeded"] as const).entries()) {
    now += 1_000;
    violations.recordViolation(climbing({ category, executionId: `e${n}` }));
  }
  violations.recordViolation(climbing({ tenant: "other" }));
  expect((await list()).items.map(({ execution_id }) => execution_id)).toEqual(["e2", "e1", "e0"]);
  expect((await list({ type: "quota_exceeded" })).count).toBe(2);
  expect((await list({ severity: "high" })).count).toBe(1);
  expect((await list({ severity: "unknown" })).count).toBe(0);
  expect((await list({ since: new Date(now).toISOString() })).items).toMatchObject([{ execution_id: "e2" }]);
  const first = await list({ limit: 2 });
  expect(await list({ limit: 2, cursor: first.next_cursor ?? "" })).toMatchObject({ count: 1, next_cursor: null });
  expect((await list({}, null)).count).toBe(4);
  expect((await list({}, "other")).count).toBe(1);
});

test("of refused calls of tools those for a path of files are violations", () => {
  const call = {
    tenant: "acme",
    executionId: "e",
    sessionId: "s",
    toolName: "fs.read",
    violationType: "path_traversal_attempt",
    details: { attempted: "/workspace/../etc" },
  };
  expect(violationOfCall(call)).toMatchObject({
    category: "path_traversal_blocked",
    executionId: "e",
    path: "/workspace/../etc",
    operation: "fs.read",
  });
  expect(violationOfCall({ ...call, violationType: "path_outside_boundary" })?.category).toBe(
    "filesystem_policy_violation",
  );
  expect(violationOfCall({ ...call, toolName: "cmd.run" })).toBeNull();
  expect(violationOfCall({ ...call, violationType: "tool_not_allowed" })).toBeNull();
});
