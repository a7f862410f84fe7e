/** Runs that wait for stimuli (docs/reference/stimuli.md). */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { LooseJson } from "../../../harness/loose-json.ts";
import { StimuliFixture, secret, signed } from "../../stimuli/fixture.ts";
import { putRow } from "../../stimuli/rows.ts";

setDefaultTimeout(60_000);

let fixture: StimuliFixture;
beforeAll(async () => {
  fixture = await StimuliFixture.open();
  await fixture.workflow("on-order");
  await register("await-order", { source: "Orders", key: "order.id", equals: "{{input.order}}" });
});
afterAll(() => fixture.close());

/** A workflow that waits for one stimulus, and says so by the state that it ends in. */
const register = (name: string, stimulus: object, more: object = {}) =>
  fixture.register(name, {
    AWAIT: {
      kind: "Wait",
      stimulus,
      ...more,
      transitions: [
        { condition: "on_success", target: "PAID" },
        { condition: "on_timeout", target: "LATE" },
      ],
    },
    PAID: { kind: "System", command: "noop", transitions: [] },
    LATE: { kind: "System", command: "noop", transitions: [] },
  });

const waiting = (count: number, source = "orders") =>
  fixture.until(async () => {
    const [row] = await fixture.stores.sql`select count(*)::int as n from workflow_waits where source = ${source}`;
    return row?.n === count ? true : null;
  });

/** Starts a run and waits until it waits. */
async function begin(workflow: string, order: unknown, source = "orders"): Promise<string> {
  const [row] = await fixture.stores.sql`select count(*)::int as n from workflow_waits where source = ${source}`;
  const id = await fixture.start(workflow, { input: { order } });
  await waiting(row?.n + 1, source);
  return id;
}

const post = (order: unknown, source = "orders") => fixture.stimulus({ source, content: { order: { id: order } } });
const resultOf = (record: LooseJson) => record.blackboard.AWAIT;

describe("a run that waits for a key", () => {
  test("takes what comes with it, which is classified though nothing routes it", async () => {
    const [mine, other] = [await begin("await-order", "o-1"), await begin("await-order", "o-2")];
    const answer = await post("o-1");
    expect(answer.status).toBe(200);
    const { stimulus_id } = answer.body;
    expect(answer.body).toEqual({
      stimulus_id,
      workflow_execution_id: null,
      status: "classified",
      workflow_id: null,
      workflow_name: null,
      routing_mode: null,
      confidence: null,
      taken_by: [mine],
    });
    expect(answer.headers.get("location")).toBe(`/v1/stimuli/${stimulus_id}`);
    const ended = await fixture.ended(mine);
    expect(ended).toMatchObject({ status: "completed", current_state: "PAID" });
    expect(resultOf(ended)).toMatchObject({
      status: "success",
      by: "stimulus",
      stimulus_id,
      payload: { order: { id: "o-1" } },
      timed_out: false,
    });
    const record = await fixture.ok("GET", `/v1/stimuli/${stimulus_id}`);
    expect(record).toMatchObject({
      status: "classified",
      dead_letter: false,
      workflow_execution_id: null,
      taken_by: [mine],
      error_code: null,
    });
    expect((await fixture.ok("GET", "/v1/stimuli/dead-letters?source=orders")).items).toEqual([]);
    expect((await fixture.record(other)).status).toBe("running");
    const refused = await post("o-3");
    expect([refused.status, refused.body.code]).toEqual([422, "no_router_configured"]);
    await post("o-2");
    await fixture.ended(other);
    await waiting(0);
  });

  test("takes what came before it within the hour, the oldest first", async () => {
    const at = (minutes: number) => new Date(Date.now() - minutes * 60_000);
    const row = (minutes: number) =>
      putRow(fixture.stores.sql, {
        tenant: "svc-system",
        source: "orders",
        status: "rejected",
        dead_letter: true,
        error_code: "no_router_configured",
        error_message: "none",
        content: '{"order":{"id":"early"}}',
        content_type: "application/json",
        received_at: at(minutes),
      });
    const [old, first, second] = [await row(61), await row(31), await row(30)];
    const run = await fixture.ended(await fixture.start("await-order", { input: { order: "early" } }));
    expect(resultOf(run).stimulus_id).toBe(first);
    const noted = await fixture.until(async () => {
      const record = await fixture.ok("GET", `/v1/stimuli/${first}`);
      return record.dead_letter ? null : record;
    });
    expect(noted).toMatchObject({ status: "classified", error_code: null, taken_by: [run.id] });
    for (const id of [old, second]) {
      expect(await fixture.ok("GET", `/v1/stimuli/${id}`)).toMatchObject({ status: "rejected", taken_by: [] });
    }
  });

  test("takes it beside the workflow that its route names, as others do that it fits", async () => {
    await fixture.route({ source: "shipped", workflow: "on-order", secret });
    await register("await-shipped", { source: "shipped", key: "order.id", equals: "{{input.order}}" });
    const runs = [await begin("await-shipped", 7, "shipped"), await begin("await-shipped", "7", "shipped")];
    const body = '{"order":{"id":7}}';
    const answer = await fixture.hook("shipped", body);
    expect(answer.body).toMatchObject({ status: "classified", workflow_name: "on-order" });
    expect(answer.body.taken_by.toSorted()).toEqual(runs.toSorted());
    expect((await fixture.ended(answer.body.workflow_execution_id)).status).toBe("completed");
    for (const run of runs) expect(resultOf(await fixture.ended(run)).payload).toEqual({ order: { id: 7 } });
    const later = await fixture.ended(await fixture.start("await-shipped", { input: { order: 7 } }));
    expect(resultOf(later).stimulus_id).toBe(answer.body.stimulus_id);
  });

  test("is told of what was only acknowledged, and of what is replayed", async () => {
    const [sent, replayed] = [await begin("await-order", "r-1"), await begin("await-order", "r-2")];
    const content = { order: { id: "r-1" } };
    const answer = await fixture.stimulus({ source: "orders", content }, { Prefer: "respond-async" });
    expect(answer.status).toBe(202);
    expect(await fixture.settled(answer.body.stimulus_id)).toMatchObject({ status: "classified", taken_by: [sent] });
    const stored = await putRow(fixture.stores.sql, {
      tenant: "svc-system",
      source: "orders",
      status: "rejected",
      dead_letter: true,
      error_code: "no_router_configured",
      content: '{"order":{"id":"r-2"}}',
      content_type: "application/json",
    });
    const replay = await fixture.ok("POST", `/v1/stimuli/${stored}/replay`, {});
    expect(replay).toMatchObject({ replay_of: stored, workflow_execution_id: null, taken_by: [replayed] });
    expect(await fixture.ok("GET", `/v1/stimuli/${stored}`)).toMatchObject({
      dead_letter: false,
      replayed_by: replay.stimulus_id,
    });
  });
});

