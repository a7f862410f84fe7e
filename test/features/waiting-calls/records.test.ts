/** Rows of calls that wait outside of loops: places, grants and their end (docs/reference/tools.md). */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { waitingRecords } from "../../../src/features/waiting-calls/records.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";

let stores: TestStores;
let records: ReturnType<typeof waitingRecords>;
beforeAll(async () => {
  stores = await freshStores();
  records = waitingRecords(stores.sql);
});
afterAll(() => stores?.dispose());
beforeEach(async () => {
  await stores.sql`delete from waiting_calls`;
});

interface Row {
  readonly session?: string | null;
  readonly execution?: string | null;
  readonly until?: Date;
  readonly opened?: boolean;
  readonly grants?: string | null;
}
const hour = 3_600_000;
const ended = new Date(0);
async function insert({ session = null, execution = null, until, opened = true, grants = null }: Row): Promise<string> {
  const id = Bun.randomUUIDv7();
  await stores.sql`
    insert into waiting_calls (invocation_id, tenant, principal, session_id, execution_id, until, opened, grants)
    values (${id}, 'acme', 'p', ${session}, ${execution}, ${until ?? new Date(Date.now() + hour)}, ${opened}, ${grants})`;
  return id;
}
const ids = (rows: readonly { readonly invocation_id: string }[]) => rows.map(({ invocation_id }) => invocation_id);

test("only places of calls that were never opened are swept; others go with theirs", async () => {
  const longAgo = new Date(Date.now() - 3 * hour);
  const kept = [await insert({ until: longAgo }), await insert({ until: ended })];
  await insert({ until: longAgo, opened: false });
  const fresh = await insert({ until: new Date(), opened: false });
  await records.clear();
  const left = await stores.sql<{ invocation_id: string }[]>`select invocation_id from waiting_calls`;
  expect(ids(left).sort()).toEqual([...kept, fresh].sort());
});

test("what has ended is not taken back again, and is erased with its tenant", async () => {
  const waits = await insert({ session: "s", execution: "e" });
  const over = await insert({ session: "s", execution: "e", until: ended });
  expect(ids(await records.ofSession("acme", "s"))).toEqual([waits]);
  expect(ids(await records.ofTenant("acme", 10))).toEqual([waits]);
  expect(ids(await records.owned("00000000-0000-0000-0000-000000000000", 10))).toEqual([waits]);
  expect(ids(await records.allOfTenant("acme", 10)).sort()).toEqual([waits, over].sort());
  expect(ids(await records.ofTenant("other", 10))).toEqual([]);
});

test("eight places of a principal, those of a loop counted in, and none given twice", async () => {
  const take = (elsewhere = 0) => records.take(Bun.randomUUIDv7(), "acme", "p", elsewhere);
  expect(await take(8)).toBe(false);
  const taken = await Promise.all(Array.from({ length: 12 }, () => take(2)));
  expect(taken.filter(Boolean)).toHaveLength(6);
  expect(await take(2)).toBe(false);
  expect(await records.take(Bun.randomUUIDv7(), "other", "p", 0)).toBe(true);
});

test("grants are those of the session, or of a caller who needs none", async () => {
  const grant = { tool: "t", from: "manifest", sha256: null };
  await insert({ session: "s", grants: JSON.stringify([grant]), until: ended });
  await insert({ grants: JSON.stringify([{ ...grant, tool: "u" }]) });
  await insert({ execution: "e", grants: JSON.stringify([grant]) });
  expect(await records.grantsOf("acme", "p", "s")).toEqual([grant]);
  expect(await records.grantsOf("acme", "p", null)).toEqual([{ ...grant, tool: "u" }]);
  expect(await records.grantsOf("acme", "p", "other")).toEqual([]);
  expect(await records.grantsOf("other", "p", "s")).toEqual([]);
});
