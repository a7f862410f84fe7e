/** Every row of the state table of a workflow run, told step by step. */
import { describe, expect, test } from "bun:test";
import type { Json } from "../../../actors/kernel/json.ts";
import type { State } from "../../../actors/workflow/definition.ts";
import { runRecord } from "../../../actors/workflow/run/record/record.ts";
import { agent, definitionOf, human, noop, runId, subworkflow, system, ways, writes } from "./fixture.ts";
import { type Beginning, RunStory } from "./scenario.ts";

const told = (states: Record<string, State>, beginning: Beginning = {}, change = {}) =>
  new RunStory(definitionOf(states, change), beginning).start();

const two = { A: noop(["always", "B"]), B: noop() };
const asks = { ASK: human(ways(["approved", "DONE"], ["rejected", "REFUSED"])), DONE: noop(), REFUSED: noop() };
const works = { WORK: agent(ways(["on_success", "DONE"], ["on_failure", "SORRY"])), DONE: noop(), SORRY: noop() };

describe("start", () => {
  test("one turn holds the record, the blackboard, the start and the first entry", () => {
    const story = new RunStory(definitionOf(two), { input: { a: 1 } }).enter();
    expect(story.types).toEqual(["WorkflowExecutionStarted", "WorkflowStateEntered"]);
    expect(story.state).toMatchObject({ status: "running", current_state: "A", transition_count: 1, input: { a: 1 } });
    expect(story.blackboard).toMatchObject({ input: { a: 1 }, state: { name: "A", feedback: null, visit: 1 } });
    expect(story.blackboard).not.toHaveProperty("A");
  });

  test("the same start again is the same run", () => {
    const story = told(asks);
    const before = structuredClone(story.state);
    const again = story.ask("start", story.startBody());
    expect(again).toEqual({
      accepted: true,
      execution_id: runId,
      status: "running",
      started_at: "2031-05-02T06:00:00.000Z",
    });
    expect(story.state).toEqual(before);
  });

  test("what has no end of its own completes, a result per turn", () => {
    const story = new RunStory(definitionOf(two)).enter();
    expect(story.hearItself()).toBe(true);
    expect(story.state).toMatchObject({ status: "running", current_state: "B", outputs: ["A"] });
    expect(story.hearItself()).toBe(true);
    expect(story.types).toEqual([
      "WorkflowExecutionStarted",
      "WorkflowStateEntered",
      "WorkflowStateExited",
      "WorkflowStateEntered",
      "WorkflowStateExited",
      "WorkflowExecutionCompleted",
    ]);
    expect(story.event("WorkflowStateExited").details).toMatchObject({ state_name: "B", visit: 1, transition: null });
    expect(story.event("WorkflowExecutionCompleted").details).toEqual({
      final_blackboard: story.blackboard,
      final_output: null,
      artifacts: [],
      completed_at: "2031-05-02T06:00:00.000Z",
    });
    expect(story.hearItself()).toBe(false);
  });
});