describe("a run that waits without a key", () => {
  test("takes what its match holds for, over payload and headers", async () => {
    await fixture.route({ source: "hooks", secret });
    await register("await-hook", { source: "hooks", match: 'payload.n > 3 && headers.x-kind == "big"' });
    const run = await begin("await-hook", null, "hooks");
    const send = (n: number, kind: string) => {
      const body = JSON.stringify({ n });
      return fixture.hook("hooks", body, { signature: signed(body), headers: { "X-Kind": kind } });
    };
    for (const [n, kind] of [
      [5, "small"],
      [3, "big"],
    ] as const) {
      expect((await send(n, kind)).status).toBe(422);
    }
    expect((await fixture.record(run)).status).toBe("running");
    expect((await send(4, "big")).body.taken_by).toEqual([run]);
    expect(resultOf(await fixture.ended(run)).payload).toEqual({ n: 4 });
  });

  test("fails where a thousand others do so at its source", async () => {
    await register("await-any", { source: "crowded" });
    await fixture.stores.sql`
      insert into workflow_waits (taker, entry, tenant, source, state_name, key, equals, since)
      select gen_random_uuid(), 1, 'svc-system', 'crowded', 'AWAIT', '', '', now() - interval '1 minute'
      from generate_series(1, 999)`;
    const last = await begin("await-any", null, "crowded");
    const refused = await fixture.ended(await fixture.start("await-any"));
    expect(refused).toMatchObject({ status: "failed", error_code: "too_many_waits" });
    expect((await fixture.record(last)).status).toBe("running");
    await fixture.ok("POST", `/v1/workflows/executions/${last}/cancel`, {});
    await waiting(999, "crowded");
  });
});

test("a wait whose time is over goes on to where its time-out leads", async () => {
  await register("await-briefly", { source: "silent" }, { timeout: "1s" });
  const ended = await fixture.ended(await fixture.start("await-briefly"));
  expect(ended).toMatchObject({ status: "completed", current_state: "LATE" });
  expect(resultOf(ended)).toMatchObject({ status: "failed", timed_out: true });
  await waiting(0, "silent");
});

test("a state that is entered again takes what it has not taken, in order", async () => {
  await fixture.register("collect", {
    AWAIT: {
      kind: "Wait",
      stimulus: { source: "pieces" },
      max_state_visits: 3,
      transitions: [
        { condition: "custom", expression: "AWAIT.payload.last", target: "DONE" },
        { condition: "on_success", target: "KEEP" },
      ],
    },
    KEEP: {
      kind: "System",
      command: "update_blackboard",
      env: { seen: "{{seen}}{{AWAIT.payload.n}}" },
      transitions: [{ condition: "always", target: "AWAIT" }],
    },
    DONE: { kind: "System", command: "noop", transitions: [] },
  });
  const send = (n: number) => fixture.stimulus({ source: "pieces", content: { n, last: n === 3 } });
  for (const n of [1, 2]) await send(n);
  const id = await fixture.start("collect");
  await fixture.reached(id, ({ blackboard }) => blackboard.seen === "12", "both pieces to be taken");
  await waiting(1, "pieces");
  expect((await send(3)).body.taken_by).toEqual([id]);
  const ended = await fixture.ended(id);
  expect([ended.status, ended.blackboard.seen]).toEqual(["completed", "12"]);
});
