/** What becomes of an accepted output: handled, not handled, or given up with the execution. */
import { describe, expect, test } from "bun:test";
import type { OutputHandler } from "../../../../actors/agent/manifest/execution/results.ts";
import type { Plan } from "../../../../actors/execution/start/plan.ts";
import { Story } from "../scenario.ts";

const tidy: OutputHandler = {
  type: "agent",
  agent: "tidy",
  input_template: "Tidy: {{output}}",
  timeout_ms: 20_000,
  required: false,
};
const hook: OutputHandler = {
  type: "webhook",
  url: "https://hook.example/x?key=hidden",
  method: "POST",
  headers: { Authorization: "Bearer hidden" },
  body_template: null,
  timeout_ms: 30_000,
  max_attempts: 3,
  required: false,
};

/** Up to the acceptance of the output `raw`. */
function accepted(handler: OutputHandler, plan: Partial<Plan> = {}, output = "raw"): Story {
  const story = new Story({ plan: { ...plan, output_handler: handler } }).start().launch().exit(`${output}\n`);
  story.checkInvariants();
  return story;
}
const handle = (story: Story) => story.sim.underWay("output.handle")[0]?.id ?? "";
const recall = (story: Story) => story.sim.underWay("output.recall")[0]?.id ?? "";

test("the execution waits for the handler; the output waits in a log, not in the state", () => {
  const story = accepted(hook);
  expect(story.state).toMatchObject({ status: "running", handling: "handling", iteration: { phase: "over" } });
  expect(story.events.slice(-2)).toEqual(["iteration_completed", "output_handler_started"]);
  expect(story.event("output_handler_started")).toMatchObject({ handler_type: "webhook" });
  expect(story.sim.log("output")).toEqual([{ output: "raw" }]);
  expect(JSON.stringify(accepted(hook, {}, "x".repeat(500_000)).state).length).toBeLessThan(10_000);
  expect(JSON.stringify([story.state, story.sim.log()])).not.toContain("hidden");
  expect(story.record()).toMatchObject({ output: null, raw_output: "raw", iterations: [{ status: "success" }] });
});

describe("a webhook", () => {
  test("its answer is the output; the raw one is kept", () => {
    const story = accepted(hook);
    story.sim.succeed(handle(story), { output: "tidy", truncated: false });
    expect(story.events.slice(-2)).toEqual(["output_handler_completed", "execution_completed"]);
    expect(story.event("output_handler_completed")).toMatchObject({ handler_type: "webhook", result: "tidy" });
    expect(story.record()).toMatchObject({
      status: "completed",
      output: "tidy",
      final_output: "tidy",
      raw_output: "raw",
      summary: "tidy",
      warnings: [],
    });
    story.checkInvariants();
  });

  test("an answer that was cut is worth a warning", () => {
    const story = accepted(hook);
    story.sim.succeed(handle(story), { output: "x".repeat(100_000), truncated: true });
    expect(story.record().warnings).toMatchObject([{ code: "output_truncated" }]);
    expect(String(story.event("output_handler_completed").result).length).toBeLessThanOrEqual(65_536);
    expect(story.record().output).toHaveLength(100_000);
  });

  test("optional: a failure is a warning, and the output is the accepted one", () => {
    const story = accepted(hook);
    story.sim.fail(handle(story), "webhook_failed", "The webhook answered with status 500");
    story.checkInvariants();
    expect(story.state).toMatchObject({ status: "running", handling: "recalling" });
    story.sim.succeed(recall(story), { output: "raw" });
    expect(story.events.slice(-3)).toEqual(["output_handler_failed", "execution_warning", "execution_completed"]);
    expect(story.event("output_handler_failed").error).toBe("The webhook answered with status 500");
    expect(story.record()).toMatchObject({
      status: "completed",
      output: "raw",
      raw_output: "raw",
      warnings: [{ code: "output_handler_failed" }],
    });
    story.checkInvariants();
  });

  test("an accepted output that cannot be read back fails the execution", () => {
    const story = accepted(hook);
    story.sim.fail(handle(story), "webhook_failed");
    story.sim.fail(recall(story), "attempts_exhausted");
    expect(story.record()).toMatchObject({ status: "failed", error_code: "runtime_error" });
    story.checkInvariants();
  });

  test("required: a failure fails the execution, its iteration stays a success", () => {
    const story = accepted({ ...hook, required: true });
    story.sim.fail(handle(story), "webhook_failed", "no answer");
    expect(story.events.slice(-2)).toEqual(["output_handler_failed", "execution_failed"]);
    expect(story.record()).toMatchObject({
      status: "failed",
      error_code: "output_handler_failed",
      error: "no answer",
      output: null,
      raw_output: "raw",
      iterations: [{ status: "success", output: "raw" }],
    });
    story.checkInvariants();
  });

  test("cancel and deadline give it up; a late answer changes nothing", () => {
    for (const end of ["cancel", "deadline"]) {
      const story = accepted({ ...hook, required: true });
      const id = handle(story);
      if (end === "cancel") story.sim.askNow("cancel", { reason: "enough" });
      else story.sim.fireNext();
      expect(story.state).toMatchObject({ status: end === "cancel" ? "cancelled" : "timed_out", handling: null });
      expect(story.sim.abandoned.has(id)).toBe(true);
      const before = structuredClone(story.sim.state);
      story.sim.tell("output_handled", { id, ok: true, value: { output: "late", truncated: false } });
      expect(story.sim.state).toEqual(before);
      story.checkInvariants();
    }
  });

  test("given up while the accepted output is being read back", () => {
    const story = accepted(hook);
    story.sim.fail(handle(story), "webhook_failed");
    const id = recall(story);
    story.sim.askNow("cancel", { reason: null });
    expect(story.sim.abandoned.has(id)).toBe(true);
    story.checkInvariants();
  });
});

