/** The dispatch loop: what the gateway is told, in every state, for every message. */
import { describe, expect, test } from "bun:test";
import { refusals, upstreamRefusal } from "../../../../actors/execution/loop/refusal.ts";
import type { Json } from "../../../../actors/kernel/json.ts";
import { problems } from "../../../../actors/kernel/problem.ts";
import { Story } from "../scenario.ts";

const run = (command = "make check", args?: string[]) => ({
  name: "cmd.run",
  arguments: { command, ...(args === undefined ? {} : { args }) } as Record<string, Json>,
});
const running = (header = {}) => new Story({ header }).start().launch();
const bounds = { max_rounds: 50, dispatch_grace_ms: 120_000, tool_parallelism: 8, tool_message_bytes: 65_536 };
/** Up to a dispatch that waits for its result. */
function dispatched(header = {}): { story: Story; dispatch: string; asked: string } {
  const story = running(header);
  const asked = story.generate();
  story.modelSays({ calls: [run()] });
  return { story, dispatch: story.dispatchOf(asked), asked };
}

describe("a conversation", () => {
  test("text ends it: the final answer, and the conversation without the preamble", () => {
    const story = running();
    const asked = story.generate("Hello");
    expect(story.sim.answers.has(asked)).toBe(false);
    const input = story.sim.underWay("model.call")[0]?.input as Record<string, Json>;
    expect(input).toMatchObject({ from: 1, upto: 1, alias: "default", budget_ms: 300_000 });
    expect(input.system).toContain("/workspace");
    expect(input.tools).toContain("cmd.run");
    story.modelSays({ content: "Done.", finish: "length" });
    expect(story.answer(asked)).toEqual({
      status: "final",
      final: {
        type: "final",
        content: "Done.",
        tool_calls_executed: 0,
        finish_reason: "length",
        model: "default",
        usage: { input_tokens: 10, output_tokens: 4, total_tokens: 14 },
      },
      log: `loop:${story.instance}`,
      from: 1,
      seq: 3,
    });
    expect(story.conversation()).toEqual([
      { role: "user", content: "Hello" },
      { role: "assistant", content: "Done." },
    ]);
  });

  test("the prompt is not repeated when the last message already is it", () => {
    const story = running();
    const messages = [
      { role: "system", content: "Be brief." },
      { role: "user", content: "Hello" },
    ];
    story.generate("Hello", { messages });
    expect(story.conversation()).toEqual(messages as never);
  });

  test("four calls, two dispatches in turn, four tool messages in order", () => {
    const story = running();
    const asked = story.generate();
    story.modelSays({ calls: [{ name: "fs.read" }, run("one"), run("two"), { name: "web.fetch" }] });
    expect(story.sim.answers.has(asked)).toBe(false);
    story.toolEnds();
    const first = story.dispatchOf(asked);
    const second = story.dispatchOf(story.result(first));
    const last = story.result(second);
    story.checkModelInput();
    story.modelSays({ content: "ok" });
    // web.fetch is not among the tools: refused, so it did not run.
    expect(story.answer(last)).toMatchObject({ status: "final", final: { tool_calls_executed: 3 } });
    expect(story.conversation().map(({ tool_call_id, role }) => tool_call_id ?? role)).toEqual([
      "user",
      "assistant",
      "c1",
      "c2",
      "c3",
      "c4",
      "assistant",
    ]);
    story.checkInvariants();
  });

  test("neighbours that only look run side by side, every other call alone", () => {
    const story = running({ bounds: { ...bounds, tool_parallelism: 2 } });
    story.generate();
    story.modelSays({
      calls: ["fs.read", "fs.list", "fs.grep", "fs.write", "fs.read"].map((name) => ({ name })),
    });
    const tools = () => story.sim.underWay("tool.call").map(({ input }) => (input as { tool: string }).tool);
    expect(tools()).toEqual(["fs.read", "fs.list"]);
    story.toolEnds(1);
    expect(tools()).toEqual(["fs.read", "fs.grep"]);
    story.toolEnds(1);
    expect(tools()).toEqual(["fs.read"]);
    story.toolEnds();
    expect(tools()).toEqual(["fs.write"]);
    story.toolEnds();
    expect(tools()).toEqual(["fs.read"]);
    story.toolEnds();
    expect(story.sim.underWay("model.call")).toHaveLength(1);
    story.checkInvariants();
  });

  test("ids the model repeats or leaves out are made unique", () => {
    const story = running();
    story.generate();
    story.modelSays({
      calls: [
        { id: "a", name: "fs.read" },
        { id: "a", name: "fs.list" },
        { id: "", name: "fs.glob" },
      ],
    });
    for (let left = 3; left > 0; left--) story.toolEnds();
    const ids = story.conversation().flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }) => id));
    expect(new Set(ids).size).toBe(3);
    expect(story.conversation().flatMap(({ tool_call_id = [] }) => tool_call_id)).toEqual(ids);
  });

  test("a tool message above the bound is trimmed for the model only", () => {
    const story = running({ bounds: { ...bounds, tool_message_bytes: 1000 } });
    story.generate();
    story.modelSays({ calls: [{ name: "fs.read" }] });
    const content = "x".repeat(5000);
    story.toolEnds(0, { status: "succeeded", result: { content } });
    const told = story.conversation().at(-1)?.content ?? "";
    expect(Buffer.byteLength(told)).toBeLessThanOrEqual(1000);
    expect(told).toContain("[trimmed ");
    expect(story.record().iterations[0]?.trajectory[0]?.result_json).toBe(JSON.stringify({ content }));
  });
});

