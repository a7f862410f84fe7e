/** Rows of the state table: what a person decides, cancels and pauses, and what time does. */
import { describe, expect, test } from "bun:test";
import { runRecord } from "../../../actors/workflow/run/record/record.ts";
import { agent, definitionOf, human, noop, runId, ways } from "./fixture.ts";
import { asks, told, two, works } from "./lifecycle-fixture.ts";
import { RunStory } from "./scenario.ts";

describe("a person decides", () => {
  test("the approval is opened beside the run, in the commit of the entry", () => {
    const story = told(
      { ...asks, ASK: human(asks.ASK.transitions, { prompt: "Release {{input.what}}?", quorum: 2 }) },
      {
        input: { what: "it" },
      },
    );
    const [open] = story.toldOf("open");
    expect(open).toMatchObject({ kind: "approval", key: story.approval, coCommit: true });
    expect(story.sim.beside.get(story.approval)).toBe("approval");
    expect(open?.body).toMatchObject({
      owner: { kind: "workflow_run", key: runId },
      execution_id: runId,
      state_name: "ASK",
      visit: 1,
      prompt: "Release it?",
      timeout_ms: 3_600_000,
      quorum: 2,
      initiator: { kind: "user", sub: "ada", email: "ada@north.example" },
    });
    expect(story.types.slice(-2)).toEqual(["WorkflowStateEntered", "HumanInputRequested"]);
    expect(story.event("HumanInputRequested").details).toEqual({
      approval_id: story.approval,
      prompt: "Release it?",
      default_response: null,
      expires_at: "2031-05-02T07:00:00.000Z",
    });
    expect(runRecord({ execution_id: runId, tenant_id: "north" }, story.state).waiting_for).toEqual({
      kind: "approval",
      approval_id: story.approval,
      state_name: "ASK",
      expires_at: "2031-05-02T07:00:00.000Z",
    });
    // The approval keeps the time.
    expect([...story.sim.timers.keys()]).toEqual([]);
  });

  test.each([
    ["approved", "DONE", { feedback: "", response: "approved", decision: "approved", approver: "bob@north.example" }],
    [
      "rejected",
      "REFUSED",
      { feedback: "no", response: "rejected", decision: "rejected", approver: "bob@north.example" },
    ],
  ])("%s leads to %s", (decision, target, onBoard) => {
    const story = told(asks).decide(decision, { feedback: onBoard.feedback });
    expect(story.way).toEqual(["ASK", target]);
    expect(story.blackboard.human).toEqual(onBoard);
    expect(story.blackboard.ASK).toMatchObject({ decision, response: decision });
    expect(story.event("HumanInputResolved").details).toMatchObject({ status: decision, decision });
    expect(story.types.indexOf("HumanInputResolved")).toBeLessThan(story.types.indexOf("WorkflowStateExited"));
    expect(story.state.status).toBe("completed");
  });

  test.each([
    ["rejected", {}, "approval_rejected"],
    [
      "timed_out",
      { response: "", timeout: true, error: "human_input_timeout", decided_by: null },
      "human_input_timeout",
    ],
  ])("%s without a rule fails the run, always or not", (decision, change, code) => {
    for (const rules of [ways(["approved", "DONE"]), ways(["always", "DONE"]), []]) {
      const story = told({ ASK: human(rules), DONE: noop() }).decide(decision, change);
      expect(story.way).toEqual(["ASK"]);
      expect(story.state).toMatchObject({ status: "failed", ending: { error_code: code } });
    }
  });

  test("the decision of another entry changes nothing", () => {
    const story = told({ ASK: human(ways(["rejected", "ASK"], ["approved", "DONE"])), DONE: noop() });
    const first = story.approval;
    story.decide("rejected");
    const before = structuredClone(story.state);
    story.decide("approved", {}, first);
    story.decide("approved", {}, "0190f3c4-0000-7000-8000-0000000000ff");
    expect(story.state).toEqual(before);
    story.decide("approved");
    expect(story.way).toEqual(["ASK", "ASK", "DONE"]);
  });
});

