/** The texts and the judgements of an execution: prompt, history, verdicts, events on the wire. */
import { describe, expect, test } from "bun:test";
import { eventOf, isTerminal, readEvent, wireEvent } from "../../../actors/execution/events.ts";
import { agentStderr, measureExitCode, passes, resultOf } from "../../../actors/execution/judging/validator-result.ts";
import { conversationOf, newsOf, preamble } from "../../../actors/execution/loop/conversation.ts";
import { type PromptFacts, renderPrompt } from "../../../actors/execution/prompt.ts";
import { historyVariable, iterationSummary } from "../../../actors/execution/record/history.ts";
import { samplePlan } from "./fixture.ts";

const facts: PromptFacts = { intent: null, iteration: 1, maxIterations: 3, context: "", history: [] };

describe("prompt", () => {
  test("the default: instruction, context, intent and input, as far as there are any", () => {
    expect(renderPrompt(samplePlan({ input: "notes" }), facts)).toBe(
      "Sort each parcel note into a lane.\n\nInput: notes",
    );
    const full = samplePlan({ input: { day: 1 } });
    expect(renderPrompt(full, { ...facts, context: "Lanes: A, B", intent: "morning run" })).toBe(
      'Sort each parcel note into a lane.\n\nLanes: A, B\n\nIntent: morning run\n\nInput: {"day":1}',
    );
  });

  test("the manifest's own template over every variable; overrides by their names", () => {
    const plan = samplePlan({
      prompt_template:
        "{{hub}} {{context_overrides.hub}} {{iteration_number}}/{{max_iterations}} {{previous_error}} {{#each previous_attempts}}{{iteration}}{{/each}}",
      context_overrides: { hub: "north", instruction: "mine" },
    });
    const history = [iterationSummary({ iteration: 1, error: "broke" })];
    expect(renderPrompt(plan, { ...facts, iteration: 2, history })).toBe("north north 2/3 broke 1");
    expect(renderPrompt({ ...plan, prompt_template: "{{instruction}}" }, facts)).toBe(plan.instruction);
    expect(renderPrompt({ ...plan, prompt_template: "{{context_overrides}}", context_overrides: [1] }, facts)).toBe(
      "[1]",
    );
  });

  test("schemas that the result is held to are told, after an own template too", () => {
    const rule = { type: "json_schema" as const, min_score: 1, min_confidence: 0 };
    const schema = { type: "object", required: ["lanes"] };
    const validators = [
      { ...rule, schema, target_path: null },
      { ...rule, schema: { type: "array" }, target_path: "lanes.0" },
    ];
    const told = [
      `Your result must be JSON and nothing else, and it must conform to this JSON Schema:\n${JSON.stringify(schema)}`,
      'Your result must be JSON and nothing else, and its member lanes.0 must conform to this JSON Schema:\n{"type":"array"}',
    ].join("\n\n");
    expect(renderPrompt(samplePlan({ input: "x", validators }), facts)).toEndWith(`Input: x\n\n${told}`);
    const plan = samplePlan({ prompt_template: "Sort.", validators });
    expect(renderPrompt(plan, facts)).toBe(`Sort.\n\n${told}`);
  });

  test("the instruction itself is not a template", () => {
    expect(renderPrompt(samplePlan({ instruction: "Write {{input}}", input: "x" }), facts)).toStartWith(
      "Write {{input}}",
    );
  });
});

describe("history", () => {
  test("the latest five, values at most 4 KiB", () => {
    const entries = Array.from({ length: 7 }, (_, index) =>
      iterationSummary({ iteration: index + 1, output: "é".repeat(5000) }),
    );
    const shown = JSON.parse(historyVariable(entries, null));
    expect(shown.map(({ iteration }: { iteration: number }) => iteration)).toEqual([3, 4, 5, 6, 7]);
    expect(Buffer.byteLength(shown[0].output)).toBeLessThanOrEqual(4096);
  });

  test("a template that names the attempts itself gets none", () => {
    const entries = [iterationSummary({ iteration: 1 })];
    expect(historyVariable(entries, "{{#each previous_attempts}}{{this}}{{/each}}")).toBe("[]");
    expect(historyVariable(entries, "{{#if previous_error}}x{{/if}}")).toBe("[]");
    expect(historyVariable(entries, "{{instruction}} about previous_error")).toBe('[{"iteration":1}]');
  });
});

