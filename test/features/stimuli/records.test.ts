/** Rows of stimuli on their way: taken up by one at a time, settled once, many in a statement. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import type { Settlement } from "../../../actors/stimulus/stimulus.ts";
import { type StimulusRecords, stimulusRecords } from "../../../src/features/stimuli/intake/records.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";
import { putKey, putRow } from "./rows.ts";

let stores: TestStores;
let records: StimulusRecords;
let at = Date.parse("2026-03-01T12:00:00Z");
beforeAll(async () => {
  stores = await freshStores();
  records = stimulusRecords(stores.sql, () => at);
});
afterAll(() => stores.dispose());
beforeEach(async () => {
  at = Date.parse("2026-03-01T12:00:00Z");
  await stores.sql`truncate stimuli, stimulus_keys`;
});

const put = (given: Parameters<typeof putRow>[1] = {}) => putRow(stores.sql, { received_at: new Date(at), ...given });
const north = (id: string, attempts = 1) => ({ tenant: "north", id, attempts });
async function row(id: string, tenant = "north") {
  const [found] = await stores.sql`select * from stimuli where tenant = ${tenant} and id = ${id}`;
  return found;
}
const keys = async () =>
  (await stores.sql<{ stimulus_id: string }[]>`select stimulus_id from stimulus_keys`).map((k) => k.stimulus_id);

const detail = {
  routing_mode: "deterministic",
  workflow_id: Bun.randomUUIDv7(),
  workflow_name: "on-push",
  confidence: 1,
  threshold: null,
  reasoning: null,
  router_agent_id: null,
  router_execution_id: null,
} as const;
const classified = { status: "classified", started: {}, detail } as unknown as Settlement;
const failed = (more: object = {}) =>
  ({
    status: "start_failed",
    code: "workflow_error",
    message: "The workflow could not be started",
    extras: { cause_code: "invalid_input" },
    detail,
    ...more,
  }) as Extract<Settlement, { code: string }>;

test("a started run ends it; its key stays", async () => {
  const id = await put({ idempotency_key: "k" });
  await putKey(stores.sql, id, "k");
  at += 5;
  expect(await records.settle(north(id), classified)).toBe(true);
  expect(await row(id)).toMatchObject({
    status: "classified",
    dead_letter: false,
    classification: detail,
    error_code: null,
    error_message: null,
    last_event_at: new Date(at),
  });
  expect(await keys()).toEqual([id]);
});

test("a failure makes it a dead letter and lets go of its key, of its own alone", async () => {
  const [one, other] = [await put({ idempotency_key: "k" }), await put({ idempotency_key: "held" })];
  await putKey(stores.sql, one, "k");
  const holder = Bun.randomUUIDv7();
  await putKey(stores.sql, holder, "held");
  const rejected = failed({ status: "rejected", code: "no_router_configured", detail: null, extras: {} });
  expect(await Promise.all([records.settle(north(one), rejected), records.settle(north(other), failed())])).toEqual([
    true,
    true,
  ]);
  expect(await row(one)).toMatchObject({
    status: "rejected",
    dead_letter: true,
    error_code: "no_router_configured",
    classification: null,
    error_details: null,
  });
  expect(await row(other)).toMatchObject({
    status: "start_failed",
    dead_letter: true,
    error_details: { cause_code: "invalid_input" },
    classification: detail,
  });
  expect(await keys()).toEqual([holder]);
});

test("only what is received is settled, and once", async () => {
  const id = await put();
  const foreign = await put({ tenant: "south" });
  expect(await records.settle(north(foreign), failed())).toBe(false);
  expect(await records.settle(north(id), classified)).toBe(true);
  expect(await records.settle(north(id), failed())).toBe(false);
  expect(await records.retry(north(id), failed(), at)).toBe(false);
  expect(await records.renew(north(id))).toBe(false);
  expect((await row(id))?.status).toBe("classified");
  expect((await row(foreign, "south"))?.status).toBe("received");
});

test("an attempt gives up its own lease, and no other's", async () => {
  const id = await put();
  const [mine] = await records.due(1);
  expect(mine?.id).toBe(id);
  expect(await records.due(1)).toEqual([]);
  await records.release({ ...north(id), attempts: 7 }, at);
  await records.release({ ...north(id), tenant: "south" }, at);
  expect(await records.due(1)).toEqual([]);
  await records.release({ ...north(id), attempts: mine?.attempts ?? 0 }, at + 5);
  expect(await records.due(1)).toEqual([]);
  at += 5;
  const [next] = await records.due(1);
  expect(next).toMatchObject({ attempts: (mine?.attempts ?? 0) + 1, failures: 0 });
});

test("what strangers and agents wrote does not keep others from being settled", async () => {
  const [one, other] = [await put(), await put()];
  const hostile = failed({
    message: 'a\0b\ud800 \\ " {',
    extras: { workflow: "x\0\udc00", __proto__: null },
    detail: { ...detail, reasoning: '\0\ud800{}",\\', confidence: Number.NaN },
  });
  expect(await Promise.all([records.settle(north(one), hostile), records.settle(north(other), classified)])).toEqual([
    true,
    true,
  ]);
  expect(await row(one)).toMatchObject({
    error_message: 'ab\ufffd \\ " {',
    error_details: { workflow: "x\ufffd" },
    classification: { reasoning: '\ufffd{}",\\', confidence: null },
  });
});

test("a replay that started a run removes its original; a failed one is told on it", async () => {
  const original = await put({ status: "rejected", dead_letter: true });
  const inVain = await put({ channel: "replay", replay_of: original });
  await records.settle(north(inVain), failed());
  expect(await row(inVain)).toMatchObject({ status: "start_failed", dead_letter: false });
  const { error_code, error_details } = (await row(inVain)) ?? {};
  expect(await row(original)).toMatchObject({
    status: "start_failed",
    dead_letter: true,
    replayed_by: null,
    error_code,
    error_details,
    attempts: 2,
  });
  const replay = await put({ channel: "replay", replay_of: original });
  await records.settle(north(replay), classified);
  expect(await row(original)).toMatchObject({ status: "start_failed", dead_letter: false, replayed_by: replay });
});

test("a postponed one is due then, is classified anew, and keeps its key", async () => {
  const id = await put({ acknowledge: "received", idempotency_key: "k", attempts: 0 });
  await putKey(stores.sql, id, "k");
  expect(await records.due(10)).toMatchObject([{ id, attempts: 1, key: "k", replayOf: null, receivedAt: at }]);
  await stores.sql`update stimuli set router_execution_id = ${Bun.randomUUIDv7()}`;
  expect(await records.retry(north(id), failed(), at + 10_000)).toBe(true);
  expect(await row(id)).toMatchObject({
    status: "received",
    dead_letter: false,
    error_code: "workflow_error",
    router_execution_id: null,
  });
  at += 9_999;
  expect(await records.due(10)).toEqual([]);
  expect(records.waits()).toBe(true);
  at += 1;
  expect(await records.due(10)).toMatchObject([{ id, attempts: 2, failures: 1 }]);
  expect(await keys()).toEqual([id]);
  await records.settle(north(id), classified);
  expect(await row(id)).toMatchObject({ error_code: null, error_message: null, error_details: null });
  expect(await records.due(10)).toEqual([]);
  expect(records.waits()).toBe(false);
});

test("an attempt that was taken over may only say that the run was started", async () => {
  const id = await put({ acknowledge: "received", attempts: 0 });
  const [first] = await records.due(10);
  at += 31_000;
  const [second] = await records.due(10);
  expect([first?.attempts, second?.attempts]).toEqual([1, 2]);
  expect(await records.settle(north(id, 1), failed())).toBe(false);
  expect(await records.retry(north(id, 1), failed(), at)).toBe(false);
  expect((await row(id))?.status).toBe("received");
  expect(await records.settle(north(id, 1), classified)).toBe(true);
});

test("what belongs to a tenant that is suspended is held until it is not", async () => {
  await stores.sql`insert into tenants (slug, kind, status, display_name) values ('held', 'enterprise', 'suspended', 'held')`;
  const id = await put({ tenant: "held" });
  expect(await records.due(10)).toEqual([]);
  await stores.sql`update tenants set status = 'active' where slug = 'held'`;
  expect(await records.due(10)).toMatchObject([{ id, tenant: "held" }]);
});

test("a tenant with many that wait leaves others their turn, also one whose are large", async () => {
  for (const slug of ["flood", "large"])
    await stores.sql`insert into tenants (slug, kind, status, display_name) values (${slug}, 'enterprise', 'active', ${slug})`;
  for (let index = 0; index < 40; index++) await put({ tenant: "flood" });
  for (let index = 0; index < 5; index++) await put({ tenant: "large", content: "x".repeat(600_000) });
  const id = await put();
  expect((await records.due(8)).map((one) => one.id)).toContain(id);
  const counts: Record<string, number> = {};
  for (let taken = await records.due(8); taken.length > 0; taken = await records.due(8)) {
    for (const { tenant } of taken) counts[tenant] = (counts[tenant] ?? 0) + 1;
    expect(taken.filter(({ tenant }) => tenant === "large").length).toBeLessThanOrEqual(2);
  }
  expect(counts.flood).toBeGreaterThan(30);
  expect((await stores.sql`select from stimuli where attempts = 0`).count).toBe(0);
});

test("one worker at a time takes up a stimulus, for as long as its lease is renewed", async () => {
  const ids = await Promise.all(Array.from({ length: 40 }, () => put()));
  const taken = (await Promise.all([records.due(30), records.due(30), records.due(30)])).flat().map(({ id }) => id);
  expect(taken.toSorted()).toEqual(ids.toSorted());
  at += 8_000;
  const kept = ids[0] ?? "";
  expect(await records.renew(north(kept))).toBe(true);
  at += 10_000;
  expect((await records.due(100)).map(({ id }) => id)).toEqual(ids.filter((id) => id !== kept).toSorted());
});

test("the oldest are taken first, none of tenants that are left alone", async () => {
  const due = (ms: number) => ({ due_at: new Date(at + ms), received_at: new Date(at) });
  const last = await put({ ...due(-1) });
  const first = await put({ ...due(-3) });
  const south = await put({ ...due(-2), tenant: "south" });
  await put(due(1));
  expect((await records.due(1, ["south"])).map(({ id }) => id)).toEqual([first]);
  expect((await records.due(5, ["south"])).map(({ id }) => id)).toEqual([last]);
  expect((await records.due(5)).map(({ id }) => id)).toEqual([south]);
});

test("a stimulus comes back as it was accepted", async () => {
  const headers = '{"__proto__":"x","x-a":"1"}';
  const id = await put({ content: "Grüße \u{1f600}", content_type: "text/plain", headers });
  await stores.sql`update stimuli set override = '{"workflow":"w","version":null}'`;
  const [stimulus] = await records.due(1);
  expect(stimulus).toMatchObject({
    tenant: "north",
    id,
    source: "crm",
    channel: "webhook",
    acknowledge: "routed",
    content: "Grüße \u{1f600}",
    contentEncoding: "utf-8",
    contentType: "text/plain",
    contentSize: 12,
    headersTruncated: false,
    key: null,
    sourceId: null,
    override: { workflow: "w", version: null },
    routerExecutionId: null,
    receivedBy: { kind: "webhook", sub: "webhook:crm", email: null, tier: null, realm: null },
  });
  expect(JSON.stringify(stimulus?.headers)).toBe(headers);
});

test("repeats are counted, many at once and from two nodes", async () => {
  const [one, other] = [await put(), await put()];
  const second = stimulusRecords(stores.sql, () => at);
  await Promise.all(
    Array.from({ length: 300 }, (_, index) =>
      (index % 2 ? records : second).duplicate("north", index % 3 ? one : other),
    ),
  );
  await records.duplicate("south", one);
  expect((await row(one))?.duplicate_count).toBe(200);
  expect((await row(other))?.duplicate_count).toBe(100);
});

test("the backlog is acknowledged and not ended, per tenant, counted up to a bound", async () => {
  for (let n = 0; n < 3; n++) await put({ acknowledge: "received" });
  await put({ acknowledge: "received", status: "classified" });
  await put();
  await put({ acknowledge: "received", tenant: "south" });
  const counted = await records.backlogOf(["north", "south", "east"]);
  expect([counted.get("north"), counted.get("south"), counted.get("east") ?? 0]).toEqual([3, 1, 0]);
  expect((await records.backlogOf(["north"], 2)).get("north")).toBe(2);
});

test("of those asked for, the ones still under way are known", async () => {
  const [open, over, foreign] = [await put(), await put({ status: "rejected" }), await put({ tenant: "south" })];
  expect(await records.stillReceived([open, over, foreign, Bun.randomUUIDv7()].map(north))).toEqual(new Set([open]));
});

test("a failed statement fails all its changes, and the next one is tried", async () => {
  const broken = stimulusRecords(stores.sql, () => Number.NaN);
  const id = await put();
  await expect(broken.settle(north(id), classified)).rejects.toThrow();
  expect(await records.settle(north(id), classified)).toBe(true);
});
