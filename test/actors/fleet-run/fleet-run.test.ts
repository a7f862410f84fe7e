/** What a fleet run decides (docs/reference/edge-fleet.md). */
import { describe, expect, test } from "bun:test";
import { RunStory } from "./story.ts";

const ofWaves = (story: RunStory) => story.waves.map(([wave]) => wave);

describe("order and number", () => {
  test("one after another, two after two, as many as there are places", () => {
    const one = new RunStory({ eligible: 3, policy: { max_concurrency: 3 } }).endAll();
    expect([one.most, one.begun.map(([idx]) => idx), one.last?.status]).toEqual([1, [0, 1, 2], "complete"]);
    const two = new RunStory({ eligible: 5, policy: { mode: { Rolling: { batch: 2 } } } });
    const sizes: number[] = [];
    for (two.work(); two.live.size > 0; two.work()) {
      sizes.push(two.live.size);
      for (const idx of [...two.live.keys()]) two.end(idx, "ok");
    }
    expect([sizes, two.waves, two.last?.summary.ok]).toEqual([
      [2, 2, 1],
      [
        [1, 3],
        [2, 3],
        [3, 3],
      ],
      5,
    ]);
    const places = new RunStory({ eligible: 9, policy: { mode: "parallel", max_concurrency: 4 } }).endAll();
    expect([places.most, places.last?.summary.ok]).toEqual([4, 9]);
  });

  test("a batch in percent is of all that are resolved, rounded up", () => {
    const story = new RunStory({ eligible: 5, policy: { mode: "rolling", batch: "25%" } }).work();
    expect([story.live.size, story.state.waves]).toEqual([2, 3]);
  });

  test("ten thousand hosts take few pieces of work", () => {
    const story = new RunStory({ eligible: 10_000, policy: { mode: "parallel" } }).endAll();
    expect([story.most, story.last?.summary.ok]).toEqual([1000, 10_000]);
    expect(story.sim.performed.length).toBeLessThan(250);
  });
});

describe("halting", () => {
  test("the first failure halts, what is in flight finishes, the rest is not started", () => {
    const story = new RunStory({ eligible: 5, policy: { mode: "parallel", max_concurrency: 2 } }).work();
    story.end(0, "err");
    expect([story.state.status, story.events.at(-1)]).toEqual([
      "halting",
      { type: "error", reason: "Halted", code: "failure_threshold", message: "A host failed" },
    ]);
    expect([...story.work().live.keys()]).toEqual([1]);
    story.end(1, "ok");
    expect(story.last).toMatchObject({ status: "halted", reason: "failure_threshold" });
    expect(story.summary).toMatchObject({ ok: 1, err: 1, not_started: 3, in_progress: 0, failed: 1 });
  });

  test("twenty percent of ten are reached by the second failure", () => {
    const policy = { mode: "parallel", failure_policy: { StopAfterPercent: 20 } };
    const story = new RunStory({ eligible: 10, policy }).work();
    expect(story.end(3, "timed_out").state.status).toBe("running");
    expect(story.end(4, "lost").state.status).toBe("halting");
  });

  test("a canary that fails halts under any policy; one that does not waits", () => {
    const policy = { mode: "parallel", failure_policy: "continue_on_error", canary: 1 };
    const failed = new RunStory({ eligible: 3, policy }).work().end(0, "refused").work();
    expect([failed.last?.reason, failed.summary.not_started]).toEqual(["canary_failed", 2]);
    const held = new RunStory({ eligible: 3, policy: { ...policy, pause_after_canary: true } }).work();
    expect(held.live.size).toBe(1);
    held.end(0, "ok").work();
    expect([held.state.status, held.state.pause_reasons, held.live.size]).toEqual(["paused", ["canary_done"], 0]);
    held.act("resume");
    expect([held.endAll().last?.status, held.begun.length]).toEqual(["complete", 3]);
  });

  test("a soak holds up the next wave, and a pause meanwhile outlasts it", () => {
    const policy = { mode: "parallel", canary: "10%", canary_soak_secs: 60 };
    const story = new RunStory({ eligible: 3, policy }).work().end(0, "ok").work();
    expect(story.live.size).toBe(0);
    story.act("pause");
    expect(story.sim.fireNext()).toBe(true);
    expect(story.work().live.size).toBe(0);
    story.act("resume");
    expect(story.work().live.size).toBe(2);
  });

  test("too few hosts, and none, end a run before anything is sent", () => {
    const few = new RunStory({ eligible: 1, queued: 4, policy: { require_min_targets: 2, offline_ttl_secs: 60 } });
    const none = new RunStory({ eligible: 0, skipped: 2 });
    expect(
      [few, none].map(({ events }) => events.map((event) => ("reason" in event ? event.reason : event.type))),
    ).toEqual([
      ["started", "RequireMinNotSatisfied", "min_targets_unmet"],
      ["started", "EdgeUnavailable", "no_targets"],
    ]);
    expect([few.last?.status, none.last?.status, few.sim.performed, few.summary.not_started]).toEqual([
      "halted",
      "halted",
      [],
      5,
    ]);
  });

  test("its deadline cancels what is in flight, pauses included", () => {
    const story = new RunStory({ eligible: 3, policy: { run_deadline_secs: 60 } }).work();
    story.act("pause");
    story.sim.fireNext();
    expect([story.state.status, story.state.reason]).toEqual(["halting", "run_deadline"]);
    expect(story.work().last).toMatchObject({ status: "halted", reason: "run_deadline" });
    expect(story.summary).toMatchObject({ cancelled: 1, not_started: 2 });
  });
});

