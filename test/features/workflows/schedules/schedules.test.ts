/** Workflows that start by themselves, on a node (docs/reference/workflow-schedules.md). */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { until } from "../../../harness/until.ts";
import { type Fixture, openFixture } from "../../tenants/fixture.ts";
import { asking, callsOf, minute } from "./fixture.ts";

let at: Fixture;
let slug: string;
let ann: ReturnType<typeof callsOf>;
let stranger: ReturnType<typeof callsOf>;
beforeAll(async () => {
  at = await openFixture();
  slug = await at.newTenant();
  ann = callsOf(at, await at.member(slug));
  stranger = callsOf(at, await at.member(await at.newTenant(), "sam"));
});
afterAll(() => at?.dispose());

const nightly = { name: "nightly", cron: "30 2 * * *", timezone: "Europe/Berlin" };
const often = { name: "often", every: "60s" };
const hourly = { name: "hourly", every: 3600, input: { by: "clock" } };

/** A workflow of its own with these schedules. @returns its name and the ids of its schedules */
async function scheduled(schedules: readonly object[], states?: Record<string, object>) {
  const name = `by-clock-${crypto.randomUUID().slice(0, 8)}`;
  await ann.register(name, schedules, states === undefined ? {} : { states });
  const ids = (await ann.list(name)).map(({ id }) => id as string);
  return { name, ids: ids as [string, ...string[]] };
}

describe("a schedule", () => {
  test("is shown as its manifest has it, with what is next", async () => {
    const full = {
      ...nightly,
      jitter: "10m",
      input: { of: 1 },
      overlap: "queue",
      catch_up: "all",
      catch_up_window: "2h",
    };
    const { name, ids } = await scheduled([full, often]);
    const { items, schedules, count } = await ann.ok("GET", `/v1/workflows/${name}/schedules`);
    expect(count).toBe(2);
    expect(schedules).toEqual(items);
    expect(items[0]).toMatchObject({
      id: ids[0],
      workflow_name: name,
      name: "nightly",
      cron: "30 2 * * *",
      every: null,
      timezone: "Europe/Berlin",
      jitter: 600,
      input: { of: 1 },
      overlap: "queue",
      catch_up: "all",
      catch_up_window: 7200,
      paused: false,
      last_started_at: null,
      last_execution_id: null,
      skipped: 0,
    });
    expect(items[1]).toMatchObject({
      cron: null,
      every: 60,
      overlap: "skip",
      catch_up: "last",
      catch_up_window: 86_400,
    });
    for (const { next_times } of items) {
      expect(next_times).toHaveLength(5);
      expect([...next_times].sort()).toEqual(next_times);
      expect(Date.parse(next_times[0])).toBeGreaterThan(Date.now() - minute);
    }
    const [first] = items;
    expect(await ann.schedule(name, ids[0])).toEqual(first);
    expect(await ann.schedule(first.workflow_id, ids[0].toUpperCase())).toEqual(first);
  });

  test("starts runs as its deployer, with its input", async () => {
    const { name, ids } = await scheduled([{ ...often, input: { by: "clock" } }]);
    await ann.hasten(name, ids[0], 500);
    const [run] = await ann.started(name, 1);
    const record = await ann.ok("GET", `/v1/workflows/executions/${run?.id}`);
    expect(record).toMatchObject({ input: { by: "clock" }, initiated_by: { kind: "tenant_user" } });
    const [row] = await at.stores.sql<{ listed: string }[]>`
      select listed from runtime_actors where kind = 'workflow_run' and key = ${run?.id}`;
    expect(JSON.parse(row?.listed ?? "{}").header.schedule_id).toBe(ids[0]);
    const by = await ann.ok("POST", `/v1/workflows/${name}/run`, { input: {} });
    const { initiated_by } = await ann.ok("GET", `/v1/workflows/executions/${by.execution_id}`);
    expect(record.initiated_by).toEqual(initiated_by);
    const shown = await until(async () => {
      const schedule = await ann.schedule(name, ids[0]);
      return schedule.last_execution_id === null ? null : schedule;
    });
    expect(shown).toMatchObject({ last_execution_id: run?.id, last_started_at: record.started_at });
  });

  test("follows its definition: a new version, the end, another life", async () => {
    const { name, ids } = await scheduled([nightly, often]);
    await ann.ok("POST", ann.path(name, ids[0], "pause"));
    await ann.register(name, [{ ...nightly, overlap: "allow" }, hourly], { version: "2.0.0" });
    const second = await ann.list(name);
    expect(second.map((one) => [one.name, one.paused])).toEqual([
      ["nightly", true],
      ["hourly", false],
    ]);
    expect(second[0]).toMatchObject({ id: ids[0], overlap: "allow", next_times: [] });
    expect((await ann.call("GET", ann.path(name, ids[1] as string))).body.code).toBe("schedule_not_found");
    // An older version than the latest changes nothing.
    await ann.register(name, [], { version: "1.5.0" });
    expect(await ann.list(name)).toHaveLength(2);
    // Without its latest version the one before holds again.
    await ann.ok("DELETE", `/v1/workflows/${name}?version=2.0.0`);
    expect(await ann.list(name)).toEqual([]);
    await ann.ok("DELETE", `/v1/workflows/${name}?version=1.5.0`);
    expect((await ann.list(name)).map((one) => [one.name, one.id])).toEqual([
      ["nightly", ids[0]],
      ["often", ids[1]],
    ]);
    await ann.ok("DELETE", `/v1/workflows/${name}`);
    expect((await ann.call("GET", `/v1/workflows/${name}/schedules`)).body.code).toBe("workflow_not_found");
    const left = await at.stores.sql`
      select from runtime_actors where kind = 'workflow_schedule' and key = any(${ids}::text[])`;
    expect(left.count).toBe(0);
  });

  test("is unknown to other tenants, and ids are looked at", async () => {
    const { name, ids } = await scheduled([nightly]);
    const { name: other } = await scheduled([nightly]);
    for (const action of ["", "pause", "resume", "run", "backfill"]) {
      const [method, body] = action === "" ? (["GET"] as const) : (["POST", span(1)] as const);
      expect((await stranger.call(method, ann.path(name, ids[0], action), body)).body.code).toBe("workflow_not_found");
      expect((await ann.call(method, ann.path(other, ids[0], action), body)).body.code).toBe("schedule_not_found");
      expect((await ann.call(method, ann.path(name, "abc", action), body)).status).toBe(400);
    }
    expect((await stranger.call("GET", `/v1/workflows/${name}/schedules`)).body.code).toBe("workflow_not_found");
  });

  test("moves to all tenants with its workflow, pause and all", async () => {
    const publisher = callsOf(at, { ...(await at.operator("admin")) });
    const name = `global-${crypto.randomUUID().slice(0, 8)}`;
    await publisher.register(name, [hourly]);
    const [own] = await publisher.list(name);
    await publisher.ok("POST", publisher.path(name, own?.id, "pause"));
    await publisher.ok("POST", `/v1/workflows/${name}/scope`, { scope: "global" });
    const [shared, ...more] = await publisher.list(name);
    expect(more).toEqual([]);
    expect(shared).toMatchObject({ name: "hourly", paused: true });
    expect(shared?.id).not.toBe(own?.id);
    // Others see the workflow, and none of what it does for its own tenant.
    expect(await ann.list(name)).toEqual([]);
    expect((await ann.call("POST", ann.path(name, shared?.id, "run"))).body.code).toBe("schedule_not_found");
    await publisher.ok("POST", `/v1/workflows/${name}/scope`, { scope: "tenant" });
    expect(await publisher.list(name)).toMatchObject([{ id: own?.id, paused: true }]);
  });
});