describe("entering", () => {
  test("the entry after the last allowed visit fails the run", () => {
    const loop = { A: { ...noop(["always", "A"]), max_state_visits: 3 } };
    const story = told(loop);
    expect(story.way).toEqual(["A", "A", "A"]);
    expect(story.state.ending).toMatchObject({ error_code: "state_visit_limit" });
    expect(story.event("WorkflowStateVisitLimitExceeded").details).toEqual({
      state_name: "A",
      max_visits: 3,
      actual_visits: 4,
    });
    expect(story.types.at(-1)).toBe("WorkflowExecutionFailed");
    expect(story.blackboard.state).toEqual({ name: "A", feedback: null, visit: 3 });
  });

  test("a loop of two states stops after as many entries as are allowed", () => {
    const states = {
      A: { ...noop(["always", "B"]), max_state_visits: 20 },
      B: { ...noop(["always", "A"]), max_state_visits: 20 },
    };
    const story = told(states, {}, { max_total_transitions: 6 });
    expect(story.way).toEqual(["A", "B", "A", "B", "A", "B"]);
    expect(story.state).toMatchObject({ status: "failed", transition_count: 6, visits: { A: 3, B: 3 } });
    expect(story.event("WorkflowExecutionFailed").details).toMatchObject({ error_code: "transition_limit" });
  });

  test("feedback is rendered for the next state, and cleared by a transition without it", () => {
    const states = {
      A: noop(["always", "B", "from {{state.name}}: {{input.word}}"]),
      B: writes({ seen: "{{state.feedback}}" }, ["always", "C"]),
      C: writes({ then: "[{{state.feedback}}]" }),
    };
    const story = told(states, { input: { word: "hi" } });
    expect(story.blackboard).toMatchObject({ seen: "from A: hi", then: "[]", state: { feedback: null } });
  });

  test.each([
    [
      "a blank prompt",
      human(ways(["on_failure", "AFTER"]), { prompt: " {{input.nothing}} " }),
      "template_resolved_empty",
    ],
    ["a blank agent", agent(ways(["on_failure", "AFTER"]), { agent: "{{input.nothing}}" }), "template_resolved_empty"],
    ["a blank workflow", subworkflow(ways(["on_failure", "AFTER"]), { workflow: " " }), "template_resolved_empty"],
    [
      "a text without bound",
      human(ways(["on_failure", "AFTER"]), { prompt: "{{#each input.list}}{{../input.long}}{{/each}}" }),
      "template_error",
    ],
  ])("%s is the state's failure, and rules are asked", (_, first, code) => {
    const input = { list: Array.from({ length: 40 }, () => 0), long: "x".repeat(50_000) };
    const story = new RunStory(definitionOf({ FIRST: first, AFTER: noop() }), { input }).enter();
    expect(story.state.current?.work.of).toBe("immediate");
    story.settle();
    expect(story.blackboard.FIRST).toMatchObject({ status: "failed", error: code });
    expect(story.way).toEqual(["FIRST", "AFTER"]);
    expect(story.state.status).toBe("completed");
    expect(story.told.filter(({ type }) => type !== "advance")).toEqual([]);
    expect(story.sim.performed).toEqual([]);
  });
});