describe("retries", () => {
  test("only those that failed run again, as other attempts", () => {
    const policy = { mode: "parallel", failure_policy: "ContinueOnError", retries: 2, retry_delay_secs: 5 };
    const story = new RunStory({ eligible: 4, policy });
    story.endAll((idx) => (idx === 1 ? "err" : idx === 2 ? "refused" : "ok"));
    expect([story.state.status, story.live.size, story.state.round]).toEqual(["running", 0, 1]);
    story.sim.fireNext();
    story.endAll((_, attempt) => (attempt === 2 ? "timed_out" : "ok"));
    story.sim.fireNext();
    story.endAll();
    expect(story.begun.slice(4)).toEqual([
      [1, 2],
      [1, 3],
    ]);
    expect([story.last?.status, story.summary]).toMatchObject(["complete", { ok: 3, refused: 1, failed: 1 }]);
  });

  test("what an earlier attempt tells late means nothing", () => {
    const policy = { failure_policy: "ContinueOnError", retries: 1 };
    const story = new RunStory({ eligible: 1, policy }).work().end(0, "err").work();
    story.sim.tell("command_ended", {
      ...{ idx: 0, attempt: 1, command_id: "c", status: "ok", error_kind: null, exit_code: 0, duration_ms: 1 },
      reason: null,
    });
    expect(story.summary.in_progress).toBe(1);
    expect(story.end(0, "err").last?.summary.err).toBe(1);
  });
});

describe("hosts that are waited for", () => {
  const policy = { mode: "parallel", offline_ttl_secs: 60, failure_policy: "ContinueOnError" };
  test("one that comes in time runs, another expires", () => {
    const story = new RunStory({ eligible: 1, queued: 2, policy }).work();
    const [offer] = story.sim.performed.filter(({ input }) => (input as { held: boolean }).held);
    expect(offer?.input).toMatchObject({ indices: [1, 2], queue_until: story.sim.now + 60_000 });
    story.end(0, "ok").ready(1).work();
    expect(story.live.get(1)?.held).toBe(false);
    story.end(1, "ok").end(2, "expired");
    expect(story.last).toMatchObject({ status: "complete", summary: { ok: 2, expired: 1, failed: 1 } });
  });

  test("they wait for the canary, and are it where there is no other", () => {
    const behind = new RunStory({ eligible: 2, queued: 1, policy: { ...policy, canary: 1 } }).work();
    behind.ready(2).work();
    expect(behind.live.get(2)?.held).toBe(true);
    behind.end(0, "ok").work();
    expect(behind.live.get(2)?.held).toBe(false);
    const alone = new RunStory({ eligible: 0, queued: 2, policy: { ...policy, canary: 1 } }).work();
    alone.ready(1).ready(0).work();
    expect([...alone.live.values()].map(({ held }) => held)).toEqual([false, true]);
    alone.end(0, "ok").work();
    expect(alone.live.get(1)?.held).toBe(false);
  });

  test("places are theirs only once they start", () => {
    const story = new RunStory({ eligible: 1, queued: 2, policy: { ...policy, max_concurrency: 1 } }).work();
    story.ready(1).ready(2).work();
    expect(story.begun).toEqual([[0, 1]]);
    expect(story.endAll().most).toBe(1);
    expect(story.last?.summary.ok).toBe(3);
  });
});