describe("tool messages of what did not work", () => {
  const told = (story: Story) => JSON.parse(story.conversation().at(-1)?.content ?? "null") as Record<string, Json>;

  test("a tool the agent does not have: 2000, a violation, and advice not to repeat", () => {
    const story = running();
    story.generate();
    story.modelSays({ calls: [{ name: "tickets.search" }] });
    expect(told(story)).toMatchObject({
      isError: true,
      tool: "tickets.search",
      code: "tool_not_allowed",
      error_code: 2000,
    });
    expect(told(story).error).toContain("Do not repeat");
    expect(story.event("policy_violation")).toMatchObject({
      tool_name: "tickets.search",
      violation_type: "tool_not_allowed",
    });
    const iteration = story.record().iterations[0];
    expect(iteration).toMatchObject({ policy_violations: ["tickets.search"], trajectory: [{ status: "refused" }] });
    expect(story.sim.underWay("model.call")).toHaveLength(1);
  });

  test("arguments that do not fit", () => {
    const story = running();
    story.generate();
    story.modelSays({ calls: [{ name: "cmd.run", arguments: { command: 7 } }] });
    expect(told(story)).toMatchObject({ code: "invalid_arguments", issues: [{ path: "command" }] });
    expect(story.record().iterations[0]?.trajectory).toMatchObject([
      { status: "failed", arguments_json: '{"command":7}' },
    ]);
  });

  test("a tool that failed, one that policy refused, one whose activity broke", () => {
    const story = running();
    story.generate();
    story.modelSays({ calls: [{ name: "fs.edit" }, { name: "fs.write" }, { name: "fs.delete" }] });
    story.toolEnds(0, { status: "failed", code: "no_match", message: "no such text" });
    expect(told(story)).toMatchObject({ code: "no_match", error: "no such text" });
    story.toolEnds(0, {
      status: "refused",
      error_code: 2002,
      code: "path_not_allowed",
      violation_type: "path_outside_boundary",
      message: "fs.write may not touch /etc",
      attempted: "/etc",
    });
    expect(told(story)).toMatchObject({ code: "path_not_allowed", error_code: 2002 });
    story.sim.fail(story.sim.underWay("tool.call")[0]?.id ?? "", "interrupted", "the node went away");
    expect(told(story)).toMatchObject({ code: "interrupted" });
    const steps = story.record().iterations[0]?.trajectory.map(({ status }) => status);
    expect(steps).toEqual(["failed", "refused", "failed"]);
  });
});

