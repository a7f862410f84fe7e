/** A run as a graph. */
import { expect, test } from "bun:test";
import { runGraph, StepFold } from "../../../actors/workflow/run/record/graph.ts";
import { definitionOf, human, noop, runId, ways, writes } from "./fixture.ts";
import { RunStory } from "./scenario.ts";

function stepsOf(story: RunStory) {
  const fold = new StepFold();
  fold.add(story.events);
  return fold.steps;
}

test("states, ways taken and steps with their times", () => {
  const states = {
    ASK: human(ways(["rejected", "NOTE"], ["approved", "DONE"], ["approved", "DONE"])),
    NOTE: writes({ human: "x" }, ["on_failure", "ASK"]),
    DONE: noop(),
  };
  const story = new RunStory(definitionOf(states)).start();
  story.sim.now += 1_000;
  story.decide("rejected");
  story.sim.now += 2_000;
  const graph = runGraph(runId, story.state, stepsOf(story), story.sim.now);
  expect(graph).toMatchObject({
    execution_id: runId,
    workflow_name: "sample",
    version: "1.2.0",
    status: "running",
    current_state: "ASK",
  });
  expect(graph.nodes).toMatchObject([
    { name: "ASK", kind: "Human", terminal: false, visits: 2, status: "running", exited_at: null, duration_ms: 2_000 },
    { name: "NOTE", kind: "System", terminal: false, visits: 1, status: "failed", duration_ms: 0 },
    { name: "DONE", terminal: true, visits: 0, status: "pending", entered_at: null, duration_ms: null },
  ]);
  expect(graph.edges).toEqual([
    { from: "ASK", to: "NOTE", condition: "rejected", taken: 1 },
    { from: "ASK", to: "DONE", condition: "approved", taken: 0 },
    { from: "ASK", to: "DONE", condition: "approved", taken: 0 },
    { from: "NOTE", to: "ASK", condition: "on_failure", taken: 1 },
  ]);
  expect(graph.steps).toMatchObject([
    {
      sequence: 1,
      state: "ASK",
      visit: 1,
      status: "failed",
      entered_at: "2031-05-02T06:00:00.000Z",
      exited_at: "2031-05-02T06:00:01.000Z",
      duration_ms: 1_000,
      condition: "rejected",
      target: "NOTE",
    },
    { sequence: 2, state: "NOTE", condition: "on_failure", target: "ASK" },
    { sequence: 3, state: "ASK", visit: 2, status: "running", exited_at: null, condition: null, target: null },
  ]);

  story.ask("cancel", { reason: null });
  const over = runGraph(runId, story.state, stepsOf(story), story.sim.now + 60_000);
  expect(over.steps.at(-1)).toMatchObject({ status: "cancelled", duration_ms: 2_000 });
  expect(over.edges.every(({ condition, taken }) => condition !== "approved" || taken === 0)).toBe(true);

  const other = new RunStory(definitionOf(states)).start().decide("approved");
  expect(runGraph(runId, other.state, stepsOf(other), other.sim.now).edges.slice(1, 3)).toMatchObject([
    { taken: 1 },
    { taken: 0 },
  ]);
});
