/** The record of a run and its row in lists. */
import { expect, test } from "bun:test";
import { runElement, runRecord } from "../../../actors/workflow/run/record/record.ts";
import { definitionOf, human, noop, runId, ways } from "./fixture.ts";
import { RunStory } from "./scenario.ts";

const keys = [
  "id",
  "execution_id",
  "workflow_id",
  "workflow_name",
  "workflow_version",
  "tenant_id",
  "status",
  "current_state",
  "waiting_for",
  "intent",
  "state_visits",
  "transition_count",
  "final_output",
  "summary",
  "error",
  "error_code",
  "started_at",
  "last_transition_at",
  "ended_at",
  "deadline_at",
  "paused_at",
  "parent_execution_id",
  "retry_of",
  "forked_from",
  "continued_from",
  "continued_as",
  "compensation",
  "schedule_id",
  "security_context",
  "stimulus_id",
  "initiated_by",
  "starter",
  "context_ceilings",
  "temporal_workflow_id",
  "temporal_run_id",
].sort();
const subject = { execution_id: runId, tenant_id: "north" };
const states = { A: noop(["always", "ASK"]), ASK: human(ways(["approved", "END"])), END: noop() };

test("every key is always there, and rows leave the bulky ones out", () => {
  const story = new RunStory(definitionOf(states)).start();
  const check = () => {
    expect(Object.keys(runElement(subject, story.state)).sort()).toEqual(keys);
    expect(Object.keys(runRecord(subject, story.state)).sort()).toEqual(
      [...keys, "input", "attachments", "blackboard", "state_outputs", "warnings"].sort(),
    );
  };
  check();
  story.ask("cancel", { reason: "enough of it" });
  check();
  expect(runElement(subject, story.state)).toMatchObject({
    status: "cancelled",
    summary: "The run was cancelled: enough of it",
    error: null,
    error_code: null,
  });
});

test("live and ended runs, as clients see them", () => {
  const story = new RunStory(definitionOf(states, { output_template: { said: "{{human.response}}" } }), {
    header: { timeout_ms: 60_000, retry_of: "earlier", parent: { execution_id: "up", state_name: "S", waits: true } },
    input: { a: 1 },
  }).start();
  expect(runRecord(subject, story.state)).toMatchObject({
    status: "running",
    current_state: "ASK",
    waiting_for: { kind: "approval", state_name: "ASK" },
    input: { a: 1 },
    state_outputs: { A: { status: "success" } },
    state_visits: { A: 1, ASK: 1 },
    transition_count: 2,
    final_output: null,
    ended_at: null,
    deadline_at: "2031-05-02T06:01:00.000Z",
    paused_at: null,
    parent_execution_id: "up",
    retry_of: "earlier",
    temporal_run_id: runId,
  });
  story.sim.now += 1_000;
  story.decide("approved");
  expect(runRecord(subject, story.state)).toMatchObject({
    status: "completed",
    current_state: "END",
    waiting_for: null,
    final_output: { said: "approved" },
    last_transition_at: "2031-05-02T06:00:01.000Z",
    ended_at: "2031-05-02T06:00:01.000Z",
    error: null,
  });

  const refused = new RunStory(definitionOf(states)).start().decide("rejected");
  expect(runRecord(subject, refused.state)).toMatchObject({
    status: "failed",
    error_code: "approval_rejected",
    final_output: null,
    error: expect.stringContaining("ASK was rejected"),
    summary: runRecord(subject, refused.state).error,
  });
});