describe("results", () => {
  test("a state that cannot go on has failed; what it began is stopped", () => {
    const judges = [
      {
        agent: "judge",
        input_template: "{{#each blackboard.input.list}}{{../blackboard.input.long}}{{/each}}",
        weight: 1,
      },
    ];
    const story = told(
      { WORK: agent(ways(["on_failure", "SORRY"]), { judges }), SORRY: noop() },
      { input: { list: Array.from({ length: 40 }, () => 0), long: "x".repeat(50_000) } },
    );
    const child_execution_id = story.sim.performed[0]?.id.slice("agent:".length) ?? "";
    const agent_id = "0190f3c2-6d1e-7a55-9c1f-2f6d0c5b8e33";
    story.tell("child_ended", { child_execution_id, agent_id, status: "completed", output: "x", error_code: null });
    expect(story.blackboard.WORK).toMatchObject({ status: "failed", error: "template_error" });
    expect(story.way).toEqual(["WORK", "SORRY"]);
    expect(story.sim.performed).toHaveLength(1);
    // What the failed step had said is not said.
    expect(story.types).not.toContain("WorkflowIterationCompleted");
  });

  test.each<[string, State, string, string | null]>([
    ["a good result without a rule completes", noop(["on_failure", "END"]), "completed", null],
    [
      "a terminal state with a good result ends as declared",
      { ...noop(), outcome: "failed" },
      "failed",
      "outcome_failed",
    ],
    ["a reserved key is a failure that nobody takes", writes({ human: "x" }), "failed", "reserved_blackboard_key"],
    [
      "a failed result fails a terminal state whatever it declares",
      { ...writes({ execution: "x" }), outcome: "completed" },
      "failed",
      "reserved_blackboard_key",
    ],
  ])("%s", (_, state, status, code) => {
    const story = told({ ONLY: state, END: noop() });
    expect(story.state.status as string).toBe(status);
    expect(story.state.ending?.error_code ?? null).toBe(code);
  });

  test("the last visit's result stands, and the record lists it once", () => {
    const states = {
      A: writes({ turn: "{{state.visit}}" }, [{ on: "custom", expression: "state.visit < 3" }, "A"]),
    };
    const story = told(states);
    expect(story.blackboard).toMatchObject({ turn: 3, A: { status: "success", updated: ["turn"] } });
    expect(story.state).toMatchObject({ status: "completed", outputs: ["A"], visits: { A: 3 } });
    const record = runRecord({ execution_id: runId, tenant_id: "north" }, story.state);
    expect(record.state_outputs).toEqual({ A: story.blackboard.A as Json });
    expect(record.state_visits).toEqual({ A: 3 });
  });

  test("a template path that does not exist is a warning of the run, told once", () => {
    const prompt = "Pay {{input.amuont}} to {{input.name}}? {{default input.note 'none'}}";
    const states = {
      ASK: human(ways(["approved", "END", "{{upper input.gone}}"]), { prompt }),
      END: noop(["always", "ASK"]),
    };
    const story = told(states, { input: { name: "Ada", amount: 7 } });
    const warning = {
      code: "template_path_missing",
      message: "A template prints input.amuont, which does not exist: its place is empty",
      state_name: "ASK",
    };
    const record = () => runRecord({ execution_id: runId, tenant_id: "north" }, story.state);
    expect(record().warnings).toMatchObject([warning]);
    expect(story.events.filter(({ type }) => type === "WorkflowWarning")).toMatchObject([
      { message: warning.message, state_name: "ASK", details: { code: warning.code, path: "input.amuont" } },
    ]);
    story.decide("approved");
    expect(record().warnings.map(({ message, state_name }) => [message.split(" ")[3], state_name])).toEqual([
      ["input.amuont,", "ASK"],
      ["input.gone,", null],
    ]);
  });

  test("under strict_templates a path that does not exist fails the state", () => {
    const prompt = "Pay {{input.amuont}}?";
    const failed = told({ ASK: human([], { prompt }) }, { input: {} }, { strict_templates: true });
    expect(failed.state).toMatchObject({ status: "failed", ending: { error_code: "template_path_missing" } });
    const handled = told(
      { ASK: human(ways(["on_failure", "END"]), { prompt }), END: noop() },
      { input: {} },
      { strict_templates: true },
    );
    expect(handled.state).toMatchObject({ status: "completed" });
    const unasked = told(
      { ASK: human(ways(["rejected", "END"], ["always", "END"]), { prompt }), END: noop() },
      { input: {} },
      { strict_templates: true },
    );
    expect(unasked.state, "`always` does not lead past a person who was never asked").toMatchObject({
      status: "failed",
    });
    const output = told(
      { END: noop() },
      { input: {} },
      { strict_templates: true, output_template: { total: "{{input.total}}" } },
    );
    expect(output.state).toMatchObject({ status: "failed", ending: { error_code: "template_path_missing" } });
    const tolerant = told(
      { ASK: human([], { prompt: "{{#if input.a}}{{input.a}}{{/if}}{{default input.b 'x'}}" }) },
      { input: {} },
      { strict_templates: true },
    );
    expect(tolerant.state.status).toBe("running");
  });

  test("feedback that cannot be rendered fails the run, its result committed", () => {
    const story = told(
      { A: noop(["always", "B", "{{#each input.list}}{{../input.long}}{{/each}}"]), B: noop() },
      { input: { list: Array.from({ length: 40 }, () => 0), long: "x".repeat(50_000) } },
    );
    expect(story.state).toMatchObject({ status: "failed", outputs: ["A"], ending: { error_code: "template_error" } });
    expect(story.way).toEqual(["A"]);
  });
});

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

