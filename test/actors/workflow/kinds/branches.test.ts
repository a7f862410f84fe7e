/** Branch: several lines of states side by side. */
import { describe, expect, test } from "bun:test";
import type { Json } from "../../../../actors/kernel/json.ts";
import type { State } from "../../../../actors/workflow/definition.ts";
import { placesOf } from "../../../../actors/workflow/run/moving/places.ts";
import { runGraph, StepFold } from "../../../../actors/workflow/run/record/graph.ts";
import { runRecord } from "../../../../actors/workflow/run/record/record.ts";
import { linesOf } from "../../../../actors/workflow/run/work.ts";
import {
  agent,
  branches,
  decided,
  definitionOf,
  human,
  noop,
  runId,
  subworkflow,
  system,
  wait,
  ways,
  writes,
} from "../fixture.ts";
import { RunStory } from "../scenario.ts";

type Lines = Record<string, Record<string, State>>;

const storyOf = (join: number, lines: Lines, change: object = {}, spec: object = {}): RunStory => {
  const split = branches("SPLIT", join, lines, ways(["on_success", "DONE"], ["on_failure", "BAD"]), change);
  return new RunStory(definitionOf({ ...split, DONE: noop(), BAD: noop() }, spec)).start();
};
const record = ({ state }: RunStory) => runRecord({ execution_id: runId, tenant_id: "north" }, state);
const graph = (story: RunStory) => {
  const fold = new StepFold();
  fold.add(story.events);
  return runGraph(runId, story.state, fold.steps, story.sim.now);
};
const failing = (): State => ({ ...noop(), outcome: "failed" });
const approvalOf = (story: RunStory, name: string): string => {
  const at = placesOf(story.state.current).find(({ current }) => current.name === name);
  return at?.current.work.of === "human" ? at.current.work.approval_id : "";
};
const decide = (story: RunStory, name: string, decision: string): void => {
  story.decide(decision, {}, approvalOf(story, name));
};

