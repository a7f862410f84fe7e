/** Whole lives of executions, told step by step (docs/reference/executions.md). */
import { describe, expect, test } from "bun:test";
import type { Validator } from "../../../actors/agent/manifest/execution/results.ts";
import type { Plan } from "../../../actors/execution/start/plan.ts";
import { iterative, lanes } from "./lifecycle-fixture.ts";
import { Story } from "./scenario.ts";

const exitCode = (min_score = 0.7, expected = 0): Validator => ({
  type: "exit_code",
  expected,
  min_score,
  min_confidence: 0,
});

describe("start", () => {
  test("writes the plan, asks for a slot and sets no timer", () => {
    const story = new Story().start();
    expect(story.state.status).toBe("pending");
    expect(story.sim.log("plan")).toEqual([story.plan]);
    expect(story.events).toEqual([]);
    expect(story.sim.timers.size).toBe(0);
    expect(story.sim.underWay("iteration.run").map(({ input }) => input)).toEqual([
      { execution_id: story.sim.key, iteration: 1, attempt: 1, instance_id: story.instance, replaces: null },
    ]);
  });

  test("a second start gets the first reply and changes nothing", () => {
    const story = new Story();
    const body = { header: story.header, plan: story.plan };
    const first = story.sim.askNow("start", body);
    story.launch();
    const before = structuredClone(story.sim.state);
    story.sim.now += 5000;
    expect(story.sim.askNow("start", body)).toEqual(first);
    expect(story.sim.state).toEqual(before);
    expect(story.sim.log("plan")).toHaveLength(1);
  });

  test("keeps the state small: the plan's bulk is not in it", () => {
    const story = new Story({ plan: { input: "x".repeat(500_000), instruction: "y".repeat(90_000) } }).start();
    expect(JSON.stringify(story.state).length).toBeLessThan(4000);
  });
});

describe("one-shot", () => {
  test("the events of a plain run, in order", () => {
    const story = new Story().start();
    expect(story.pickUp()).toMatchObject({ proceed: true, iteration: 1, attempt: 1 });
    story.exit("done\n");
    expect(story.events).toEqual([
      "execution_started",
      "iteration_started",
      "iteration_completed",
      "execution_completed",
    ]);
    expect(story.event("execution_completed")).toMatchObject({ final_output: "done", total_iterations: 1 });
    expect(story.record()).toMatchObject({ status: "completed", output: "done", summary: "done", total_iterations: 1 });
    expect(story.record().iterations).toMatchObject([{ number: 1, status: "success", output: "done", exit_code: 0 }]);
    story.checkInvariants();
  });

  test("a failing validator ends it after one iteration", () => {
    const story = new Story({ plan: { validators: [lanes] } }).start().launch().exit("{}");
    expect(story.state.iteration.phase).toBe("validating");
    story.validated("{}", 0);
    expect(story.events.slice(-4)).toEqual([
      "iteration_completed",
      "gradient_validation_performed",
      "iteration_rejected",
      "execution_failed",
    ]);
    expect(story.record()).toMatchObject({ status: "failed", error_code: "validation_rejected", total_iterations: 1 });
    expect(story.event("iteration_rejected")).toMatchObject({ validator: "json_schema", feedback: "lanes is missing" });
    expect(story.record().iterations[0]).toMatchObject({ status: "rejected", validation_results: [{ passed: false }] });
  });

  test.each([
    { what: "quiet", stderr: "", min: 1, status: "completed" },
    { what: "stderr passes by default", stderr: "warned\n", min: 0.7, status: "completed" },
    { what: "stderr at min_score 1", stderr: "warned\n", min: 1, status: "failed" },
    { what: "the bootstrap's own lines do not count", stderr: "[BOOTSTRAP retry]\n", min: 1, status: "completed" },
  ])("exit_code, $what", ({ stderr, min, status }) => {
    const story = new Story({ plan: { validators: [exitCode(min)] } }).start().launch().exit("x", 0, { stderr });
    expect(story.state.status).toBe(status as "completed");
  });

  test("an exit_code validator decides over a non-zero exit", () => {
    const story = new Story({ plan: { validators: [exitCode(0.7, 3)] } }).start().launch().exit("three", 3);
    expect(story.record()).toMatchObject({ status: "completed", output: "three" });
  });

  test.each([
    { what: "non-zero exit", exit: 9, reason: "exited", code: "nonzero_exit" },
    { what: "no exit code", exit: null, reason: "terminated", code: "runtime_error" },
    { what: "out of memory", exit: 137, reason: "out_of_memory", code: "out_of_memory" },
    { what: "disk", exit: 137, reason: "disk_exceeded", code: "disk_exceeded" },
  ])("a fault fails it with its code: $what", ({ exit, reason, code }) => {
    const story = new Story().start().launch().exit("", exit, { reason, stderr: "why\n" });
    expect(story.events.slice(-3)).toEqual(["instance_terminated", "iteration_failed", "execution_failed"]);
    expect(story.record()).toMatchObject({ status: "failed", error_code: code });
    expect(story.record().iterations[0]).toMatchObject({ status: "failed", error: { code }, stderr: "why\n" });
  });

  test("an output that was cut is a warning", () => {
    const story = new Story().start().launch();
    const end = { reason: "exited", exit_code: 0, stdout: "x", stdout_truncated: true, stderr: "" };
    story.sim.succeed(`run:${story.instance}`, end);
    expect(story.record().warnings.map(({ code }) => code)).toEqual(["output_truncated"]);
  });
});

