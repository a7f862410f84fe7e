/** Errors of models, bounds of rounds and loops that a newer one supersedes. */
import { describe, expect, test } from "bun:test";
import { Story } from "../scenario.ts";
import { bounds, dispatched, run, running } from "./fixture.ts";

describe("model errors", () => {
  test.each([
    { of: "rate_limit", http: 429, code: "upstream_rate_limit", waits: 5 },
    { of: "service_unavailable", http: 503, code: "upstream_unavailable", waits: 5 },
    { of: "network", http: 502, code: "upstream_network", waits: undefined },
    { of: "timeout", http: 504, code: "upstream_timeout", waits: undefined },
  ])("$of is answered and the same message resumes", ({ of, http, code, waits }) => {
    const { story, dispatch } = dispatched();
    const failed = story.result(dispatch);
    story.modelFails(of);
    expect(story.answer(failed)).toMatchObject({ status: "refused", http, code });
    expect(story.answer(failed)).toHaveProperty("status", "refused");
    expect((story.answer(failed) as { retry_after?: number }).retry_after).toBe(waits);
    expect(story.state.iteration.loop?.phase).toBe("generating");
    const resumed = story.result(dispatch);
    story.modelSays({ content: "ok" });
    expect(story.answer(resumed)).toMatchObject({ status: "final" });
    expect(story.event("llm_call_failed")).toMatchObject({ error_class: of, attempts: 3 });
    story.exit("ok");
    expect(story.state.status).toBe("completed");
  });

  test.each([
    { of: "authentication", code: "upstream_authentication", iterations: 1 },
    { of: "model_not_found", code: "upstream_model_not_found", iterations: 1 },
    { of: "invalid_input", code: "upstream_invalid_input", iterations: 2 },
    { of: "provider", code: "upstream_provider", iterations: 2 },
  ])("$of ends the loop; iterations then: $iterations", ({ of, code, iterations }) => {
    const story = running({ mode: "iterative", max_iterations: 2 });
    const asked = story.generate();
    story.modelFails(of);
    expect(story.answer(asked)).toMatchObject({ http: 502, code });
    expect(story.state.iteration.loop?.phase).toBe("failed");
    story.exit("", 4);
    expect(story.event("iteration_failed").error).toMatchObject({ code: "llm_error" });
    expect(story.state.iteration.number).toBe(iterations);
    if (iterations === 1) expect(story.record()).toMatchObject({ status: "failed", error_code: "llm_error" });
  });

  test("llm_timeout_seconds bounds the whole wait, repeats of the bootstrap included", () => {
    const story = running({ llm_timeout_ms: 3000 });
    const budget = () => (story.sim.underWay("model.call")[0]?.input as { budget_ms: number } | undefined)?.budget_ms;
    const asked = story.generate();
    expect(budget()).toBe(3000);
    const begun = story.sim.now;
    story.sim.now = begun + 1000;
    story.modelFails("network");
    expect(story.answer(asked)).toMatchObject({ code: "upstream_network" });
    story.sim.now = begun + 1800;
    story.generate();
    expect(budget()).toBe(1200);
    story.sim.now = begun + 3000;
    story.modelFails("timeout");
    const again = story.generate();
    // The bootstrap does not ask again after this code; one of the agent's own that does begins a new question.
    expect(story.sim.underWay("model.call")).toHaveLength(1);
    expect(story.state.iteration.loop?.asked_at).toBe(begun + 3000);
    story.modelFails("network");
    expect(story.answer(again)).toMatchObject({ code: "upstream_network" });
  });

  test.each([
    ["at its end", 3000, "timeout"],
    ["where the vendor asks for a longer pause than is left", 1000, "rate_limit"],
  ])("%s the bootstrap is told not to ask again", (_, after, of) => {
    const story = running({ llm_timeout_ms: 3000 });
    const asked = story.generate();
    story.sim.now += after;
    story.modelFails(of);
    const message = `upstream: ${of}; llm_timeout_seconds (3 s) is used up`;
    expect(story.answer(asked)).toMatchObject({ http: 502, code: "upstream_provider", message });
    expect(story.event("llm_call_failed")).toMatchObject({ error_class: of });
    expect(story.state.iteration.loop?.phase).toBe("failed");
  });

  test("one who asks again when the time is over gets no other call", () => {
    const story = running({ llm_timeout_ms: 3000 });
    story.generate();
    story.sim.now += 1000;
    story.modelFails("network");
    story.sim.now += 2500;
    expect(story.answer(story.generate())).toMatchObject({ code: "upstream_provider" });
    expect(story.sim.underWay("model.call")).toEqual([]);
  });

  test("the next reply of the conversation has its whole time again", () => {
    const { story, dispatch } = dispatched({ llm_timeout_ms: 3000 });
    story.sim.now += 60_000;
    story.result(dispatch);
    expect(story.sim.underWay("model.call")[0]?.input).toMatchObject({ budget_ms: 3000 });
  });

  test("what a reply is warned of is on the record and in the stream, once for each code", () => {
    const { story, dispatch } = dispatched();
    const asked = story.result(dispatch);
    const warnings = [{ code: "llm_fallback_used", message: "cloud did not answer" }];
    story.modelSays({ calls: [run()], warnings });
    story.result(story.dispatchOf(asked));
    story.modelSays({ content: "ok", warnings: [...warnings, { code: "llm_answer_truncated", message: "cut" }] });
    const kept = story.events.filter((name) => name === "execution_warning");
    expect(kept).toHaveLength(2);
    expect(story.record().warnings.map(({ code }) => code)).toEqual(["llm_fallback_used", "llm_answer_truncated"]);
    expect(story.event("execution_warning")).toMatchObject({ code: "llm_answer_truncated", message: "cut" });
  });

  test("what was warned of before the start is told right after it", () => {
    const warnings = [{ code: "unknown_field", message: "colour is not known" }];
    const story = running({ warnings });
    expect(story.events.slice(0, 2)).toEqual(["execution_started", "execution_warning"]);
    expect(story.event("execution_warning")).toMatchObject({ code: "unknown_field" });
    expect(story.record().warnings).toEqual(warnings);
  });

  test("a fatal model error counts more than an exit_code validator", () => {
    const validators = [{ type: "exit_code" as const, expected: 4, min_score: 0.7, min_confidence: 0 }];
    const story = new Story({ plan: { validators } }).start().launch();
    story.generate();
    story.modelFails("authentication").exit("", 4);
    expect(story.record()).toMatchObject({ status: "failed", error_code: "llm_error" });
  });

  test("after a failed loop the next generate starts anew; the model is not blamed", () => {
    const story = running();
    story.generate();
    story.modelFails("provider");
    const again = story.generate();
    story.modelSays({ content: "ok" });
    expect(story.answer(again)).toMatchObject({ status: "final" });
    story.exit("", 1);
    expect(story.record().error_code).toBe("nonzero_exit");
  });

  test("an activity that broke counts as the provider's failure", () => {
    const story = running();
    const asked = story.generate();
    story.sim.fail(story.sim.underWay("model.call")[0]?.id ?? "", "crashed", "boom", { odd: true });
    expect(story.answer(asked)).toMatchObject({ http: 502, code: "upstream_provider" });
  });
});

