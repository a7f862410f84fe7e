/** A node dies while schedules start runs: none is lost, none is started twice (docs/reference/workflow-schedules.md). */
import { expect, test } from "bun:test";
import { openFixture } from "../../features/tenants/fixture.ts";
import { callsOf, minute } from "../../features/workflows/schedules/fixture.ts";
import { until } from "../../harness/until.ts";

const times = 100;

test("starts that a dead node had before it are done once each", async () => {
  const at = await openFixture();
  try {
    const calls = callsOf(at, await at.service("svc-system"));
    await calls.register("by-clock", [{ name: "often", every: "60s", overlap: "allow" }]);
    const [{ id } = { id: "" }] = await calls.list("by-clock");
    await calls.hasten("by-clock", id, 2_000);
    const to = Date.now();
    const body = { from: new Date(to - times * minute + 1).toISOString(), to: new Date(to).toISOString() };
    const { started } = await calls.ok("POST", calls.path("by-clock", id, "backfill"), body);
    expect(started).toBe(times);
    await calls.started("by-clock", 5);
    await at.node.kill();
    const [row] = await at.stores.sql<{ count: number }[]>`select count(*)::int as count from workflow_runs`;
    expect(row?.count).toBeLessThan(times);
    // The schedule's own time comes while no node is there.
    await until(() => Date.now() > to + 2_500, { what: "the time that comes meanwhile" });
    await at.node.restart();
    const stateOf = async () => {
      const [row] = await at.stores.sql<{ state: string }[]>`
        select state from runtime_actors where kind = 'workflow_schedule' and key = ${id}`;
      return JSON.parse(row?.state ?? "{}");
    };
    const isIdle = async () => {
      const { waiting, starting, decided } = await stateOf();
      return waiting.length === 0 && starting === null && decided > to;
    };
    await until(isIdle, { timeoutMs: 60_000, what: "the end of what waited" });
    // The one more is that of its own time.
    const runs = await calls.runs("by-clock");
    expect(runs).toHaveLength(times + 1);
    expect((await stateOf()).skipped).toBe(0);
    await until(async () => (await calls.runs("by-clock")).every(({ status }) => status === "completed"), {
      what: "the end of the runs",
    });
  } finally {
    await at.dispose();
  }
}, 120_000);