test("a failed agent says its exit code and the last lines of its standard error", () => {
  const failed = (stderr: string) => new Story().start().launch().exit("", 3, { stderr }).record();
  const said = failed("Traceback\n  line 7\nValueError: no lane\n[BOOTSTRAP ERROR] gave up\n");
  const error = "The agent exited with code 3:\nTraceback\n  line 7\nValueError: no lane";
  expect(said).toMatchObject({ error_code: "nonzero_exit", error, summary: error });
  expect(said.iterations[0]?.error?.message).toBe(error);
  expect(failed("[BOOTSTRAP ERROR] refused: 401\n").error).toEndWith("refused: 401");
  expect(failed("").error).toBe("The agent exited with code 3");
});

describe("iterative", () => {
  test("rejected, refined, accepted", () => {
    const story = new Story({ header: iterative(3), plan: { validators: [lanes] } }).start().launch();
    const first = story.instance;
    story.exit("{}").validated("{}", 0);
    expect(story.state.iteration).toMatchObject({ number: 2, phase: "waiting", attempt: 1 });
    expect(story.events.slice(-2)).toEqual(["iteration_rejected", "refinement_applied"]);
    expect(story.event("refinement_applied")).toMatchObject({ iteration_number: 2, feedback: "lanes is missing" });
    expect(story.sim.underWay("iteration.run")[0]?.input).toMatchObject({ iteration: 2, replaces: first });
    expect(story.sim.log("history")).toMatchObject([
      { iteration: 1, output: "{}", exit_code: 0, validation_failed: "json_schema", feedback: "lanes is missing" },
    ]);
    story.launch().exit('{"lanes":[]}').validated('{"lanes":[]}', 1);
    expect(story.record()).toMatchObject({ status: "completed", total_iterations: 2, output: '{"lanes":[]}' });
    expect(story.record().iterations.map(({ status }) => status)).toEqual(["rejected", "success"]);
  });

  test("always failing, three iterations and no more", () => {
    const story = new Story({ header: iterative(3), plan: { validators: [lanes] } }).start();
    for (let number = 1; number <= 3; number++) story.launch().exit("{}").validated("{}", 0);
    expect(story.record()).toMatchObject({ error_code: "max_iterations_exceeded", total_iterations: 3 });
    expect(story.record().error).toContain("lanes is missing");
    expect(story.events.filter((name) => name === "refinement_applied")).toHaveLength(2);
  });

  test("a fault is told to the next iteration", () => {
    const story = new Story({ header: iterative(2) }).start().launch().exit("", 7);
    expect(story.state.iteration.number).toBe(2);
    expect(story.sim.log("history")).toMatchObject([
      { iteration: 1, exit_code: 7, error: expect.stringContaining("nonzero_exit") },
    ]);
    expect(story.state.iteration.action).toStartWith("Refine: ");
  });

  test.each(["image_pull_failed", "volume_error"])("%s is fatal: no further iteration", (code) => {
    const story = new Story({ header: iterative(5) }).start().launch();
    story.sim.fail(`run:${story.instance}`, code);
    expect(story.record()).toMatchObject({ status: "failed", error_code: code, total_iterations: 1 });
  });

  test("validators that could not run reject the output", () => {
    const story = new Story({ header: iterative(2), plan: { validators: [lanes] } }).start().launch().exit("{}");
    story.sim.fail(`validate:${story.instance}:0`, "crashed", "no child process");
    expect(story.event("iteration_rejected").feedback).toContain("no child process");
    expect(story.state.iteration.number).toBe(2);
  });
});