/** So many hours that have been. */
const span = (hours: number, overlap?: string) => {
  const to = Date.now();
  const from = to - hours * 60 * minute + 1;
  return {
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
    ...(overlap === undefined ? {} : { overlap }),
  };
};

describe("by hand", () => {
  test("pause and resume are on record, and repeatable", async () => {
    const { name, ids } = await scheduled([nightly]);
    for (const action of ["pause", "pause", "resume", "resume"]) {
      const { paused } = await ann.ok("POST", ann.path(name, ids[0], action));
      expect(paused).toBe(action === "pause");
    }
    const entries = await at.stores.sql<{ action: string }[]>`
      select action from audit_entries where target_id = ${ids[0]} order by at`;
    expect(entries.map(({ action }) => action)).toEqual(["workflow_schedule.paused", "workflow_schedule.resumed"]);
  });

  test("a run is the caller's, with the schedule's input or another, once for a key", async () => {
    const { name, ids } = await scheduled([hourly]);
    const key = { "Idempotency-Key": crypto.randomUUID() };
    const first = await ann.ok("POST", ann.path(name, ids[0], "run"), { input: { by: "hand" } }, key);
    expect(first).toMatchObject({ workflow_name: name, version: "1.0.0", status: "running" });
    const again = await ann.call("POST", ann.path(name, ids[0], "run"), { input: { by: "hand" } }, key);
    expect(again.body).toEqual(first);
    expect(again.headers.get("idempotent-replay")).toBe("true");
    const second = await ann.ok("POST", ann.path(name, ids[0], "run"));
    expect((await ann.ok("GET", `/v1/workflows/executions/${first.id}`)).input).toEqual({ by: "hand" });
    expect((await ann.ok("GET", `/v1/workflows/executions/${second.id}`)).input).toEqual({ by: "clock" });
    expect(await ann.schedule(name, ids[0])).toMatchObject({ last_execution_id: second.id });
    expect(await ann.runs(name)).toHaveLength(2);
  });

  test("a backfill starts the times of a span, once for a key", async () => {
    const { name, ids } = await scheduled([{ name: "hours", cron: "0 * * * *" }]);
    const body = span(5, "allow");
    const key = { "Idempotency-Key": crypto.randomUUID() };
    expect(await ann.ok("POST", ann.path(name, ids[0], "backfill"), body, key)).toEqual({ started: 5, skipped: 0 });
    expect(await ann.ok("POST", ann.path(name, ids[0], "backfill"), body, key)).toEqual({ started: 5, skipped: 0 });
    await ann.started(name, 5);
    expect(await ann.ok("POST", ann.path(name, ids[0], "backfill"), span(3))).toEqual({ started: 1, skipped: 2 });
    expect(await ann.started(name, 6)).toHaveLength(6);
  });

  test.each([
    ["more than 1,000 times", () => span(1_002)],
    ["the future", () => ({ from: new Date().toISOString(), to: new Date(Date.now() + minute).toISOString() })],
    ["an end before its beginning", () => ({ from: "2031-01-02T00:00:00Z", to: "2031-01-01T00:00:00Z" })],
    ["no time", () => ({ from: "yesterday", to: "today" })],
    ["no such overlap", () => span(1, "sometimes")],
    ["nothing", () => ({})],
  ])("a backfill of %s is refused", async (_, body) => {
    const { name, ids } = await scheduled([{ name: "hours", cron: "0 * * * *" }]);
    const answer = await ann.call("POST", ann.path(name, ids[0], "backfill"), body());
    expect([answer.status, answer.body.code]).toEqual([422, "validation_failed"]);
  });
});