describe("verdict", () => {
  test.each([
    [0, 0, "", 1],
    [0, 0, " \n", 1],
    [0, 0, "warned", 0.85],
    [0, 1, "", 0],
    [3, 3, "", 1],
  ])("exit code expected %p, got %p, stderr %p: %p", (expected, got, stderr, score) => {
    expect(measureExitCode(expected, got, stderr)).toMatchObject({ score, confidence: 1 });
  });

  test("both bounds must hold, and confidence is reported first", () => {
    const rule = { type: "semantic", min_score: 0.7, min_confidence: 0.5 };
    const found = (score: number, confidence: number) => ({ score, confidence, feedback: null, details: null });
    expect(passes(rule, found(0.7, 0.5))).toBe(true);
    expect(resultOf(rule, found(0.6, 0.5)).feedback).toBe("score 0.6 is below 0.7");
    expect(resultOf(rule, found(0.6, 0.4)).feedback).toBe("confidence 0.4 is below 0.5");
    expect(resultOf(rule, found(1, 1))).toMatchObject({ passed: true, feedback: null, validator: "semantic" });
  });

  test("the bootstrap's lines are not the agent's", () => {
    expect(agentStderr("[BOOTSTRAP a]\nmine [BOOTSTRAP\n[BOOTSTRAP b]")).toBe("mine [BOOTSTRAP\n");
  });
});

describe("events", () => {
  const subject = { execution_id: "e", agent_id: "a" };
  const stored = eventOf("llm_interaction", subject, {
    iteration_number: 1,
    provider: "p",
    model: "m",
    input_tokens: 1,
    output_tokens: 2,
    prompt: "secret",
    response: "answer",
    timestamp: "2031-05-02T06:00:00.000Z",
    _tool_calls: [],
  });

  test("one key, hidden members stripped, prompts only for those who may see them", () => {
    const wire = {
      ...subject,
      iteration_number: 1,
      provider: "p",
      model: "m",
      input_tokens: 1,
      output_tokens: 2,
      timestamp: "2031-05-02T06:00:00.000Z",
    };
    expect(wireEvent(stored, false)).toEqual({ llm_interaction: { ...wire, prompt: null, response: null } });
    expect(wireEvent(stored, true)).toEqual({ llm_interaction: { ...wire, prompt: "secret", response: "answer" } });
  });

  test("unknown entries are read as nothing", () => {
    for (const entry of [null, 1, "x", [], {}, { odd: {} }, { toString: {} }]) {
      expect(readEvent(entry)).toBeNull();
      expect(isTerminal(entry)).toBe(false);
    }
    expect(readEvent(stored)?.name).toBe("llm_interaction");
  });
});

describe("conversation", () => {
  const entry = (message: object) => ({ entry: "message", message }) as never;
  const calls = (...ids: string[]) =>
    entry({ role: "assistant", content: "", tool_calls: ids.map((id) => ({ id, name: "x", arguments: {} })) });
  const tool = (id: string) => entry({ role: "tool", content: `of ${id}`, tool_call_id: id });

  test("tool messages stand in the order of the calls; stored replies are left out", () => {
    const entries = [
      entry({ role: "user", content: "go" }),
      calls("a", "b", "c"),
      tool("c"),
      { entry: "dispatch", dispatch: {} },
      tool("a"),
      tool("b"),
      calls("d"),
      tool("d"),
    ];
    const ids = conversationOf(entries as never).flatMap(({ tool_call_id = [] }) => tool_call_id);
    expect(ids).toEqual(["a", "b", "c", "d"]);
    expect(newsOf(conversationOf(entries as never))).toBe("of d");
    expect(newsOf(conversationOf(entries.slice(0, 1) as never))).toBe("go");
  });

  test("the preamble says where it is and what it has", () => {
    expect(preamble("triage", ["fs.read"])).toContain("fs.read");
    expect(preamble("triage", [])).toContain("no tools");
    expect(preamble("triage", [])).toContain("/workspace");
    expect(preamble("triage", [], false)).not.toContain("/workspace");
  });
});
