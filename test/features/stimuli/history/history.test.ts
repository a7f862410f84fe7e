/** Looking back at stimuli and giving them up, over HTTP. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { caller } from "../../../harness/callers.ts";
import { type Fixture, openFixture } from "./fixture.ts";

let fixture: Fixture;
const north = caller("north");
const south = caller("south");
beforeAll(async () => {
  fixture = await openFixture();
});
afterAll(() => fixture.dispose());
beforeEach(() => fixture.reset());

const start = Date.parse("2026-03-01T12:00:00Z");
const at = (second: number) => new Date(start + second * 1000);
const get = (path: string, token = north) => fixture.call(token, "GET", path);
const idsOf = async (path: string, token = north): Promise<string[]> =>
  (await get(path, token)).body.items.map(({ id }: { id: string }) => id);

describe("the list", () => {
  test("has the tenant's, newest first, twice, without headers and long contents", async () => {
    const old = await fixture.put({ received_at: at(0), headers: '{"x-a":"1"}' });
    const long = await fixture.put({ received_at: at(1), content: `${"x".repeat(2047)}é${"y".repeat(5000)}` });
    await fixture.put({ tenant: "south", received_at: at(2) });
    const { status, body } = await get("/v1/stimuli");
    expect(status).toBe(200);
    expect(body.items.map(({ id }: { id: string }) => id)).toEqual([long, old]);
    expect(body.stimuli).toEqual(body.items);
    expect(body).toMatchObject({ count: 2, next_cursor: null });
    expect(body.items[0]).toMatchObject({
      content: "x".repeat(2047),
      content_truncated: true,
      content_size: 7049,
      classification: null,
      created_at: "2026-03-01T12:00:01.000Z",
    });
    expect(body.items[1]).not.toHaveProperty("headers");
  });

  test("goes on where its cursor says, in both directions", async () => {
    const ids: string[] = [];
    for (let second = 0; second < 7; second++) {
      ids.push(await fixture.dead({ received_at: at(second) }));
      await fixture.dead({ received_at: at(second), tenant: "south" });
    }
    const lists = [
      ["/v1/stimuli", ids.toReversed()],
      ["/v1/stimuli/dead-letters", ids],
    ] as const;
    for (const [path, wanted] of lists) {
      const seen: string[] = [];
      for (let cursor = ""; ; ) {
        const { body } = await get(`${path}?limit=3${cursor}`);
        seen.push(...body.items.map(({ id }: { id: string }) => id));
        if (body.next_cursor === null) break;
        cursor = `&cursor=${body.next_cursor}`;
      }
      expect(seen).toEqual([...wanted]);
      expect(await idsOf(`${path}?limit=2&offset=3`)).toEqual(wanted.slice(3, 5));
    }
  });

  test("is filtered by everything at once or by each", async () => {
    const run = Bun.randomUUIDv7();
    const routed = await fixture.put({ received_at: at(0), status: "classified", source: "ci", channel: "api" });
    const dead = await fixture.dead({ received_at: at(10), source: "crm" });
    const open = await fixture.put({ received_at: at(20), channel: "replay" });
    await fixture.sql`insert into workflow_runs (run_id, tenant, workflow_id, workflow_name, workflow_version,
      status, started_at, root_run_id, stimulus_id)
      values (${run}, 'north', ${run}, 'w', '1', 'completed', ${at(0)}, ${run}, ${routed})`;
    const queries: [string, string[]][] = [
      ["source=ci", [routed]],
      ["source=CI", [routed]],
      ["source=nowhere", []],
      ["status=rejected", [dead]],
      ["status=rejected,%20received", [open, dead]],
      ["channel=api", [routed]],
      ["dead_letter=true", [dead]],
      ["dead_letter=false", [open, routed]],
      [`workflow_execution_id=${run.toUpperCase()}`, [routed]],
      [`workflow_execution_id=${Bun.randomUUIDv7()}`, []],
      [`from=${at(10).toISOString()}`, [open, dead]],
      [`to=${at(10).toISOString()}`, [dead, routed]],
      [`from=${at(1).toISOString()}&to=${at(19).toISOString()}`, [dead]],
      ["from=0001-01-01&to=9999-12-31", [open, dead, routed]],
      [`source=ci&status=classified&channel=api&dead_letter=false&workflow_execution_id=${run}`, [routed]],
      ["source=ci&status=rejected", []],
    ];
    for (const [query, wanted] of queries)
      expect([query, await idsOf(`/v1/stimuli?${query}`)]).toEqual([query, wanted]);
    expect(await idsOf(`/v1/stimuli?workflow_execution_id=${run}`, south)).toEqual([]);
    expect(await idsOf("/v1/stimuli/dead-letters?dead_letter=false")).toEqual([dead]);
  });

  test.each([
    "status=lost",
    "status=",
    "channel=fax",
    "dead_letter=perhaps",
    "workflow_execution_id=1",
    "from=yesterday",
    "from=0000-01-01",
    "to=99999-01-01",
    "limit=0",
    "limit=501",
    "cursor=e30",
    "source=%00",
    `source=${"x".repeat(129)}`,
  ])("refuses %s", async (query) => {
    const { status, body } = await get(`/v1/stimuli?${query}`);
    expect([status, body.code]).toEqual([422, "validation_failed"]);
    if (!query.startsWith("dead_letter")) expect((await get(`/v1/stimuli/dead-letters?${query}`)).status).toBe(422);
  });

  test("a cursor that was tampered with finds nothing", async () => {
    await fixture.put();
    const cursor = Buffer.from('["x\'; drop"]').toString("base64url");
    expect((await get(`/v1/stimuli?cursor=${cursor}`)).body.items).toEqual([]);
  });
});

describe("one", () => {
  test("is shown whole, and once more by its name", async () => {
    const content = "é".repeat(5000);
    const id = await fixture.put({ content, headers: '{"x-a":"1"}', idempotency_key: "k" });
    const { status, body } = await get(`/v1/stimuli/${id.toUpperCase()}`);
    expect(status).toBe(200);
    const { stimulus, ...record } = body;
    expect(stimulus).toEqual(record);
    expect(record).toMatchObject({
      id,
      stimulus_id: id,
      tenant_id: "north",
      content,
      content_truncated: false,
      headers: { "x-a": "1" },
      idempotency_key: "k",
      received_by: { kind: "webhook", sub: "webhook:crm" },
    });
  });

  test("that is foreign or unknown is not found, and no id is a bad one", async () => {
    const id = await fixture.put();
    expect((await get(`/v1/stimuli/${id}`, south)).body.code).toBe("stimulus_not_found");
    expect((await get(`/v1/stimuli/${Bun.randomUUIDv7()}`)).status).toBe(404);
    const { status, body } = await get("/v1/stimuli/1");
    expect([status, body.code]).toEqual([400, "invalid_id"]);
  });
});

describe("discarding", () => {
  const discard = (id: string, body?: object | string, token = north) =>
    fixture.call(token, "POST", `/v1/stimuli/${id}/discard`, body);

  test("removes a dead letter once, with an entry in the audit log", async () => {
    const id = await fixture.dead({ error_message: "no way" });
    const { status, body } = await discard(id, { reason: "spam" });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id,
      status: "discarded",
      dead_letter: false,
      discard_reason: "spam",
      discarded_by: { kind: "service_account", sub: "user-of-north" },
      rejection_reason: "no way",
    });
    expect(body.discarded_at).toBe(body.last_event_at);
    expect(await idsOf("/v1/stimuli/dead-letters")).toEqual([]);
    expect((await discard(id, { reason: "once more" })).body).toEqual(body);
    expect(await fixture.audited()).toEqual([
      {
        action: "stimulus.discarded",
        target_id: id,
        details: { source: "crm", status: "rejected", reason: "spam" },
      },
    ]);
    expect(fixture.reports).toEqual(["stimulus_discarded"]);
  });

  test("needs no body", async () => {
    expect((await discard(await fixture.dead())).body).toMatchObject({ status: "discarded", discard_reason: null });
  });

  test("is for dead letters alone", async () => {
    for (const status of ["received", "classified", "start_failed"]) {
      const refused = await discard(await fixture.put({ status }));
      expect([refused.status, refused.body.code]).toEqual([409, "not_a_dead_letter"]);
    }
    const foreign = await fixture.dead({ tenant: "south" });
    expect((await discard(foreign)).body.code).toBe("stimulus_not_found");
    expect((await discard("1")).status).toBe(400);
    expect(await fixture.audited()).toEqual([]);
  });

  test("refuses reasons that cannot be kept", async () => {
    const id = await fixture.dead();
    for (const reason of ["x".repeat(1025), "\0", "\ud800", 1])
      expect((await discard(id, { reason })).status).toBe(422);
    expect((await discard(id, "{")).status).toBe(400);
  });

  test("fails where it cannot be audited, and changes nothing", async () => {
    const id = await fixture.dead();
    fixture.breakAudit(true);
    expect((await discard(id)).status).toBe(500);
    expect(await idsOf("/v1/stimuli/dead-letters")).toEqual([id]);
  });
});

test("callers who may only read change nothing", async () => {
  const reader = caller("north", { scopes: new Set(["stimulus:list", "stimulus:read"]) });
  const id = await fixture.dead();
  expect(await idsOf("/v1/stimuli", reader)).toEqual([id]);
  expect((await get(`/v1/stimuli/${id}`, reader)).status).toBe(200);
  for (const path of [`${id}/discard`, `${id}/replay`, "dead-letters/replay"]) {
    const { status, body } = await fixture.call(reader, "POST", `/v1/stimuli/${path}`, { ids: [id] });
    expect([status, body.code]).toEqual([403, "insufficient_scope"]);
  }
  const blind = caller("north", { scopes: new Set() });
  for (const path of ["", "/dead-letters", `/${id}`]) expect((await get(`/v1/stimuli${path}`, blind)).status).toBe(403);
});