describe("lost instances", () => {
  test("the iteration restarts twice under its number, then the loss is a fault", () => {
    const story = new Story().start().launch();
    const instances = [story.instance];
    for (const attempt of [2, 3]) {
      story.lose();
      expect(story.state.iteration).toMatchObject({ number: 1, attempt, phase: "waiting" });
      expect(story.event("iteration_restarted")).toMatchObject({ attempt, reason: "instance_lost" });
      story.launch();
      instances.push(story.instance);
    }
    expect(new Set(instances).size).toBe(3);
    story.lose();
    expect(story.record()).toMatchObject({ status: "failed", error_code: "instance_lost", total_iterations: 1 });
    expect(story.events.filter((name) => name === "iteration_started")).toHaveLength(1);
    story.checkInvariants();
  });

  test("a bootstrap that gave the service up restarts the iteration despite validators", () => {
    const gaveUp = "[BOOTSTRAP ERROR] gave up: gateway unreachable (ECONNREFUSED)\n";
    const exitCode = { type: "exit_code", expected: 0, min_score: 0.7, min_confidence: 0 } as const;
    for (const plan of [{}, { validators: [exitCode] }] satisfies Partial<Plan>[]) {
      const story = new Story({ plan }).start().launch();
      for (const attempt of [2, 3]) {
        story.exit("", 5, { stderr: gaveUp });
        expect(story.state.iteration).toMatchObject({ number: 1, attempt, phase: "waiting" });
        expect(story.event("iteration_restarted")).toMatchObject({ attempt, reason: "bootstrap_lost" });
        story.launch();
      }
      story.exit("", 5, { stderr: gaveUp });
      expect(story.record()).toMatchObject({ status: "failed", error_code: "bootstrap_lost", total_iterations: 1 });
      story.checkInvariants();
    }
  });

  test("exit code 5 of a program that says nothing of the service is the program's own", () => {
    const story = new Story().start().launch().exit("", 5, { stderr: "no more paper\n" });
    expect(story.record()).toMatchObject({ status: "failed", error_code: "nonzero_exit" });
  });

  test("exit code 5 after a model error is that error", () => {
    const story = new Story().start().launch();
    story.generate();
    story.modelFails("unavailable").exit("", 5, { stderr: "[BOOTSTRAP ERROR] gave up: 503\n" });
    expect(story.record()).toMatchObject({ status: "failed", error_code: "llm_error" });
  });

  test("what the former instance sends no longer counts", () => {
    const story = new Story().start().launch();
    const former = story.instance;
    story.lose().launch();
    const before = structuredClone(story.sim.state);
    expect(story.answer(story.generate("x", { instance_id: former }))).toMatchObject({
      http: 401,
      code: "invalid_token",
    });
    story.sim.tell("console", { instance_id: former, stream: "stdout", offset: 0, bytes: 2, content: "hi" });
    story.sim.tell("instance_spawned", { instance_id: former });
    story.sim.tell("iteration_deadline", { instance_id: former });
    story.sim.tell("instance_ended", { id: `run:${former}`, ok: false, code: "x", message: "x" });
    expect(story.sim.askNow("picked_up", { instance_id: former, runtime: story.header.runtime, warnings: [] })).toEqual(
      { proceed: false },
    );
    expect(story.sim.state).toEqual(before);
  });

  test("a resumed activity does not start again and learns how far the output came", () => {
    const story = new Story().start().launch();
    story.sim.tell("console", { instance_id: story.instance, stream: "stdout", offset: 0, bytes: 5, content: "hello" });
    const before = structuredClone(story.sim.state);
    story.sim.now += 1000;
    expect(story.pickUp()).toMatchObject({ proceed: true, attempt: 1, console: { stdout: 5, stderr: 0 } });
    expect(story.sim.state).toEqual(before);
  });

  test("the output of a restarted iteration counts from its start again", () => {
    const story = new Story().start().launch();
    const chunk = () => ({ instance_id: story.instance, stream: "stdout", offset: 0, bytes: 5, content: "hello" });
    story.sim.tell("console", chunk());
    story.lose().launch();
    expect(story.pickUp()).toMatchObject({ console: { stdout: 0, stderr: 0 } });
    story.sim.tell("console", chunk());
    expect(story.events.filter((name) => name === "console_output")).toHaveLength(2);
  });
});