describe("cmd.run", () => {
  test("becomes a dispatch with all its fields", () => {
    const story = running();
    const asked = story.generate();
    const given = {
      command: "make",
      args: ["a b", "$HOME"],
      cwd: "sub",
      env_additions: { MODE: "ci", AWS_KEY: "x" },
      timeout_secs: 90,
    };
    story.modelSays({ calls: [{ name: "cmd.run", arguments: given }] });
    expect(story.answer(asked)).toEqual({
      status: "reply",
      reply: {
        type: "dispatch",
        dispatch_id: expect.any(String),
        action: "exec",
        command: "make",
        args: ["a b", "$HOME"],
        cwd: "/workspace/sub",
        env_additions: { MODE: "ci" },
        timeout_secs: 90,
        max_output_bytes: 1_048_576,
        iteration_number: 1,
      },
    });
    story.result(story.dispatchOf(asked), { stderr: "", timed_out: true, exit_code: -1, signal: "SIGKILL" });
    expect(JSON.parse(story.conversation().at(-1)?.content ?? "")).toEqual({
      exit_code: -1,
      stdout: "ok\n",
      stderr: "",
      timed_out: true,
      signal: "SIGKILL",
      dropped_env: ["AWS_KEY"],
    });
  });

  test("a plain result tells exit code and output, the record tells more", () => {
    const { story, dispatch } = dispatched();
    expect(story.record().iterations[0]?.trajectory).toMatchObject([
      { tool_name: "cmd.run", status: "dispatched", result_json: null },
    ]);
    story.result(dispatch);
    expect(story.conversation().at(-1)?.content).toBe('{"exit_code":0,"stdout":"ok\\n","stderr":""}');
    const step = story.record().iterations[0]?.trajectory[0];
    expect(step?.status).toBe("succeeded");
    expect(JSON.parse(step?.result_json ?? "")).toMatchObject({ duration_ms: 12, stdout_bytes: 3, truncated: false });
  });

  test.each([
    [{ command: "x", args: [], timeout_secs: 600 }, "timeout_secs was lowered to 30: no more time is left"],
    [{ command: "x", args: [] }, undefined],
  ])("the timeout is lowered to the time left, and a model that asked for more is told", (given, notice) => {
    const story = running({ iteration_timeout_ms: 30_000 });
    const asked = story.generate();
    story.modelSays({ calls: [{ name: "cmd.run", arguments: given }] });
    expect(story.answer(asked)).toMatchObject({ reply: { timeout_secs: 30 } });
    story.result(story.dispatchOf(asked));
    expect(JSON.parse(story.conversation().at(-1)?.content ?? "").notice).toBe(notice);
  });

  test("an iteration brings a bounded conversation, however many messages it sends", () => {
    const story = running();
    const large = "y".repeat(15_000_000);
    for (let count = 0; count < 4; count++) {
      story.generate(`${large}${count}`);
      story.modelSays({ content: "ok" });
    }
    expect(story.answer(story.generate(`${large}4`))).toMatchObject({ status: "refused", http: 413 });
    story.generate("a short one still fits");
    story.modelSays({ content: "ok" });
  });

  test("an iteration's results are recorded up to a share, then only their ends", () => {
    const story = running();
    let asked = story.generate();
    const output = "x".repeat(1_000_000);
    for (let round = 0; round < 12; round++) {
      story.modelSays({ calls: [{ name: "cmd.run", arguments: { command: "x", args: [] } }] });
      asked = story.result(story.dispatchOf(asked), { stdout: `${output}end` });
    }
    const kept = story.record().iterations[0]?.trajectory.map((step) => step.result_json ?? "") ?? [];
    expect(kept.length).toBe(12);
    expect(kept.join("").length).toBeLessThan(5_000_000);
    expect(kept.every((text) => text.includes("end"))).toBe(true);
  });

  test("output above the cap is trimmed again", () => {
    const story = running();
    const asked = story.generate();
    story.modelSays({ calls: [{ name: "cmd.run", arguments: { command: "x", max_output_bytes: 8 } }] });
    story.result(story.dispatchOf(asked), { stdout: "0123456789abcdef", stderr: "err" });
    expect(JSON.parse(story.conversation().at(-1)?.content ?? "")).toEqual({
      exit_code: 0,
      stdout: "bcdef",
      stderr: "err",
      truncated: true,
    });
  });

  test("a dispatch that stays unanswered past its grace is a lost bootstrap", () => {
    const { story, dispatch } = dispatched({ iteration_timeout_ms: 1_000_000 });
    expect(story.sim.timers.get(`dispatch:${dispatch}`)?.at).toBe(story.sim.now + 720_000);
    const former = story.instance;
    story.sim.fireNext();
    expect(story.event("iteration_restarted")).toMatchObject({ attempt: 2, reason: "bootstrap_lost" });
    expect(story.state.iteration).toMatchObject({ number: 1, phase: "waiting", loop: null });
    expect(story.sim.abandoned).toContain(`run:${former}`);
    expect(story.state.status).toBe("running");
    story.checkInvariants();
  });

  test("a service that was away gives the bootstrap its grace anew", () => {
    const { story, dispatch } = dispatched({ iteration_timeout_ms: 5_000_000, timeout_ms: 10_000_000 });
    const due_at = story.sim.timers.get(`dispatch:${dispatch}`)?.at ?? 0;
    story.sim.now = due_at + 60_000;
    story.sim.fireNext();
    expect(story.state.iteration.attempt).toBe(1);
    expect(story.sim.timers.get(`dispatch:${dispatch}`)?.at).toBe(story.sim.now + 120_000);
    story.result(dispatch);
    expect(story.state.iteration.loop?.phase).toBe("generating");
  });

  test("once it is answered its timer is gone, and a late one does not matter", () => {
    const { story, dispatch } = dispatched({ iteration_timeout_ms: 1_000_000 });
    story.result(dispatch);
    expect(story.sim.timers.has(`dispatch:${dispatch}`)).toBe(false);
    story.sim.tell("dispatch_lost", { dispatch_id: dispatch });
    expect(story.state.status).toBe("running");
  });

  test("a result that comes when the instance has ended is too late", () => {
    const story = new Story({
      plan: { validators: [{ type: "json_schema", schema: {}, target_path: null, min_score: 1, min_confidence: 0 }] },
    });
    const asked = story.start().launch().generate();
    const dispatch = story.modelSays({ calls: [run()] }).dispatchOf(asked);
    story.exit("{}");
    expect(story.answer(story.result(dispatch))).toMatchObject({ http: 410, code: "dispatch_expired" });
  });

  test("no timer of its own when the iteration ends sooner", () => {
    const { story } = dispatched();
    expect([...story.sim.timers.keys()].sort()).toEqual(["deadline", `iteration:${story.instance}`]);
  });
});