describe("how it is joined", () => {
  test("all: the last one joins it, and nothing but the result remains", () => {
    const story = storyOf(2, {
      left: { L1: writes({ mark: "left" }, ["always", "L2"]), L2: human([], { prompt: "{{mark}} {{L1.status}}" }) },
      right: { R1: human([], { prompt: "{{mark}}?" }) },
    });
    const prompts = story.toldOf("open").map(({ body }) => body.prompt);
    expect(prompts.toSorted()).toEqual(["?", "left success"]);
    expect(story.state.current_state).toBe("SPLIT");
    decide(story, "R1", "approved");
    expect(story.state.status).toBe("running");
    decide(story, "L2", "approved");
    expect(story.blackboard.SPLIT).toMatchObject({
      status: "success",
      joined: ["left", "right"],
      branches: { left: { decision: "approved" }, right: { decision: "approved" } },
    });
    expect(story.event("WorkflowBranchJoined").details).toEqual({
      state_name: "SPLIT",
      joined: ["left", "right"],
      cancelled: [],
    });
    expect(Object.keys(story.blackboard)).not.toContain("mark");
    expect(Object.keys(story.blackboard)).not.toContain("L2");
    expect(record(story).state_outputs).toHaveProperty("SPLIT");
    expect(Object.keys(record(story).state_outputs)).toEqual(["SPLIT", "DONE"]);
    expect(story.blackboard.human).toMatchObject({ decision: null });
    expect(story.state.status).toBe("completed");
  });

  test("any: the others are given up in the same turn, with approvals, executions, runs and commands", () => {
    const story = storyOf(1, {
      fast: { F: human([]) },
      asks: { A: human([]) },
      agent: { G: agent([]) },
      inner: { I: subworkflow([]) },
      command: { C: system("true {{input.x}}", []) },
      later: { W: wait({ what: "seconds", seconds: "60" }, []) },
    });
    const approval = approvalOf(story, "A");
    const began = story.sim.performed.map(({ id, activity }) => ({ id, activity }));
    story.sim.tell("approval_decided", {
      approval_id: approvalOf(story, "F"),
      status: "approved",
      via: "approve",
      decided_at: "2031-05-02T06:00:00.000Z",
      result: decided("approved"),
    });
    expect(story.toldOf("withdraw")).toMatchObject([
      { key: approval, coCommit: true, body: { reason: "branch_joined" } },
    ]);
    expect(
      story
        .toldOf("cancel")
        .map(({ kind }) => kind)
        .toSorted(),
    ).toEqual(["execution", "workflow_run"]);
    expect(
      began.filter(({ activity }) => activity !== "workflow.start").every(({ id }) => story.sim.abandoned.has(id)),
    ).toBe(true);
    expect(story.event("WorkflowBranchJoined").details).toMatchObject({
      joined: ["fast"],
      cancelled: ["asks", "agent", "inner", "command", "later"],
    });
    expect(story.sim.timers.size).toBe(0);
    expect(story.settle().state.status).toBe("completed");
  });

  test("once too many have failed it fails, and the others are given up", () => {
    const story = storyOf(2, { one: { A: human([]) }, two: { B: human([]) }, three: { C: human([]) } });
    decide(story, "A", "rejected");
    expect(story.state.current?.name).toBe("SPLIT");
    const last = approvalOf(story, "C");
    decide(story, "B", "rejected");
    expect(story.toldOf("withdraw").map(({ key }) => key)).toEqual([last]);
    expect(story.blackboard.SPLIT).toMatchObject({
      status: "failed",
      error: "join_not_met",
      joined: [],
      branches: { one: { decision: "rejected" }, two: { decision: "rejected" }, three: null },
    });
    expect(story.types).not.toContain("WorkflowBranchJoined");
    expect(story.way).toEqual(["SPLIT", "A", "B", "C", "BAD"]);
  });

  test("a branch ends as its terminal state would end a run", () => {
    const sides: Lines = {
      marked: { M: failing() },
      unmatched: { U: system("true {{input.x}}", ways(["on_failure", "U"])) },
      bad: { B: writes({ execution: "x" }) },
    };
    const story = storyOf(1, sides);
    expect(linesOf(story.state.current).map(({ end }) => end?.error_code ?? null)).toEqual([
      "outcome_failed",
      null,
      "reserved_blackboard_key",
    ]);
    story.sim.succeed(story.sim.underWay("workflow.command")[0]?.id ?? "", {
      status: "success",
      exit_code: 0,
      stdout: "",
      stderr: "",
      duration_ms: 1,
      timed_out: false,
      truncated: false,
      attempts: 1,
      error: null,
      warnings: [],
    });
    expect(story.settle().blackboard.SPLIT).toMatchObject({ status: "success", joined: ["unmatched"] });
  });

  test("without a rule for the failure the run fails with it", () => {
    const split = branches("SPLIT", 2, { left: { L: failing() }, right: { R: human([]) } });
    const story = new RunStory(definitionOf(split)).start();
    expect(record(story)).toMatchObject({ status: "failed", error_code: "join_not_met", waiting_for: null });
    expect(record(story).error).toContain("left");
  });
});

