/** Agent states: the judge loop, the pre-validator, what becomes of failures, what children are given. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { MountPlan } from "../../../../actors/execution/start/plan.ts";
import type { Judge } from "../../../../actors/workflow/definition/parts.ts";
import { sampleAttachment } from "../../execution/fixture.ts";
import { Cast } from "../cast.ts";
import { agent, ways } from "../fixture.ts";

const followed = ways(["on_success", "DONE"], ["on_failure", "SORRY"]);
const judge = (name: string, weight = 1, input_template: string | null = null): Judge => ({
  agent: name,
  input_template,
  weight,
});
const state = (change: object = {}) => agent(followed, change);
const critic = { judges: [judge("critic")] };

describe("without judges", () => {
  test("what the agent says is the result", () => {
    const cast = Cast.of(state(), { input: { text: "write" } });
    expect(cast.only).toMatchObject({ agent: "writer", trigger: "workflow", input: "write", judged: null });
    cast.says("a poem");
    expect(cast.result).toEqual({
      status: "completed",
      output: "a poem",
      iterations: 1,
      execution_id: expect.any(String),
    });
    expect(cast.state.status).toBe("completed");
    expect(cast.way).toEqual(["WORK", "DONE"]);
  });

  test.each([
    ['{"score":0.4,"x":1}', { output: { score: 0.4, x: 1 }, score: 0.4 }],
    ['```json\n{"score":1}\n```', { output: { score: 1 }, score: 1 }],
    ['[{"score":1}]', { output: [{ score: 1 }] }],
    ['{"score":1.5}', { output: { score: 1.5 } }],
    ['{"score":"1"}', { output: { score: "1" } }],
    ["```\nplain\n```", { output: "plain" }],
    ["17", { output: "17" }],
    ["{broken", { output: "{broken" }],
    ["", { output: "" }],
    ['{"__proto__":{"score":1}}', { output: JSON.parse('{"__proto__":{"score":1}}') }],
  ])("the output %s", (said, expected) => {
    const { result } = Cast.of(state()).says(said);
    const { status, iterations, execution_id, ...rest } = result;
    expect(rest as unknown).toEqual(expected);
  });

  test("JSON that nests too deeply to be handled stays a text", () => {
    const deep = "[".repeat(100_000) + "]".repeat(100_000);
    expect(Cast.of(state()).says(deep).result.output).toBe(deep);
  });

  test("a rendered input that is a JSON object is passed as one, at any depth", () => {
    const asText = Cast.of(state({ input: '{"day":"{{input.day}}"}' }), { input: { day: "today" } });
    expect(asText.only.input).toEqual({ day: "today" });
    const asValue = Cast.of(state({ input: { day: ["{{input.day}}"] } }), { input: { day: "[1]" } });
    expect(asValue.only.input).toEqual({ day: ["[1]"] });
  });

  test("a blank agent fails the state", () => {
    const cast = Cast.of(state({ agent: "{{input.who}}" }));
    expect(cast.result).toMatchObject({ status: "failed", error: "template_resolved_empty" });
    expect(cast.asked).toEqual([]);
  });

  test("overrides and volumes reach the agent; what a state does not mount stays out", () => {
    const volume = (name: string, mount_path: string): MountPlan => ({
      name,
      volume_id: `id-of-${name}`,
      mount_path,
      storage_class: "ephemeral",
      access_mode: "read-write",
      size_limit_bytes: 1,
      ttl_ms: 1,
    });
    const header = {
      volumes: [volume("workspace", "/workspace"), volume("data", ""), volume("other", "")],
      security_context: "svc-consumer-pro",
      attachments: [sampleAttachment],
    };
    const volumes = [{ name: "data", mount_path: "/workspace/data", read_only: true }];
    const cast = Cast.of(
      state({ isolation: "process", temperature: 0, intent: " {{input.why}} ", volumes, ...critic }),
      { header, input: { why: "because" } },
    );
    expect(cast.only).toMatchObject({
      intent: "because",
      overrides: {
        isolation: "process",
        temperature: 0,
        security_context: "svc-consumer-pro",
        attachments: [sampleAttachment],
        mounts: [
          { name: "workspace", mount_path: "/workspace", access_mode: "read-write" },
          { name: "data", mount_path: "/workspace/data", access_mode: "read-only" },
        ],
      },
    });
    cast.says("x");
    // A judge sees what it judges through its own mounts, and is given no attachments.
    expect(cast.only.overrides).toMatchObject({ mounts: [], attachments: [], isolation: null, temperature: null });
    expect(cast.only.judged).toMatchObject({ execution_id: cast.asked[0]?.child_execution_id, usual: true });
  });
});

describe("failures are results", () => {
  test.each(["agent_not_found", "agent_paused", "input_validation_failed", "attempts_exhausted", "process_died"])(
    "a start refused with %s",
    (code) => {
      const cast = Cast.of(state(critic)).refused(code);
      const facts = { status: "failed", error_code: code, output: null, iterations: 1, execution_id: null };
      expect(cast.result).toMatchObject(facts);
      expect(cast.way).toEqual(["WORK", "SORRY"]);
      expect(cast.event("WorkflowIterationFailed").details).toMatchObject({ iteration_number: 1, error: code });
      // Only of a start that was tried in vain is it unknown whether it took place.
      expect(cast.toldOf("cancel").length).toBe(["attempts_exhausted", "process_died"].includes(code) ? 1 : 0);
    },
  );

  test.each([
    [{ status: "failed", error_code: "llm_error" }, { error_code: "llm_error" }],
    [{ status: "cancelled" }, { error_code: "execution_cancelled" }],
    [
      { status: "timed_out", error_code: "execution_timeout" },
      { error_code: "execution_timeout", timed_out: true },
    ],
  ])("an execution that ends as %j", (how, expected) => {
    const cast = Cast.of(state());
    cast.begun(cast.only).ends(cast.only, how);
    expect(cast.result).toMatchObject({ status: "failed", ...expected });
    expect("timed_out" in cast.result).toBe("timed_out" in expected);
  });

  test("say which execution failed, with what code, and why; so does the run", () => {
    const cast = Cast.of(agent(ways(["on_success", "DONE"])));
    const { child_execution_id: id } = cast.only;
    cast.begun(cast.only).ends(cast.only, { status: "failed", error_code: "llm_error", reason: "401: no such key" });
    const error = `The agent writer of WORK failed in execution ${id}: llm_error: 401: no such key`;
    expect(cast.result).toMatchObject({ status: "failed", execution_id: id, error_code: "llm_error", error });
    expect(cast.state.ending).toMatchObject({ error_code: "llm_error", error, summary: error });
    expect(cast.event("WorkflowIterationFailed").message).toContain("llm_error: 401: no such key");
  });

  test("without a rule the run fails with the agent's error", () => {
    const cast = Cast.of(agent(ways(["on_success", "DONE"]))).refused("agent_not_found");
    expect(cast.state).toMatchObject({ status: "failed", ending: { error_code: "agent_not_found" } });
  });

  test("the news of the end before the news of the start", () => {
    const cast = Cast.of(state());
    const child = cast.only;
    cast.ends(child, { status: "completed", output: "early" });
    cast.begun(child);
    expect(cast.result.output).toBe("early");
    expect(cast.state.status).toBe("completed");
  });
});

describe("judges", () => {
  test("below the threshold the next input has score and reasoning, until it is met", () => {
    const cast = Cast.of(state({ ...critic, judge_threshold: 0.7 }), { input: { text: "write" } });
    cast.says("bad").verdict(0.2, { reasoning: "too short" });
    expect(cast.only).toMatchObject({ agent: "writer", input: "write\n\nAttempt 1 scored 0.2: too short" });
    cast.says("better").verdict(0.6, { feedback: "nearly" });
    expect(cast.only.input).toBe("write\n\nAttempt 1 scored 0.2: too short\n\nAttempt 2 scored 0.6: nearly");
    cast.says("good").verdict(0.7);
    expect(cast.result).toMatchObject({ status: "completed", output: "good", score: 0.7, iterations: 3 });
    expect(cast.result.execution_id).toBe(cast.asked[4]?.child_execution_id ?? "");
    expect(cast.types.filter((type) => /Iteration|Refinement/.test(type))).toEqual([
      "WorkflowIterationStarted",
      "WorkflowIterationCompleted",
      "RefinementApplied",
      "WorkflowIterationStarted",
      "WorkflowIterationCompleted",
      "RefinementApplied",
      "WorkflowIterationStarted",
      "WorkflowIterationCompleted",
    ]);
    expect(cast.event("RefinementApplied").details).toEqual({
      iteration_number: 3,
      agent_id: "id-of-writer",
      score: 0.6,
      feedback: "nearly",
      code_diff: null,
    });
  });

  test("an object gains the attempts as a member, a list becomes part of an object", () => {
    const refinements = [{ iteration: 1, score: 0, feedback: "no" }];
    const one = Cast.of(state({ ...critic, input: '{"a":1}' })).says("x");
    expect(one.verdict(0, { message: "no" }).only.input).toEqual({ a: 1, refinements });
    const other = Cast.of(state({ ...critic, input: "[1]" })).says("x");
    expect(other.verdict(0, { reasoning: "no" }).only.input).toEqual({ value: [1], refinements });
  });

  test("never met: the last output is kept", () => {
    const cast = Cast.of(state({ ...critic, max_iterations: 2 }));
    cast.says("first").verdict(0.5).says('{"second":2}').verdict(0.79);
    expect(cast.result).toMatchObject({
      status: "failed",
      error: "judge_threshold_not_met",
      output: { second: 2 },
      score: 0.79,
      iterations: 2,
    });
  });

  test("the weighted mean decides, and all judges are asked at once", () => {
    const judges = [judge("a", 1), judge("b", 3)];
    const cast = Cast.of(state({ judges, judge_threshold: 0.6, max_iterations: 1 })).says("x");
    const [a, b] = cast.open;
    expect(cast.open.map((one) => [one.agent, one.trigger])).toEqual([
      ["a", "validator"],
      ["b", "validator"],
    ]);
    if (a === undefined || b === undefined) throw new Error("two judges were to be asked");
    cast.verdict(0.5, {}, b).verdict(0.9, {}, a);
    // (0.9 · 1 + 0.5 · 3) / 4
    expect(cast.result).toMatchObject({ status: "completed", score: 0.6 });
  });

  test("a judge without verdict is left out; none at all is a score of 0", () => {
    const judges = [judge("a"), judge("b"), judge("c")];
    const cast = Cast.of(state({ judges, max_iterations: 1 })).says("x");
    const [a, b, c] = cast.open;
    if (a === undefined || b === undefined || c === undefined) throw new Error("three judges were to be asked");
    cast.says("Fine by me.", a).refused("agent_not_found", b).verdict(0.9, {}, c);
    expect(cast.result).toMatchObject({ status: "completed", score: 0.9 });

    const mute = Cast.of(state({ ...critic, max_iterations: 1 }))
      .says("x")
      .says('{"score":7}');
    expect(mute.result).toMatchObject({ status: "failed", score: 0, error: "judge_threshold_not_met" });
  });

  test("the usual input of a judge, or the template's", () => {
    const cast = Cast.of(state({ ...critic, intent: "rhyme" }), { input: { text: "write" } }).says("a poem");
    expect(cast.only.input).toEqual({
      task: "Intent: rhyme\n\nwrite",
      output: "a poem",
      criteria: "rhyme",
      iteration_number: 1,
      validation_context: "semantic_judge",
      tool_audit_history: [],
      policy_violations: [],
      worker_mounts: [],
    });
    const template = "{{iteration_number}} {{input}} {{output.x}} {{workflow.name}}";
    const own = Cast.of(state({ judges: [judge("critic", 1, template)] }), { input: { text: "write" } }).says(
      '{"x":5}',
    );
    expect(own.only).toMatchObject({ input: "1 write 5 sample", judged: { usual: false } });
  });
});

describe("pre-execution validator", () => {
  const validated = { pre_execution_validator: { agent: "gate", input_template: null }, judge_threshold: 0.5 };

  test("good enough: the agent runs, and its score stands in the result", () => {
    const cast = Cast.of(state(validated));
    expect(cast.only).toMatchObject({ agent: "gate", trigger: "validator", input: { output: "" } });
    cast.verdict(0.5).says("x");
    expect(cast.result).toMatchObject({ status: "completed", output: "x", pre_validation_score: 0.5, iterations: 1 });
  });

  test.each([
    ['{"score":0.4}', 0.4],
    ["no verdict", 0],
  ])("%s: the agent never runs", (said, score) => {
    const cast = Cast.of(state(validated)).says(said);
    expect(cast.result).toEqual({
      status: "failed",
      error: "pre_validation_failed",
      message: `The input of WORK scored ${score}, below 0.5`,
      output: null,
      iterations: 0,
      execution_id: null,
      pre_validation_score: score,
    });
    expect(cast.asked.length).toBe(1);
  });
});

describe("time and cancellation", () => {
  test("a start has half an hour or the state's timeout; children get no longer", () => {
    const free = Cast.of(state());
    expect(free.only).toMatchObject({ start_by: free.sim.now + 30 * 60_000, timeout_ms: null });
    const bound = Cast.of(state({ ...critic, timeout_ms: 60_000 }));
    expect(bound.only).toMatchObject({ start_by: bound.sim.now + 60_000, timeout_ms: 60_000 });
    bound.sim.now += 45_000;
    bound.says("x");
    expect(bound.only.timeout_ms).toBe(15_000);
  });

  test("the state's timeout cancels what is at work and keeps the last output", () => {
    const cast = Cast.of(state({ ...critic, timeout_ms: 60_000 })).says("x");
    const asked = cast.only.child_execution_id;
    cast.sim.fireNext();
    cast.settle();
    expect(cast.result).toMatchObject({ status: "failed", error: "state_timeout", timed_out: true, output: "x" });
    expect(cast.toldOf("cancel").map(({ kind, key }) => [kind, key])).toEqual([["execution", asked]]);
    expect(cast.sim.abandoned).toEqual(new Set([`agent:${asked}`]));
  });

  test("the state's timeout while the agent runs cancels it and fails the iteration", () => {
    const cast = Cast.of(state({ timeout_ms: 60_000 }));
    const { child_execution_id: execution_id } = cast.only;
    cast.begun(cast.only);
    cast.sim.fireNext();
    cast.settle();
    expect(cast.result).toMatchObject({ status: "failed", error: "state_timeout", output: null, execution_id });
    expect(cast.event("WorkflowIterationFailed").details).toMatchObject({
      iteration_number: 1,
      error: "state_timeout",
    });
  });

  test("cancelling the run cancels its agent once started, without giving up the start", () => {
    const cast = Cast.of(state());
    const { child_execution_id: id } = cast.only;
    cast.begun(cast.only).ask("cancel", { reason: null });
    expect(cast.toldOf("cancel")).toMatchObject([{ kind: "execution", key: id, body: { reason: "cancelled" } }]);
    expect(cast.sim.abandoned.size).toBe(0);
  });
});

test("any order of replies gives one result and leaves no agent running", () => {
  const said = fc.oneof(
    fc.double({ min: 0, max: 1, noNaN: true }).map((score) => ({ says: JSON.stringify({ score, reasoning: "r" }) })),
    fc.string().map((says) => ({ says })),
    fc.constantFrom("agent_paused", "attempts_exhausted").map((refused) => ({ refused })),
    fc.constantFrom("failed", "cancelled", "timed_out").map((ends) => ({ ends })),
  );
  const judges = fc.array(fc.double({ min: 0.1, max: 9, noNaN: true }), { maxLength: 3 });
  fc.assert(
    fc.property(
      judges,
      fc.boolean(),
      fc.nat({ max: 3 }),
      fc.array(fc.tuple(fc.nat(), said), { minLength: 40, maxLength: 40 }),
      (weights, gated, more, steps) => {
        const cast = Cast.of(
          state({
            judges: weights.map((weight, at) => judge(`j${at}`, weight)),
            max_iterations: 1 + more,
            pre_execution_validator: gated ? { agent: "gate", input_template: null } : null,
          }),
        );
        for (const [at, what] of steps) {
          const child = cast.open[at % Math.max(1, cast.open.length)];
          if (child === undefined) break;
          if ("says" in what) cast.says(what.says, child);
          else if ("refused" in what) cast.refused(what.refused, child);
          else cast.ends(child, { status: what.ends });
        }
        expect(cast.state.status).toBe("completed");
        const { status, iterations, score } = cast.result;
        expect(["completed", "failed"]).toContain(String(status));
        expect(Number(iterations)).toBeLessThanOrEqual(1 + more);
        if (weights.length > 0 && status === "completed") expect(Number(score)).toBeGreaterThanOrEqual(0.8);
        expect(cast.open).toEqual([]);
      },
    ),
    { numRuns: 150 },
  );
});