describe("pause and cancel", () => {
  test("a pause is answered once nothing more is on its way to a host", () => {
    const story = new RunStory({ eligible: 3, policy: { mode: "parallel", max_concurrency: 2 } });
    const call = story.act("pause");
    expect(story.answer(call)).toBeUndefined();
    story.work();
    expect(story.answer(call)).toMatchObject({ done: true, status: "paused", pause_reasons: ["requested"] });
    story.end(0, "ok").work();
    expect([...story.live.keys()]).toEqual([1]);
    expect(story.answer(story.act("resume"))).toMatchObject({ done: true, status: "running" });
    expect(story.endAll().last?.status).toBe("complete");
    expect(story.answer(story.act("pause"))).toMatchObject({ done: false, status: "complete" });
  });

  test("a host that asks meanwhile is answered afterwards", () => {
    const story = new RunStory({ eligible: 1 }).work();
    story.act("pause");
    story.ready(0);
    expect(story.sim.underWay("edge.go")).toHaveLength(0);
    story.act("resume");
    expect(story.sim.underWay("edge.go")).toHaveLength(1);
  });

  test("each reason is taken away by what brought it", () => {
    const story = new RunStory({ eligible: 2 }).work();
    story.act("pause");
    for (const reason of ["dispatch_disabled", "tenant_suspended"]) {
      story.sim.askNow("hold", { reason });
      expect(story.state.pause_reasons).toContain(reason as "requested");
      story.sim.askNow("unhold", { reason });
      expect([story.state.status, story.state.pause_reasons]).toEqual(["paused", ["requested"]]);
    }
    story.sim.askNow("hold", { reason: "dispatch_disabled" });
    expect(story.answer(story.act("resume"))).toMatchObject({ status: "paused", pause_reasons: ["dispatch_disabled"] });
  });

  test("a cancel counts right, and a second one cancels nothing", () => {
    const story = new RunStory({ eligible: 5, policy: { mode: "parallel", max_concurrency: 2 } }).work().end(0, "ok");
    const first = story.act("cancel", "enough");
    expect(story.answer(first)).toEqual({ status: "cancelling", cancelled: 4, already_terminal: 1 });
    expect(story.answer(story.act("cancel"))).toMatchObject({ status: "cancelling", cancelled: 0 });
    story.work();
    expect(story.last).toMatchObject({ status: "cancelled", reason: "cancelled" });
    expect(story.summary).toMatchObject({ ok: 1, cancelled: 2, not_started: 2, in_progress: 0 });
    expect(story.answer(story.act("cancel"))).toEqual({ status: "cancelled", cancelled: 0, already_terminal: 5 });
  });

  test("what is being handed over is taken back once it has been", () => {
    const story = new RunStory({ eligible: 2, policy: { mode: "parallel" } });
    story.act("cancel");
    expect(story.sim.underWay("edge.stop")).toHaveLength(0);
    expect(story.work().last?.summary).toMatchObject({ cancelled: 2 });
  });

  test("a host that takes no more gets its command later", () => {
    const story = new RunStory({ eligible: 2, policy: { mode: "parallel" } }).work(new Set([1]));
    expect([...story.live.keys()]).toEqual([0]);
    story.sim.fireNext();
    expect([...story.work().live.keys()]).toEqual([0, 1]);
    const gone = new RunStory({ eligible: 2, policy: { mode: "parallel" } }).work(new Set([1]));
    gone.act("cancel");
    expect(gone.work().last?.summary).toMatchObject({ cancelled: 1, not_started: 1 });
  });
});

describe("approval", () => {
  test("nothing is sent before people agree, and then to whom the target means", () => {
    const story = new RunStory({ eligible: 3, gate: true });
    expect([story.state.status, story.sim.performed, story.events[0]]).toMatchObject([
      "awaiting_approval",
      [],
      { type: "started", status: "awaiting_approval", resolution: 0, started_at: null },
    ]);
    const [asked] = story.sim.coCommitted;
    expect(asked?.message.body).toMatchObject({
      kind: "fleet_run",
      execution_id: story.sim.key,
      forbid_initiator: true,
    });
    expect(story.answer(story.act("pause"))).toMatchObject({ done: false, status: "awaiting_approval" });
    story.decide("approved").resolved(2);
    expect(story.events.filter(({ type }) => type === "started")[1]).toMatchObject({
      status: "running",
      resolution: 1,
    });
    expect(story.endAll().last?.summary.ok).toBe(2);
  });

  test.each([
    ["rejected", "approval_rejected"],
    ["responded", "approval_rejected"],
    ["timed_out", "approval_timed_out"],
  ])("%s: cancelled", (status, reason) => {
    const story = new RunStory({ eligible: 3, gate: true }).decide(status);
    expect([story.last?.status, story.last?.reason, story.sim.performed]).toEqual(["cancelled", reason as never, []]);
  });

  test("a cancel withdraws the question", () => {
    const story = new RunStory({ eligible: 3, gate: true });
    expect(story.answer(story.act("cancel"))).toMatchObject({ status: "cancelled", cancelled: 3 });
    expect(story.sim.coCommitted.map(({ message }) => message.type)).toEqual(["open", "withdraw"]);
    expect(story.decide("approved").sim.performed).toEqual([]);
  });

  test("a tenant that sends nothing holds an approved run up from the start", () => {
    const story = new RunStory({ eligible: 1, gate: true }).decide("approved").resolved(1, 0, ["dispatch_disabled"]);
    expect([story.state.status, story.work().live.size]).toEqual(["paused", 0]);
    story.sim.askNow("unhold", { reason: "dispatch_disabled" });
    expect([ofWaves(story).at(-1), story.endAll().last?.status]).toEqual([1, "complete"]);
  });
});