describe("retry", () => {
  test("enters the state with the earlier blackboard, visits anew", () => {
    const first = told({
      A: writes({ kept: "yes" }, ["always", "B", "again"]),
      B: human(ways(["approved", "C"])),
      C: noop(),
    }).decide("rejected");
    const { blackboard, outputs } = first.state;
    const resume = { blackboard, outputs, state: "B" } as unknown as Json;
    const second = new RunStory(first.definition, { resume, header: { retry_of: "x" } });
    second.start();
    expect(second.way).toEqual(["B"]);
    expect(second.blackboard).toMatchObject({
      kept: "yes",
      state: { name: "B", feedback: "again", visit: 1 },
      human: { decision: "rejected" },
    });
    expect(second.state).toMatchObject({ transition_count: 1, outputs: ["A", "B"] });
    second.decide("approved");
    expect(second.state.status).toBe("completed");
  });

  test("another state than the last one hears nothing of what that was told", () => {
    const states = { A: human(ways(["always", "B", "for B"])), B: human([]) };
    const { blackboard, outputs } = told(states).decide("approved").state;
    const feedbackOf = (state: string) => told(states, { resume: { blackboard, outputs, state } as unknown as Json });
    expect(feedbackOf("B").blackboard.state).toEqual({ name: "B", feedback: "for B", visit: 1 });
    expect(feedbackOf("A").blackboard.state).toEqual({ name: "A", feedback: null, visit: 1 });
  });

  test("a state that is not there fails the run", () => {
    const resume = { blackboard: {}, outputs: [], state: "NOWHERE" };
    expect(told(two, { resume }).state).toMatchObject({ status: "failed", ending: { error_code: "unknown_state" } });
  });
});

describe("the parent", () => {
  const parent = { execution_id: "0190f3c4-0000-7000-8000-00000000000a", state_name: "SUB", waits: true };

  test("that waits hears of the end", () => {
    const story = told(two, { header: { parent } }, { output_template: { name: "{{workflow.name}}" } });
    expect(story.toldOf("run_ended")).toEqual([
      {
        kind: "workflow_run",
        key: parent.execution_id,
        type: "run_ended",
        coCommit: false,
        body: {
          child_execution_id: runId,
          workflow_id: story.state.header.workflow_id,
          status: "completed",
          iterations: 2,
          final_state: "B",
          output: story.blackboard.B as Json,
          final_output: { name: "sample" },
          blackboard: story.blackboard,
          error: null,
          error_code: null,
        },
      },
    ]);
  });

  test("that does not wait hears nothing", () => {
    expect(told(two, { header: { parent: { ...parent, waits: false } } }).toldOf("run_ended")).toEqual([]);
  });

  test("hears of a cancellation", () => {
    const story = told(asks, { header: { parent } });
    story.ask("cancel", { reason: "x" });
    expect(story.toldOf("run_ended")[0]?.body).toMatchObject({ status: "cancelled", output: null, final_output: null });
  });
});

