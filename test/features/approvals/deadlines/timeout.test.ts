/** Time and approvals: deadlines, restarts, timers that are lost, retention (docs/reference/approvals.md). */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Open } from "../../../../actors/approval/messages.ts";
import { sweepApprovals } from "../../../../src/features/approvals/deadlines/sweep.ts";
import { until } from "../../../harness/until.ts";
import { caller, openFixture } from "../fixture.ts";

let fixture: Awaited<ReturnType<typeof openFixture>>;
const ada = caller("ada");
const hour = 3600_000;
beforeAll(async () => {
  fixture = await openFixture();
});
afterAll(() => fixture?.dispose());

const path = (id: string, rest = "") => `/v1/human-approvals/${id}${rest}`;
const record = async (id: string) => (await fixture.call(ada, path(id, "/history"))).body;
const toldOf = (run: string) =>
  until(
    async () => {
      const all = await fixture.told(run);
      return all.length > 0 && all;
    },
    { what: "the run to be told" },
  );

describe("when its time passes", () => {
  test.each<[Partial<Open>, object]>([
    [
      { default_response: "yes", reject_on_timeout: true },
      { status: "success", decision: "approved", response: "yes", feedback: null },
    ],
    [
      { reject_on_timeout: true },
      { status: "failed", decision: "rejected", feedback: "timed out", error: "approval_rejected" },
    ],
    [{}, { status: "failed", decision: "timed_out", response: "", error: "human_input_timeout" }],
  ])("%j gives its result, and whoever comes then is too late", async (settings, result) => {
    const { id, run } = await fixture.open({ ...settings, timeout_ms: 200 });
    const [told] = await toldOf(run);
    expect(told).toMatchObject({ status: "timed_out", via: "timeout" });
    expect(told?.result).toMatchObject({ ...result, timeout: true, decided_by: null });
    const late = await fixture.call(ada, path(id, "/approve"), { method: "POST" });
    expect(late.status).toBe(409);
    expect(late.body).toMatchObject({ code: "approval_already_decided", status: "timed_out" });
    expect(late.body.decided_at).toBe(told?.decided_at);
    expect(await fixture.told(run)).toHaveLength(1);
    expect(await record(id)).toMatchObject({ status: "timed_out", via: "timeout", decided_by: null });
  });

  test("the stored deadline decides, not the timer", async () => {
    const { id, run } = await fixture.open({ timeout_ms: hour, default_response: "no" });
    await fixture.advance(hour);
    const list = await fixture.call(ada, "/v1/human-approvals");
    expect(list.body.items.map((one: { id: string }) => one.id)).not.toContain(id);
    expect((await fixture.call(ada, path(id))).body.code).toBe("approval_not_pending");
    const late = await fixture.call(ada, path(id, "/reject"), { body: { reason: "x" } });
    expect([late.status, late.body.status]).toEqual([409, "timed_out"]);
    const [told] = await toldOf(run);
    expect(told?.result).toMatchObject({ status: "failed", decision: "rejected", response: "no", timeout: true });
  });

  test("while no node was there, it has passed when one is back", async () => {
    const waiting = await fixture.open({ timeout_ms: hour });
    const passing = await fixture.open({ timeout_ms: 400 });
    const before = (await fixture.call(ada, path(waiting.id))).body.request;
    const passed = Date.now() + 400;
    await fixture.restart(() => until(() => Date.now() > passed));
    await toldOf(passing.run);
    const list = await fixture.call(ada, "/v1/human-approvals");
    expect(list.body.items.find((one: { id: string }) => one.id === waiting.id)).toEqual(before);
    expect((await fixture.call(ada, path(waiting.id, "/approve"), { method: "POST" })).status).toBe(200);
  });

  test("the sweep finds what has lost its timer", async () => {
    const { id, run } = await fixture.open({ timeout_ms: hour });
    await loseTimers();
    const sweep = { runtime: fixture.runtime(), records: fixture.records, retentionDays: 400, now: fixture.now };
    await sweepApprovals({ ...sweep, report: () => {} });
    expect((await fixture.call(ada, path(id))).body.request.status).toBe("pending");
    await fixture.advance(hour + 3000);
    await sweepApprovals({ ...sweep, report: () => {} });
    expect((await toldOf(run))[0]).toMatchObject({ status: "timed_out" });
  });
});

test("a reminder and an escalation come on time, and change no deadline", async () => {
  const { id } = await fixture.open({
    remind_after_ms: 50,
    escalate: { after_ms: 100, approvers: ["email:boss@example.com"], notify: [] },
    approvers: ["user:somebody"],
    timeout_ms: hour,
  });
  const before = await record(id);
  const after = await until(async () => {
    const now = await record(id);
    return now.escalated_at !== null && now;
  });
  expect(after.events.map((event: { type: string }) => event.type)).toEqual(["requested", "reminded", "escalated"]);
  expect(after.expires_at).toBe(before.expires_at);
  expect((await fixture.call(ada, path(id))).body.request.approvers).toEqual([
    "user:somebody",
    "email:boss@example.com",
  ]);
  const boss = caller("boss");
  expect((await fixture.call(boss, path(id, "/approve"), { method: "POST" })).status).toBe(200);
});

test("history is kept for its days, and what is pending for as long as it is", async () => {
  const { id } = await fixture.open();
  const pending = await fixture.open({ timeout_ms: 1000 * 24 * hour });
  await fixture.call(ada, path(id, "/approve"), { method: "POST" });
  await fixture.call(ada, path(pending.id, "/links"), { body: { recipient: "bob@example.com" } });
  const erased: unknown[] = [];
  const sweep = (days: number) =>
    sweepApprovals({
      runtime: fixture.runtime(),
      records: fixture.records,
      retentionDays: days,
      now: fixture.now,
      report: (event, facts) => erased.push([event, facts]),
    });
  await sweep(1);
  expect((await record(id)).status).toBe("approved");
  await fixture.advance(25 * hour);
  await sweep(2);
  expect((await record(id)).status).toBe("approved");
  await sweep(1);
  await until(async () => (await record(id)).code === "approval_not_found", { what: "the erasure" });
  const rows = await fixture.sql`select 1 from approvals where approval_id = ${id}`;
  expect(rows).toHaveLength(0);
  expect((await record(pending.id)).status).toBe("pending");
});

/** As if its row had been lost. */
async function loseTimers(): Promise<void> {
  const { count } = await fixture.sql`delete from runtime_timers`;
  expect(count).toBeGreaterThan(0);
}
