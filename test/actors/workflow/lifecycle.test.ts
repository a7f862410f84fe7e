/** Every row of the state table of a workflow run, told step by step. */
import { describe, expect, test } from "bun:test";
import type { Json } from "../../../actors/kernel/json.ts";
import type { State } from "../../../actors/workflow/definition.ts";
import { runRecord } from "../../../actors/workflow/run/record/record.ts";
import { agent, definitionOf, human, noop, runId, subworkflow, ways, writes } from "./fixture.ts";
import { asks, told, two } from "./lifecycle-fixture.ts";
import { RunStory } from "./scenario.ts";

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