describe("what the vendor is told of the answer", () => {
  const schema = (value: Json, target_path: string | null = null) => ({
    type: "json_schema" as const,
    schema: value,
    target_path,
    min_score: 1,
    min_confidence: 0,
  });
  test.each([
    ["one schema of an object", [schema({ type: "object" })], true],
    ["none", [], undefined],
    ["one of a list", [schema({ type: "array" })], undefined],
    ["one of a part", [schema({ type: "object" }, "a")], undefined],
    ["two", [schema({ type: "object" }), schema({ type: "object" })], undefined],
  ])("%s", (_, validators, told) => {
    const story = new Story({ plan: { validators } }).start().launch();
    story.generate();
    const [call] = story.sim.underWay("model.call");
    const input = (call?.input ?? {}) as { answer_schema?: true };
    expect(input.answer_schema).toBe(told as true);
  });
});

describe("repeats", () => {
  test("same result twice: joined, then replayed; altered: conflict; unknown: not found", () => {
    const { story, dispatch } = dispatched();
    const first = story.result(dispatch);
    const second = story.result(dispatch);
    expect(story.sim.performed.filter(({ activity }) => activity === "model.call")).toHaveLength(2);
    expect(story.answer(story.result(dispatch, { stdout: "altered" }))).toMatchObject({
      http: 409,
      code: "dispatch_result_conflict",
    });
    expect(story.answer(story.result("0f7a4f7e-6a0c-4a53-9a39-0e6f1d0b8a11"))).toMatchObject({
      http: 404,
      code: "dispatch_not_found",
    });
    story.modelSays({ content: "ok" });
    expect(story.answer(first)).toEqual(story.answer(second));
    expect(story.answer(first).status).toBe("final");
    const { seq } = story.answer(first) as { seq: number };
    expect(story.answer(story.result(dispatch))).toEqual({
      status: "replay",
      log: `loop:${story.instance}`,
      from: 1,
      seq,
    });
    // The same idempotency key counts as the same message.
    expect(story.answer(story.result(dispatch, { stdout: "altered" }))).toMatchObject({
      code: "dispatch_result_conflict",
    });
  });

  test("an idempotency key makes a repeat of any body", () => {
    const { story, dispatch } = dispatched();
    story.result(dispatch, { idempotency_key: "k" });
    story.modelSays({ content: "ok" });
    expect(story.answer(story.result(dispatch, { stdout: "other", idempotency_key: "k" }))).toMatchObject({
      status: "replay",
    });
  });

  test("a repeated generate joins, then gets its own first reply again", () => {
    const story = running();
    const calls = [story.generate(), story.generate()];
    story.modelSays({ calls: [run()] });
    expect(story.answer(calls[1] ?? "")).toEqual(story.answer(calls[0] ?? ""));
    expect(story.answer(story.generate())).toEqual({
      status: "replay",
      log: `loop:${story.instance}`,
      from: 1,
      seq: 3,
    });
    expect(story.state.iteration.loop?.phase).toBe("awaiting_result");
  });

  test("a finished generate is replayed for 300 s, after that it is a new one", () => {
    const story = running();
    story.generate();
    story.modelSays({ content: "ok" });
    story.sim.now += 300_000;
    expect(story.answer(story.generate())).toMatchObject({ status: "replay", from: 1, seq: 3 });
    story.sim.now += 1;
    const again = story.generate();
    expect(story.sim.answers.has(again)).toBe(false);
    story.modelSays({ content: "anew" });
    expect(story.answer(again)).toMatchObject({ status: "final", from: 4, final: { content: "anew" } });
  });

  test("a result is replayed after the execution has ended", () => {
    const { story, dispatch } = dispatched();
    story.result(dispatch);
    story.modelSays({ content: "ok" });
    story.exit("ok");
    expect(story.answer(story.result(dispatch))).toMatchObject({ status: "replay" });
  });
});

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
    expect(story.sim.underWay("model.call")[0]?.input).toMatchObject({ tools: [] });
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