describe("limits", () => {
  test("visits and transitions of all branches are those of the run, which fails with them", () => {
    const loops = { L1: noop(["always", "L2"]), L2: noop(["always", "L1"]) };
    const story = storyOf(1, { left: loops, right: { R: human([]) } });
    expect(record(story)).toMatchObject({ status: "failed", error_code: "state_visit_limit" });
    expect(story.event("WorkflowStateVisitLimitExceeded").details).toMatchObject({ state_name: "L1", branch: "left" });
    expect(story.toldOf("withdraw")).toHaveLength(1);
    const few = storyOf(1, { left: loops, right: { R: human([]) } }, {}, { max_total_transitions: 3 });
    expect(record(few)).toMatchObject({ status: "failed", error_code: "transition_limit" });
    expect(few.way).toEqual(["SPLIT", "L1", "R"]);
  });

  test("what branches write counts with the blackboard as long as they are at work", () => {
    const big = "x".repeat(900_000);
    const fill = { L1: writes({ a: "{{input.text}}" }, ["always", "L2"]), L2: human([]) };
    const split = branches("SPLIT", 2, { left: fill, right: { R: human([]) } }, ways(["always", "DONE"]));
    const story = new RunStory(definitionOf({ ...split, DONE: noop() }), { input: { text: big } }).start();
    expect(story.state.blackboard_bytes).toBeGreaterThan(2 * 900_000);
    decide(story, "L2", "approved");
    decide(story, "R", "approved");
    expect(story.state.blackboard_bytes).toBeLessThan(2.1 * 900_000);
    const wide = Object.fromEntries(Array.from({ length: 9 }, (_, at) => [`a${at}`, "{{input.text}}"]));
    const full = branches("SPLIT", 1, { left: { L1: writes(wide) }, right: { R: human([]) } });
    const over = new RunStory(definitionOf(full), { input: { text: big } }).start();
    expect(record(over)).toMatchObject({ status: "failed", error_code: "blackboard_too_large" });
  });
});

describe("time", () => {
  const two = (): Lines => ({
    left: { L: agent([], { timeout_ms: 1_000 }) },
    right: { R: wait({ what: "seconds", seconds: "3" }, ways(["always", "R2"])), R2: human([]) },
  });

  test("timeouts of its states, and its own, which gives all of them up", () => {
    const story = storyOf(2, two(), { timeout_ms: 10_000, join: 1 });
    story.sim.fireNext();
    expect(story.event("WorkflowStateExited").details).toMatchObject({ state_name: "L", branch: "left" });
    story.sim.fireNext();
    story.settle();
    expect(story.way).toEqual(["SPLIT", "L", "R", "R2"]);
    story.sim.fireNext();
    expect(story.settle().blackboard.SPLIT).toMatchObject({
      status: "failed",
      error: "state_timeout",
      timed_out: true,
    });
    expect(story.toldOf("withdraw")).toHaveLength(1);
    expect(story.way.at(-1)).toBe("BAD");
  });

  test("paused, its states come to their results and none is entered", () => {
    const story = storyOf(2, { left: { L: human(ways(["always", "L2"])), L2: noop() }, right: { R: human([]) } });
    story.ask("pause");
    decide(story, "L", "approved");
    decide(story, "R", "approved");
    expect(story.way).toEqual(["SPLIT", "L", "R"]);
    expect(record(story).waiting_for).toBeNull();
    story.ask("resume");
    expect(story.way).toEqual(["SPLIT", "L", "R", "L2", "DONE"]);
  });

  test("the clock of a Branch stands still while a tool call of a branch waits for a person", () => {
    const story = storyOf(
      1,
      { left: { L: agent([]) }, right: { R: human([], { timeout_ms: 3_600_000 }) } },
      { timeout_ms: 10_000 },
    );
    const { now } = story.sim;
    const child =
      placesOf(story.state.current).flatMap(({ current: { work } }) => (work.of === "agent" ? work.children : []))[0]
        ?.id ?? "";
    const waiting = { approval_id: "a1", tool: "cmd.run", expires_at: now + 60_000 };
    story.tell("child_waiting", { child_execution_id: child, waiting, since: now, most_ms: 60_000 });
    expect(story.state.current?.deadline_at).toBe(now + 70_000);
    expect(record(story).waiting_for).toMatchObject({ kind: "tool_call", approval_id: "a1", state_name: "L" });
    story.sim.now += 5_000;
    story.tell("child_waiting", { child_execution_id: child, waiting: null, since: null, most_ms: 0 });
    expect(story.state.current?.deadline_at).toBe(now + 15_000);
    expect(record(story).waiting_for).toMatchObject({ kind: "approval", state_name: "R" });
  });
});