describe("cancel", () => {
  test("withdraws the approval in the same commit, and is repeatable", () => {
    const story = told(asks);
    const approval = story.approval;
    expect(story.ask("cancel", { reason: "enough" })).toEqual({ outcome: "cancelled" });
    expect(story.toldOf("withdraw")).toMatchObject([{ key: approval, coCommit: true, body: { reason: "cancelled" } }]);
    expect(story.event("WorkflowExecutionCancelled").details).toMatchObject({ reason: "enough" });
    expect(story.state).toMatchObject({ status: "cancelled", current: null, current_state: "ASK" });
    const length = story.types.length;
    expect(story.ask("cancel", { reason: "again" })).toEqual({ outcome: "cancelled" });
    story.decide("approved", {}, approval);
    expect(story.types.length).toBe(length);
  });

  test("stops the agent at work", () => {
    const story = told(works);
    const [start] = story.sim.underWay("workflow.agent");
    const child = start?.id.slice("agent:".length) ?? "";
    story.sim.succeed(start?.id ?? "", { agent_id: "0190f3c2-6d1e-7a55-9c1f-2f6d0c5b8e33" });
    story.ask("cancel", { reason: null });
    expect(story.toldOf("cancel")).toMatchObject([{ kind: "execution", key: child }]);
  });

  test("a terminal run refuses everything else", () => {
    const story = told(two);
    expect(story.ask("cancel", { reason: null })).toEqual({ outcome: "already_terminal", status: "completed" });
    expect(story.ask("pause")).toEqual({ outcome: "already_terminal", status: "completed" });
    expect(story.ask("resume")).toEqual({ outcome: "already_terminal", status: "completed" });
  });

  test("no answer comes", () => {
    const story = new RunStory(definitionOf(two));
    expect(story.ask("cancel", { reason: null })).toEqual({ outcome: "unknown" });
    expect(story.ask("pause")).toEqual({ outcome: "unknown" });
    expect(story.ask("erase")).toEqual({ outcome: "unknown" });
    expect(story.sim.state).toBeNull();
  });
});

describe("time", () => {
  test("a last result that comes at the deadline or after it does not complete the run", () => {
    const late = told(asks, { header: { timeout_ms: 60_000 } });
    late.sim.timers.clear();
    late.sim.now += 60_000;
    late.decide("approved");
    expect(late.state).toMatchObject({ status: "timed_out", ending: { error_code: "execution_timeout" } });
    const inTime = told(asks, { header: { timeout_ms: 60_000 } });
    inTime.sim.now += 59_999;
    expect(inTime.decide("approved").state.status).toBe("completed");
  });

  test("the run's own deadline ends it", () => {
    const story = told(asks, { header: { timeout_ms: 60_000 } });
    expect(story.state.deadline_at).toBe(story.sim.now + 60_000);
    story.sim.fireNext();
    story.settle();
    expect(story.state).toMatchObject({ status: "timed_out", ending: { error_code: "execution_timeout" } });
    expect(story.event("WorkflowExecutionTimedOut").details).toEqual({
      timeout_seconds: 60,
      timed_out_at: "2031-05-02T06:01:00.000Z",
    });
    expect(story.toldOf("withdraw")).toHaveLength(1);
  });

  test("a state that takes too long fails; the timer of an earlier entry does nothing", () => {
    const story = told({
      WORK: { ...agent(ways(["on_timeout", "WORK"])), timeout_ms: 30_000, max_state_visits: 2 },
    });
    story.sim.fireNext();
    story.settle();
    expect(story.way).toEqual(["WORK", "WORK"]);
    expect(story.blackboard.WORK).toMatchObject({ status: "failed", error: "state_timeout", timed_out: true });
    expect(story.sim.abandoned.size).toBe(1);
    const before = structuredClone(story.state);
    story.tell("state_overdue", { entry: 1 });
    story.tell("state_overdue", { entry: 2 });
    expect({ ...story.state }).toEqual(before);
    expect([...story.sim.timers.keys()]).toEqual(["state:2"]);
  });
});

describe("pause", () => {
  test("work under way ends and is committed; no further state begins before resume", () => {
    const story = told(asks);
    expect(story.ask("pause")).toEqual({ outcome: "done" });
    const { paused_at } = story.state;
    story.sim.now += 5_000;
    expect(story.ask("pause")).toEqual({ outcome: "done" });
    expect(story.state.paused_at).toBe(paused_at);
    story.decide("approved");
    expect(story.state).toMatchObject({ status: "running", current: null, next: { target: "DONE", feedback: null } });
    expect(story.blackboard.ASK).toMatchObject({ decision: "approved" });
    expect(story.way).toEqual(["ASK"]);
    expect(story.ask("resume")).toEqual({ outcome: "done" });
    expect(story.way).toEqual(["ASK", "DONE"]);
    expect(story.ask("resume")).toEqual({ outcome: "already_terminal", status: "completed" });
    expect(story.types.filter((type) => /Paused|Resumed/.test(type))).toEqual([
      "WorkflowExecutionPaused",
      "WorkflowExecutionResumed",
    ]);
  });

  test("while a state is still at work, resuming goes on as if nothing had been", () => {
    const story = told(asks);
    story.ask("pause");
    expect(story.ask("resume")).toEqual({ outcome: "done" });
    expect(story.ask("resume")).toEqual({ outcome: "done" });
    expect(story.decide("approved").way).toEqual(["ASK", "DONE"]);
  });

  test("a paused run can be cancelled, and ends when its work was the last", () => {
    const between = told(asks);
    between.ask("pause");
    between.decide("approved");
    between.ask("cancel", { reason: null });
    expect(between.state.status).toBe("cancelled");
    const last = told({ ASK: human([]) });
    last.ask("pause");
    last.decide("approved");
    expect(last.state).toMatchObject({ status: "completed", paused_at: null });
  });
});