test.each([
  {
    what: "another agent",
    change: { agent_id: "0190f3c2-0000-7000-8000-000000000000" },
    http: 403,
    code: "agent_mismatch",
  },
  { what: "another iteration", change: { iteration_number: 2 }, http: 409, code: "iteration_not_current" },
  { what: "another instance", change: { instance_id: "former" }, http: 401, code: "invalid_token" },
])("generate for $what is refused and changes nothing", ({ change, http, code }) => {
  const story = running();
  const before = structuredClone(story.sim.state);
  expect(story.answer(story.generate("x", change as Record<string, Json>))).toMatchObject({
    status: "refused",
    http,
    code,
  });
  expect(story.sim.state).toEqual(before);
});

test("a generate before the execution runs is refused", () => {
  const story = new Story().start();
  expect(story.answer(story.generate())).toMatchObject({ http: 409, code: "execution_not_running" });
});

test("without a token the body names the execution (trusted network)", () => {
  const story = running();
  const asked = story.generate("x", { instance_id: null });
  story.modelSays({ content: "ok" });
  expect(story.answer(asked).status).toBe("final");
});

test("an instance that ends takes its loop with it", () => {
  const { story, dispatch } = dispatched({ mode: "iterative", max_iterations: 2 });
  story.exit("", 5);
  expect(story.state.iteration).toMatchObject({ number: 2, loop: null, dispatches: [] });
  expect(story.answer(story.result(dispatch))).toMatchObject({ http: 404, code: "dispatch_not_found" });
  expect(story.sim.timers.has(`dispatch:${dispatch}`)).toBe(false);
  story.checkInvariants();
});

test("every refusal is a problem the wire knows, under the same status", () => {
  const classes = [
    "authentication",
    "model_not_found",
    "invalid_input",
    "provider",
    "network",
    "rate_limit",
    "service_unavailable",
    "timeout",
  ];
  const facts = { provider: "", model: "", attempts: 1, elapsed_ms: 0, fallback_attempted: false };
  const upstream = classes.map((error_class) => upstreamRefusal({ error_class, ...facts }, "x").refusal);
  const known: Record<string, number> = problems;
  for (const { code, http } of [...Object.values(refusals), ...upstream])
    expect([code, known[code]]).toEqual([code, http]);
});