describe("how it is seen", () => {
  const story = () =>
    storyOf(1, {
      left: { L: human(ways(["always", "L2"]), { timeout_ms: 60_000 }), L2: wait("go", []) },
      right: { R: human(ways(["rejected", "R"]), { timeout_ms: 30_000 }) },
    });

  test("the run waits for what is over first", () => {
    const one = story();
    expect(record(one).waiting_for).toMatchObject({ kind: "approval", state_name: "R" });
    decide(one, "R", "rejected");
    decide(one, "L", "approved");
    expect(record(one).waiting_for).toMatchObject({ kind: "approval", state_name: "R" });
    expect(record(one).current_state).toBe("SPLIT");
  });

  test("events carry the branch; the graph knows the steps of each, in whatever order they ended", () => {
    const one = story();
    one.sim.now += 1_000;
    decide(one, "R", "rejected");
    one.sim.now += 1_000;
    decide(one, "L", "approved");
    const named = one.events.map(({ type, state_name, details }) => [type, state_name, details.branch]);
    expect(named).toContainEqual(["HumanInputRequested", "R", "right"]);
    expect(named).toContainEqual(["WorkflowStateEntered", "SPLIT", undefined]);
    const seen = graph(one);
    expect(
      seen.steps.map(({ state, visit, branch, status, target }) => [state, visit, branch, status, target]),
    ).toEqual([
      ["SPLIT", 1, null, "running", null],
      ["L", 1, "left", "success", "L2"],
      ["R", 1, "right", "failed", "R"],
      ["R", 2, "right", "running", null],
      ["L2", 1, "left", "running", null],
    ]);
    expect(seen.steps.slice(1, 3).map(({ duration_ms }) => duration_ms)).toEqual([2_000, 1_000]);
    expect(seen.edges).toContainEqual({ from: "SPLIT", to: "R", condition: "branch", taken: 1 });
    expect(seen.edges).toContainEqual({ from: "R", to: "R", condition: "rejected", taken: 1 });
    expect(seen.nodes.find(({ name }) => name === "L2")?.branch).toEqual({ state: "SPLIT", name: "left" });
    one.ask("signal", { signal_name: "go", work_id: null });
    const over = graph(one);
    expect(over.steps.map(({ state, status }) => [state, status])).toEqual([
      ["SPLIT", "success"],
      ["L", "success"],
      ["R", "failed"],
      ["R", "cancelled"],
      ["L2", "success"],
      ["DONE", "success"],
    ]);
    expect(over.steps.every(({ exited_at }) => exited_at !== null)).toBe(true);
  });

  test("a cancelled run leaves every branch, and its steps end with it", () => {
    const one = story();
    one.ask("cancel", { reason: null });
    expect(one.toldOf("withdraw")).toHaveLength(2);
    expect(graph(one).steps.map(({ status }) => status)).toEqual(["cancelled", "cancelled", "cancelled"]);
  });
});

test("an attempt at a Branch that failed begins all of its branches anew", () => {
  const retry = { attempts: 2, delay_ms: 1_000, backoff: 2, max_delay_ms: 300_000, on: ["join_not_met"] };
  const story = storyOf(2, { left: { L: human([]) }, right: { R: human([]) } }, { retry });
  decide(story, "L", "rejected");
  expect(story.state.current?.work.of).toBe("backoff");
  expect(graph(story).steps.map(({ state, status }): Json => [state, status])).toEqual([
    ["SPLIT", "running"],
    ["L", "failed"],
    ["R", "cancelled"],
  ]);
  story.sim.fireNext();
  story.settle();
  expect(
    graph(story)
      .edges.filter(({ condition }) => condition === "branch")
      .map(({ taken }) => taken),
  ).toEqual([2, 2]);
  decide(story, "L", "approved");
  decide(story, "R", "approved");
  expect(story.blackboard.SPLIT).toMatchObject({ status: "success", joined: ["left", "right"] });
  expect(story.state.visits).toEqual({ SPLIT: 1, L: 2, R: 2, DONE: 1 });
});
