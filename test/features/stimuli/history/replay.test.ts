/** Taking stimuli in once more, over HTTP. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { caller } from "../../../harness/callers.ts";
import { until } from "../../../harness/until.ts";
import { putKey } from "../rows.ts";
import { type Fixture, openFixture } from "./fixture.ts";

let fixture: Fixture;
const north = caller("north", { kind: "operator", userId: "ada" });
beforeAll(async () => {
  fixture = await openFixture();
});
afterAll(() => fixture.dispose());
beforeEach(() => fixture.reset());

const replay = (id: string, body?: object | string, token = north) =>
  fixture.call(token, "POST", `/v1/stimuli/${id}/replay`, body);
const many = (body: object) => fixture.call(north, "POST", "/v1/stimuli/dead-letters/replay", body);
const one = async (id: string) => (await fixture.call(north, "GET", `/v1/stimuli/${id}`)).body.stimulus;
const codeOf = async (answer: ReturnType<typeof replay>) => {
  const { status, body } = await answer;
  return [status, body.code];
};

test("a replayed dead letter is a new stimulus, and is removed once that is routed", async () => {
  const headers = '{"x-github-event":"push"}';
  const id = await fixture.dead({ content: "aGk=", content_encoding: "base64", content_type: "image/png", headers });
  const before = await one(id);
  const { status, body, headers: sent } = await replay(id);
  expect(status).toBe(200);
  expect(body).toMatchObject({ status: "classified", replay_of: id });
  expect(sent.get("location")).toBe(`/v1/workflows/executions/${body.workflow_execution_id}`);
  expect(await one(id)).toMatchObject({ status: "rejected", dead_letter: false, replayed_by: body.stimulus_id });
  const { content_size, content_sha256 } = before;
  expect(await one(body.stimulus_id)).toMatchObject({
    channel: "replay",
    source: "crm",
    content: "aGk=",
    content_encoding: "base64",
    content_type: "image/png",
    content_size,
    content_sha256,
    headers: JSON.parse(headers),
    replay_of: id,
    received_by: { kind: "operator", sub: "ada" },
    workflow_execution_id: body.workflow_execution_id,
  });
  expect(await fixture.audited()).toEqual([
    {
      action: "stimulus.replayed",
      target_id: id,
      details: { source: "crm", status: "rejected", force: false, workflow: null, workflow_version: null },
    },
  ]);
  expect(fixture.reports).toEqual(["stimulus_replayed"]);
});

test("a replay with edited content carries that, and its original keeps its own", async () => {
  const id = await fixture.dead({ content: '{"n":1}', content_type: "application/json" });
  const { content_sha256 } = await one(id);
  const { body } = await replay(id, { content: '{"n":2}' });
  expect(await one(body.stimulus_id)).toMatchObject({ content: '{"n":2}', content_size: 7, replay_of: id });
  expect(await one(id)).toMatchObject({ content: '{"n":1}', content_sha256, replayed_by: body.stimulus_id });
  expect((await fixture.audited())[0]?.details).toMatchObject({
    edited_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
  for (const content of [null, " ", "\ud800"])
    expect(await codeOf(replay(id, { content }))).toEqual([422, "validation_failed"]);
  expect(await codeOf(replay(id, { content: "x".repeat(1_048_577) }))).toEqual([413, "body_too_large"]);
});

describe("a failed replay", () => {
  const listed = async (path: string): Promise<string[]> =>
    (await fixture.call(north, "GET", path)).body.items.map(({ id }: { id: string }) => id);

  test("belongs to its original, which says how it ended and can be tried again", async () => {
    const id = await fixture.dead();
    fixture.route(() => "workflow_error");
    const { status, body } = await replay(id);
    expect([status, body.code]).toEqual([500, "workflow_error"]);
    expect(await one(id)).toMatchObject({
      status: "start_failed",
      error_code: "workflow_error",
      dead_letter: true,
      replayed_by: null,
      attempts: 2,
    });
    expect(await one(body.stimulus_id)).toMatchObject({ status: "start_failed", dead_letter: false, replay_of: id });
    for (const path of ["", "/dead-letters", "?status=start_failed", "?dead_letter=true"]) {
      expect([path, await listed(`/v1/stimuli${path}`)]).toEqual([path, [id]]);
    }
    expect(await listed("/v1/stimuli?channel=replay")).toEqual([]);
    // By its own id it is the original that is replayed.
    fixture.route(() => null);
    const again = await replay(body.stimulus_id);
    expect([again.status, again.body.replay_of]).toEqual([200, id]);
    expect(await one(id)).toMatchObject({ dead_letter: false, replayed_by: again.body.stimulus_id });
    expect(await codeOf(replay(body.stimulus_id))).toEqual([409, "stimulus_already_routed"]);
    expect(await listed("/v1/stimuli")).toEqual([again.body.stimulus_id, id]);
  });

  test("does not make a request for many run one event twice", async () => {
    const id = await fixture.dead();
    fixture.route(() => "workflow_error");
    const failures = [(await replay(id)).body.stimulus_id, (await replay(id)).body.stimulus_id];
    fixture.arrivals.length = 0;
    fixture.route(() => null);
    const { body } = await many({ ids: [...failures, id] });
    expect(body.succeeded).toBe(1);
    expect(fixture.arrivals).toMatchObject([{ replayOf: id }]);
  });

  test("of what was routed or discarded changes nothing of it", async () => {
    for (const status of ["classified", "discarded"]) {
      const id = await fixture.put({ status });
      fixture.route(() => "workflow_error");
      const { body } = await replay(id, { force: true });
      expect(await one(id)).toMatchObject({ status, dead_letter: false, error_code: null });
      expect(await one(body.stimulus_id)).toMatchObject({ dead_letter: false });
    }
    expect(await listed("/v1/stimuli/dead-letters")).toEqual([]);
  });

  test("is a dead letter of its own once its original is erased", async () => {
    const gone = Bun.randomUUIDv7();
    const id = await fixture.dead({ replay_of: gone });
    expect(await listed("/v1/stimuli/dead-letters")).toEqual([id]);
    expect((await replay(id)).body.replay_of).toBe(id);
  });
});

describe("under an Idempotency-Key", () => {
  const keyed = (id: string, key: string, body?: object) =>
    fixture.call(north, "POST", `/v1/stimuli/${id}/replay`, body, { "idempotency-key": key });

  test("a replay is done once and answered alike", async () => {
    const id = await fixture.dead();
    const first = await keyed(id, "k-1", { force: true });
    const again = await keyed(id, "k-1", { force: true });
    expect([again.status, again.headers.get("idempotent-replay")]).toEqual([200, "true"]);
    expect(again.body).toEqual(first.body);
    expect(fixture.arrivals).toHaveLength(1);
    expect((await keyed(id, "k-2", { force: true })).body.stimulus_id).not.toBe(first.body.stimulus_id);
  });

  test("a replay whose answer was lost is told from its stimulus", async () => {
    const id = await fixture.dead();
    const first = await keyed(id, "k-3", { force: true });
    // As after the loss of the node: the work is known, its answer is not.
    const forget = () => fixture.sql`update idempotency_keys set status = null, body = null, headers = null`;
    await forget();
    const { stimulus_id, workflow_execution_id } = first.body;
    const told = await keyed(id, "k-3", { force: true });
    expect(told.body).toMatchObject({ stimulus_id, workflow_execution_id, status: "classified", replay_of: id });
    await fixture.sql`update stimuli set status = 'received' where id = ${first.body.stimulus_id}`;
    await forget();
    const open = await keyed(id, "k-3", { force: true });
    expect([open.status, open.body.stimulus_id]).toEqual([503, first.body.stimulus_id]);
    await fixture.sql`update stimuli set status = 'start_failed', error_code = 'workflow_error', error_message = 'why',
      error_details = '{"cause_code":"invalid_input"}' where id = ${first.body.stimulus_id}`;
    const failed = await keyed(id, "k-3", { force: true });
    expect([failed.status, failed.body]).toMatchObject([500, { code: "workflow_error", cause_code: "invalid_input" }]);
    expect(fixture.arrivals).toHaveLength(1);
  });

  test("a request for many is answered alike", async () => {
    const ids = [await fixture.dead(), await fixture.dead()];
    const ask = () =>
      fixture.call(north, "POST", "/v1/stimuli/dead-letters/replay", { ids }, { "idempotency-key": "m-1" });
    const first = await ask();
    expect(first.body.succeeded).toBe(2);
    expect((await ask()).body).toEqual(first.body);
    expect(fixture.arrivals).toHaveLength(2);
  });
});

describe("a stimulus", () => {
  test.each([
    ["received", "stimulus_in_progress"],
    ["classified", "stimulus_already_routed"],
    ["discarded", "stimulus_discarded"],
  ])("that is %s is not replayed: %s", async (status, code) => {
    const id = await fixture.put({ status });
    expect(await codeOf(replay(id))).toEqual([409, code]);
    const forced = await codeOf(replay(id, { force: true }));
    expect(forced).toEqual(status === "received" ? [409, code] : [200, undefined]);
    expect(fixture.arrivals).toHaveLength(status === "received" ? 0 : 1);
    expect(await fixture.audited()).toHaveLength(fixture.arrivals.length);
  });

  test("whose key is held by a success is replayed by force alone", async () => {
    const id = await fixture.dead({ idempotency_key: "k" });
    const holder = await fixture.put({ status: "classified", idempotency_key: "k" });
    await putKey(fixture.sql, holder, "k");
    expect(await codeOf(replay(id))).toEqual([409, "idempotent_duplicate"]);
    expect(await codeOf(replay(id, { force: true }))).toEqual([200, undefined]);
    const [key] = await fixture.sql<{ stimulus_id: string }[]>`select stimulus_id from stimulus_keys`;
    expect(key?.stimulus_id).toBe(holder);
  });

  test("takes its key along, so that a second replay is a repeat", async () => {
    const id = await fixture.dead({ idempotency_key: "k" });
    const { body } = await replay(id);
    expect(await one(body.stimulus_id)).toMatchObject({ idempotency_key: "k" });
    expect(await codeOf(replay(id))).toEqual([409, "idempotent_duplicate"]);
  });

  test("without a key is not replayed twice either", async () => {
    const id = await fixture.dead();
    expect((await replay(id)).status).toBe(200);
    expect(await codeOf(replay(id))).toEqual([409, "stimulus_already_routed"]);
    expect((await replay(id, { force: true })).status).toBe(200);
  });

  test("is replayed by one at a time", async () => {
    const id = await fixture.dead();
    const { promise: routed, resolve: route } = Promise.withResolvers<null>();
    fixture.route(() => routed);
    const first = replay(id);
    await until(() => fixture.arrivals.length === 1, { what: "the replay to begin" });
    expect(await codeOf(replay(id))).toEqual([409, "stimulus_in_progress"]);
    route(null);
    expect((await first).status).toBe(200);
    expect(fixture.arrivals).toHaveLength(1);
  });

  test("is not replayed while a replay of it goes on elsewhere", async () => {
    const id = await fixture.dead();
    const under = await fixture.put({ channel: "replay", replay_of: id });
    expect(await codeOf(replay(id))).toEqual([409, "stimulus_in_progress"]);
    await fixture.sql`update stimuli set status = 'start_failed' where id = ${under}`;
    expect((await replay(id)).status).toBe(200);
  });

  test("of another tenant is not found", async () => {
    const id = await fixture.dead({ tenant: "south" });
    expect(await codeOf(replay(id))).toEqual([404, "stimulus_not_found"]);
    expect(await codeOf(replay("1"))).toEqual([400, "invalid_id"]);
    expect(await fixture.audited()).toEqual([]);
  });
});

test("a replay may name its workflow", async () => {
  const id = await fixture.dead();
  await replay(id, { workflow: "refund", workflow_version: "1.2.0", force: null });
  await replay(await fixture.dead(), { workflow: "refund" });
  expect(fixture.arrivals.map(({ override }) => override)).toEqual([
    { workflow: "refund", version: "1.2.0" },
    { workflow: "refund", version: null },
  ]);
  expect((await fixture.audited())[0]?.details).toMatchObject({ workflow: "refund", workflow_version: "1.2.0" });
});

test.each([
  { workflow: "" },
  { workflow: "a\0b" },
  { workflow: "\ud800" },
  { workflow: "x".repeat(201) },
  { workflow: 1 },
  { workflow_version: "1.0.0" },
  { workflow: "w", workflow_version: "\0" },
  { force: "yes" },
])("a replay with %j is refused", async (body) => {
  const id = await fixture.dead();
  expect(await codeOf(replay(id, body))).toEqual([422, "validation_failed"]);
  expect(fixture.arrivals).toEqual([]);
});

test("what cannot be audited is not replayed", async () => {
  const id = await fixture.dead();
  fixture.breakAudit(true);
  expect((await replay(id)).status).toBe(500);
  expect(fixture.arrivals).toEqual([]);
  fixture.breakAudit(false);
  expect((await replay(id)).status).toBe(200);
});

describe("many at once", () => {
  test("go each by itself", async () => {
    const [good, bad] = [await fixture.dead(), await fixture.dead()];
    const routed = await fixture.put({ status: "classified" });
    const foreign = await fixture.dead({ tenant: "south" });
    const unknown = Bun.randomUUIDv7();
    fixture.route(() => (fixture.arrivals.at(-1)?.replayOf === bad ? "router_agent_failed" : null));
    // One after the other, so that the outcome can tell whose turn it is.
    const first = await many({ ids: [bad] });
    expect(first.body).toMatchObject({ succeeded: 0, failed: 1 });
    const { status, body } = await many({ ids: [good.toUpperCase(), routed, foreign, good, unknown] });
    expect(status).toBe(200);
    expect(body).toMatchObject({ succeeded: 1, failed: 3 });
    const { replayed_by } = await one(good);
    expect(body.results).toEqual([
      {
        id: good,
        stimulus_id: replayed_by,
        workflow_execution_id: (await one(replayed_by)).workflow_execution_id,
        code: null,
      },
      { id: routed, stimulus_id: null, workflow_execution_id: null, code: "stimulus_already_routed" },
      { id: foreign, stimulus_id: null, workflow_execution_id: null, code: "stimulus_not_found" },
      { id: unknown, stimulus_id: null, workflow_execution_id: null, code: "stimulus_not_found" },
    ]);
    const [failed] = first.body.results;
    expect(failed).toMatchObject({ id: bad, workflow_execution_id: null, code: "router_agent_failed" });
    expect(await one(failed.stimulus_id)).toMatchObject({ replay_of: bad, dead_letter: false });
  });

  test("a hundred are all replayed", async () => {
    const ids = await Promise.all(Array.from({ length: 100 }, () => fixture.dead()));
    const { body } = await many({ ids });
    expect(body).toMatchObject({ succeeded: 100, failed: 0 });
    expect(body.results.map(({ id }: { id: string }) => id)).toEqual(ids);
    expect((await fixture.call(north, "GET", "/v1/stimuli/dead-letters")).body.count).toBe(0);
  });

  test("a fault of ours is one of that replay", async () => {
    const [broken, good] = [await fixture.dead(), await fixture.dead()];
    fixture.route(() => {
      if (fixture.arrivals.length === 1) throw new Error("a bug");
      return null;
    });
    expect((await many({ ids: [broken] })).body.results).toMatchObject([{ code: "internal_error" }]);
    expect((await many({ ids: [good] })).body.succeeded).toBe(1);
  });

  test.each([[{}], [{ ids: [] }], [{ ids: ["1"] }], [{ ids: "x" }], [{ ids: Array(101).fill(Bun.randomUUIDv7()) }]])(
    "%j is refused",
    async (body) => {
      expect((await many(body)).status).toBe(422);
    },
  );
});