describe("the run before", () => {
  test("is cancelled, and the next one starts once it has ended", async () => {
    const { name, ids } = await scheduled([{ ...often, overlap: "cancel_previous" }], asking);
    await ann.ok("POST", ann.path(name, ids[0], "backfill"), span(0.1));
    const [first] = await ann.started(name, 1);
    await ann.ok("POST", ann.path(name, ids[0], "backfill"), span(0.1));
    const runs = await ann.started(name, 2);
    const statuses = new Map(runs.map(({ id, status }) => [id, status]));
    expect(statuses.get(first?.id)).toBe("cancelled");
    expect([...statuses.values()].sort()).toEqual(["cancelled", "running"]);
  });

  test("is waited for in a queue", async () => {
    const { name, ids } = await scheduled([{ name: "hours", cron: "0 * * * *", overlap: "queue" }], asking);
    expect(await ann.ok("POST", ann.path(name, ids[0], "backfill"), span(3))).toEqual({ started: 3, skipped: 0 });
    for (let count = 1; count <= 3; count++) {
      const [newest] = await ann.started(name, count);
      expect(await ann.runs(name)).toHaveLength(count);
      await ann.ok("POST", `/v1/workflows/executions/${newest?.id}/cancel`);
    }
  });
});

describe("what keeps a schedule from starting", () => {
  test("a refused start is skipped", async () => {
    const { name, ids } = await scheduled([often]);
    // More than the tenant may store.
    await ann.register(name, [often], { version: "2.0.0", storage: { workspace: { size_limit_mb: 1_000_000 } } });
    await ann.ok("POST", ann.path(name, ids[0], "backfill"), span(0.1, "skip"));
    await until(async () => (await ann.schedule(name, ids[0])).skipped > 0, { what: "a skipped time" });
    expect(await ann.runs(name)).toEqual([]);
  });

  test("a suspended tenant's times are made up for when it may begin work again", async () => {
    const tenant = await at.newTenant();
    const member = callsOf(at, await at.member(tenant));
    await member.register("held", [{ ...often, catch_up: "all", overlap: "allow" }]);
    const [{ id } = { id: "" }] = await member.list("held");
    await member.hasten("held", id, 2_000);
    await at.admin("POST", `/${tenant}/suspend`, {});
    const held = async () => {
      const [row] = await at.stores.sql<{ state: string }[]>`
        select state from runtime_actors where kind = 'workflow_schedule' and key = ${id}`;
      return JSON.parse(row?.state ?? "{}").held === true;
    };
    await until(held, { timeoutMs: 20_000, what: "the schedule to be held" });
    await at.admin("POST", `/${tenant}/resume`);
    expect(await member.started("held", 1)).toHaveLength(1);
    expect(await held()).toBe(false);
  });
});
