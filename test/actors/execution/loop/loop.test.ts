/** The dispatch loop: what the gateway is told, in every state, for every message. */
import { describe, expect, test } from "bun:test";
import { refusals, upstreamRefusal } from "../../../../actors/execution/loop/refusal.ts";
import type { Json } from "../../../../actors/kernel/json.ts";
import { problems } from "../../../../actors/kernel/problem.ts";
import { Story } from "../scenario.ts";
import { bounds, dispatched, run, running } from "./fixture.ts";

describe("a conversation", () => {
  test("text ends it: the final answer, and the conversation without the preamble", () => {
    const story = running();
    const asked = story.generate("Hello");
    expect(story.sim.answers.has(asked)).toBe(false);
    const input = story.sim.underWay("model.call")[0]?.input as Record<string, Json>;
    expect(input).toMatchObject({ from: 1, upto: 1, alias: "default", budget_ms: 300_000 });
    expect(input).toMatchObject({ has_files: true });
    expect(input.last).toBeUndefined();
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