describe("rounds", () => {
  test.each([
    {
      text: "so far",
      answer: { status: "final", final: { finish_reason: "round_limit", content: "so far", tool_calls_executed: 2 } },
    },
    { text: " ", answer: { status: "refused", http: 409, code: "tool_round_limit" } },
  ])("out of rounds, one last call without tools: $text", ({ text, answer }) => {
    const story = running({ bounds: { ...bounds, max_rounds: 2 } });
    const asked = story.generate();
    for (let round = 0; round < 2; round++) story.modelSays({ calls: [{ name: "fs.list" }] }).toolEnds();
    story.modelSays({ calls: [{ name: "fs.list" }] });
    expect(story.sim.underWay("tool.call")).toEqual([]);
    expect(story.sim.underWay("model.call")[0]?.input).toMatchObject({ last: true });
    story.modelSays({ content: text, calls: [{ name: "fs.list" }] });
    expect(story.answer(asked)).toMatchObject(answer);
    expect(story.record().iterations[0]?.trajectory).toHaveLength(2);
    story.checkInvariants();
  });
});

describe("superseded", () => {
  test("another generate takes over: the old caller and the old dispatch are refused", () => {
    const { story, dispatch } = dispatched();
    const other = story.generate("Something else");
    expect(story.answer(story.result(dispatch))).toMatchObject({ http: 409, code: "loop_not_active" });
    story.modelSays({ content: "ok" });
    expect(story.answer(other)).toMatchObject({ status: "final", from: 4 });
    expect(story.record().iterations[0]?.trajectory).toMatchObject([
      { status: "failed", error: "The call was interrupted" },
    ]);
  });

  test("what was under way is abandoned, and its waiter is told", () => {
    const story = running();
    const first = story.generate("one");
    const call = story.sim.underWay("model.call")[0]?.id ?? "";
    story.generate("two");
    expect(story.answer(first)).toMatchObject({ code: "loop_not_active" });
    expect(story.sim.abandoned.has(call)).toBe(true);
  });
});
