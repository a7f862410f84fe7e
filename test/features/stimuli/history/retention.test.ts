/** What is old goes; what is still to be processed, and what is young, stays. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import fc from "fast-check";
import { firstIdOf } from "../../../../actors/stimulus/ids.ts";
import { eraseOldStimuli } from "../../../../src/features/stimuli/history/retention.ts";
import { freshStores, type TestStores } from "../../../harness/stores.ts";
import { putKey, putRow } from "../rows.ts";

const now = Date.parse("2026-05-01T00:00:00Z");
const dayMs = 86_400_000;
let stores: TestStores;
beforeAll(async () => {
  stores = await freshStores();
});
afterAll(() => stores.dispose());
beforeEach(async () => {
  await stores.sql`truncate stimuli, stimulus_keys`;
});

const erase = () => eraseOldStimuli({ sql: stores.sql, retentionDays: 30, now: () => now });
const put = (ageMs: number, status: string, tenant = "north") =>
  putRow(stores.sql, { received_at: new Date(now - ageMs), status, tenant });
const left = async () => new Set((await stores.sql<{ id: string }[]>`select id from stimuli`).map(({ id }) => id));

test("every tenant's old stimuli go in any state, but for those still to be processed", async () => {
  const kept = [
    await put(40 * dayMs, "received"),
    await put(30 * dayMs - 1, "classified"),
    await put(30 * dayMs, "classified"),
    await put(0, "rejected", "south"),
  ];
  const statuses = ["classified", "rejected", "classification_failed", "start_failed", "discarded"];
  for (const status of statuses) await put(30 * dayMs + 1, status);
  await put(400 * dayMs, "classified", "a");
  await put(31 * dayMs, "classified", "south");
  await put(31 * dayMs, "classified", "z");
  expect(await erase()).toEqual({ stimuli: 8, keys: 0 });
  expect(await left()).toEqual(new Set(kept));
  expect(await erase()).toEqual({ stimuli: 0, keys: 0 });
});

test("keys go a day after their acceptance", async () => {
  const id = Bun.randomUUIDv7();
  await putKey(stores.sql, id, "old", new Date(now - dayMs));
  await putKey(stores.sql, id, "older", new Date(now - 3 * dayMs));
  await putKey(stores.sql, id, "young", new Date(now - dayMs + 1));
  expect(await erase()).toEqual({ stimuli: 0, keys: 2 });
  expect(await stores.sql`select 1 from stimulus_keys`).toHaveLength(1);
});

test("many go in portions, and two nodes do not get into each other's way", async () => {
  const old = now - 60 * dayMs;
  await stores.sql`
    insert into stimuli (tenant, id, source, channel, acknowledge, status, content, content_encoding, content_size,
      content_sha256, headers, headers_truncated, run_id, due_at, received_by_kind, received_by_sub, received_at,
      last_event_at)
    select 'tenant-' || n % 7, (${firstIdOf(old).slice(0, 24)} || lpad(to_hex(n), 12, '0'))::uuid, 'crm', 'api', 'routed',
      'classified', '', 'utf-8', 0, '', '{}', false, gen_random_uuid(), ${new Date(old)}, 'k', 's', ${new Date(old)},
      ${new Date(old)}
    from generate_series(1, 5000) n`;
  const [one, other] = await Promise.all([erase(), erase()]);
  expect(one.stimuli + other.stimuli).toBe(5000);
  expect((await left()).size).toBe(0);
});

test("the first id of a time lies between what was minted before and since", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2 ** 47 }), (ms) => {
      expect(firstIdOf(ms) < Bun.randomUUIDv7("hex", ms)).toBe(true);
      expect(Bun.randomUUIDv7("hex", ms - 1) < firstIdOf(ms)).toBe(true);
    }),
  );
  expect(firstIdOf(-1)).toBe("00000000-0000-0000-0000-000000000000");
  expect(firstIdOf(1e300)).toBe("ffffffff-ffff-0000-0000-000000000000");
});