describe("late news", () => {
  const agentId = "0190f3c2-6d1e-7a55-9c1f-2f6d0c5b8e33";

  test("a child that started for a state that has ended is cancelled", () => {
    const story = told(works);
    const [start] = story.sim.performed;
    story.ask("cancel", { reason: null });
    const before = story.toldOf("cancel").length;
    story.tell("agent_started", { id: start?.id ?? "", ok: true, value: { agent_id: agentId } });
    story.tell("agent_started", { id: start?.id ?? "", ok: false, code: "x", message: "x" });
    const key = start?.id.slice("agent:".length) ?? "";
    expect(story.toldOf("cancel").slice(before)).toMatchObject([{ kind: "execution", key }]);
  });

  test("so is a run, unless it was let go on by itself", () => {
    const value = { workflow_id: agentId, workflow_name: "inner" };
    const blocking = told({ SUB: subworkflow([]) });
    const [start] = blocking.sim.performed;
    blocking.ask("cancel", { reason: null });
    const before = blocking.toldOf("cancel").length;
    blocking.tell("run_started", { id: start?.id ?? "", ok: true, value });
    expect(blocking.toldOf("cancel").length).toBe(before + 1);

    const free = told({ SUB: subworkflow([], { mode: "fire_and_forget", result_key: null }) });
    const id = free.sim.performed[0]?.id ?? "";
    free.sim.succeed(id, value);
    free.settle();
    expect(free.state.status).toBe("completed");
    free.tell("run_started", { id, ok: true, value });
    expect(free.toldOf("cancel")).toEqual([]);
  });

  test("the result of an entry waits for its own message", () => {
    const story = new RunStory(definitionOf(two)).enter();
    const before = structuredClone(story.state);
    story.sim.tell("advance", { entry: 2 });
    expect(story.state).toEqual(before);
  });

  test("of commands, only the one at work is heard", () => {
    const story = told({ RUN: system("true", []) });
    const [command] = story.sim.performed;
    const before = structuredClone(story.state);
    story.tell("command_ended", { id: "command:other", ok: false, code: "x", message: "x" });
    expect(story.state).toEqual(before);
    story.tell("command_ended", { id: command?.id ?? "", ok: false, code: "sandbox_unavailable", message: "x" });
    expect(story.state).toMatchObject({ status: "failed", ending: { error_code: "sandbox_unavailable" } });
  });

  test("ends and outcomes of what is not at work change nothing", () => {
    const story = told(asks);
    const before = structuredClone(story.state);
    const child = "0190f3c4-0000-7000-8000-0000000000cc";
    story
      .tell("command_ended", { id: "command:x", ok: false, code: "x", message: "x" })
      .tell("webhook_answered", { id: `webhook:${runId}:1`, ok: false, code: "x", message: "x" })
      .tell("child_ended", {
        child_execution_id: child,
        agent_id: agentId,
        status: "completed",
        output: "x",
        error_code: null,
      })
      .tell("run_ended", {
        child_execution_id: child,
        workflow_id: agentId,
        status: "completed",
        iterations: 1,
        final_state: null,
        output: null,
        final_output: null,
        blackboard: {},
        error: null,
        error_code: null,
      })
      .tell("advance", { entry: 1 })
      .tell("advance", { entry: 7 })
      .tell("cleaned_up", { id: `cleanup:${runId}`, ok: true, value: null })
      .tell("deadline", {})
      .tell("state_overdue", { entry: 1 });
    expect(story.state).toEqual(before);
  });
});

describe("the end", () => {
  const volume = {
    volume_id: "0190f3c4-0000-7000-8000-0000000000aa",
    access_mode: "read-write" as const,
    size_limit_bytes: 1,
    ttl_ms: 1,
  };
  const volumes = [
    { ...volume, name: "workspace", mount_path: "/workspace", storage_class: "ephemeral" as const },
    { ...volume, volume_id: "kept", name: "cache", mount_path: "", storage_class: "persistent" as const },
  ];

  test("lets volumes go and names what stays", () => {
    const story = told(two, { header: { volumes } });
    expect(story.sim.underWay("workflow.cleanup")).toMatchObject([
      { input: { execution_id: runId, volume_ids: [volume.volume_id] } },
    ]);
    expect(story.event("WorkflowExecutionCompleted").details.artifacts).toEqual([
      { type: "volume", name: "cache", volume_id: "kept" },
    ]);
    expect(story.blackboard).toMatchObject({ workspace_volume_id: volume.volume_id, cache_volume_id: "kept" });
  });

  test("erasing cancels what is under way and leaves nothing", () => {
    const story = told(asks, { header: { volumes } });
    const { approval } = story;
    expect(story.ask("erase")).toEqual({ outcome: "erased" });
    expect(story.sim.state).toBeNull();
    expect(story.toldOf("withdraw")).toMatchObject([{ key: approval, body: { reason: "deleted" } }]);
    expect(story.sim.underWay("workflow.cleanup")).toHaveLength(1);
    story.tell("cleaned_up", { id: `cleanup:${runId}`, ok: true, value: null });
    expect(story.sim.state).toBeNull();
    const ended = told(two, { header: { volumes } });
    expect(ended.ask("erase")).toEqual({ outcome: "erased" });
    expect(ended.sim.underWay("workflow.cleanup")).toHaveLength(1);
  });

  test("a command at work is left to its own time", () => {
    const story = told({ RUN: system("sleep 9", ways(["on_timeout", "DONE"])), DONE: noop() });
    expect([...story.sim.timers.keys()]).toEqual([]);
  });
});