test("what no iteration will read is not remembered", () => {
  const story = new Story().start().launch().exit("", 1);
  expect(story.sim.log("history")).toEqual([]);
});

test("an ended execution ignores everything and refuses the gateway", () => {
  const story = new Story().start().launch();
  const { instance } = story;
  story.generate();
  story.exit("x");
  const before = structuredClone(story.sim.state);
  const outcome = { ok: false, code: "late", message: "late" };
  for (const { id, then } of story.sim.performed) story.sim.tell(then, { id, ...outcome });
  story.sim.tell("deadline", {});
  story.sim.tell("iteration_deadline", { instance_id: instance });
  story.sim.tell("dispatch_lost", { dispatch_id: "x" });
  story.sim.tell("instance_spawned", { instance_id: instance });
  story.sim.tell("console", { instance_id: instance, stream: "stdout", offset: 0, bytes: 1, content: "x" });
  expect(story.answer(story.generate("y"))).toMatchObject({ http: 409, code: "execution_not_running" });
  expect(story.answer(story.result("y"))).toMatchObject({ http: 409, code: "execution_not_running" });
  expect(story.sim.askNow("picked_up", { instance_id: instance, runtime: story.header.runtime, warnings: [] })).toEqual(
    { proceed: false },
  );
  expect(story.sim.state).toEqual(before);
});

test("an execution that does not exist answers every question and stays away", () => {
  const story = new Story();
  const gateway = { instance_id: null, body_hash: "h", idempotency_key: null };
  const generate = { ...gateway, agent_id: "", iteration_number: 1, model_alias: "m", prompt: "p", messages: [] };
  const result = {
    ...gateway,
    dispatch_id: "d",
    exit_code: 0,
    stdout: "",
    stderr: "",
    duration_ms: 0,
    truncated: false,
  };
  expect(story.sim.askNow("generate", generate)).toMatchObject({ http: 404, code: "execution_not_found" });
  expect(story.sim.askNow("dispatch_result", result)).toMatchObject({ http: 404, code: "execution_not_found" });
  expect(story.sim.askNow("picked_up", { instance_id: "i", runtime: story.header.runtime, warnings: [] })).toEqual({
    proceed: false,
  });
  for (const then of ["instance_ended", "validated", "model_outcome", "tool_outcome"]) {
    story.sim.tell(then, { id: "x", ok: false, code: "late", message: "late" });
  }
  story.sim.tell("deadline", {});
  story.sim.tell("workspace_removed", { id: "x", ok: true, value: null });
  expect(story.sim.state).toBeNull();
});