describe("an agent", () => {
  const child = (story: Story) => story.children[0]?.id ?? "";

  test("is a child whose output is the output", () => {
    const story = accepted(tidy);
    expect(story.sim.underWay("child.start")).toMatchObject([
      { input: { agent: "tidy", trigger: "output_handler", timeout_ms: 20_000, input: { of: "output" } } },
    ]);
    const id = child(story);
    story.childStarts(id).childEnds(id, "tidy");
    expect(story.events.slice(-5)).toEqual([
      "output_handler_started",
      "child_execution_spawned",
      "child_execution_completed",
      "output_handler_completed",
      "execution_completed",
    ]);
    expect(story.record()).toMatchObject({ status: "completed", output: "tidy", raw_output: "raw" });
    story.checkInvariants();
  });

  test.each([
    ["refused", "could not be started (agent_not_found)"],
    ["failed", "ended as failed (runtime_error)"],
    ["timed_out", "ended as timed_out (runtime_error)"],
    ["silent", "took longer than 20 s"],
  ])("%s: required fails, optional warns", (fate, why) => {
    for (const required of [true, false]) {
      const story = accepted({ ...tidy, required });
      const id = child(story);
      if (fate === "refused") story.sim.fail(`child:${id}`, "agent_not_found");
      else if (fate === "silent") story.childStarts(id).sim.fireNext();
      else story.childStarts(id).childEnds(id, null, fate);
      story.checkInvariants();
      expect(story.event("output_handler_failed").error).toContain(why);
      if (fate === "silent") expect(story.cancelled).toEqual([[id, "handler_timeout"]]);
      if (!required) story.sim.succeed(recall(story), { output: "raw" });
      expect(story.record()).toMatchObject(
        required
          ? { status: "failed", error_code: "output_handler_failed", output: null }
          : { status: "completed", output: "raw", warnings: [{ code: "output_handler_failed" }] },
      );
      story.checkInvariants();
    }
  });

  test("is cancelled with its parent", () => {
    const story = accepted(tidy);
    const id = child(story);
    story.childStarts(id).sim.askNow("cancel", { reason: "enough" });
    expect(story.cancelled).toEqual([[id, "parent_cancelled"]]);
    story.checkInvariants();
    story.childEnds(id, "late");
    expect(story.state.status).toBe("cancelled");
  });
});

test("a rejected output is not handled", () => {
  const validators = [{ type: "exit_code" as const, expected: 3, min_score: 0.7, min_confidence: 0 }];
  const story = accepted(hook, { validators });
  expect(story.events).not.toContain("output_handler_started");
  expect(story.state.status).toBe("failed");
});

test("context: the first text is kept, its warnings join the record", () => {
  const story = new Story().start();
  story.pickUp();
  const warnings = [{ code: "context_unavailable", message: "spec.context.0: not found" }];
  expect(story.sim.askNow("context_loaded", { text: "first", warnings })).toEqual({ kept: true });
  expect(story.sim.askNow("context_loaded", { text: "second", warnings: [] })).toEqual({ kept: true });
  expect(story.sim.log("context")).toEqual([{ text: "first" }]);
  expect(story.record().warnings).toEqual(warnings);
  story.exit("x");
  expect(story.sim.askNow("context_loaded", { text: "late", warnings: [] })).toEqual({ kept: false });
  story.checkInvariants();
});
