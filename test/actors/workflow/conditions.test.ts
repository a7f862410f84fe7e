import { describe, expect, test } from "bun:test";
import type { Json } from "../../../actors/kernel/json.ts";
import type { Condition } from "../../../actors/workflow/definition/parts.ts";
import type { StateKind } from "../../../actors/workflow/definition.ts";
import type { StateResult } from "../../../actors/workflow/run/kind.ts";
import { firstMatch, matches, outcomeWithoutMatch } from "../../../actors/workflow/run/rules/conditions.ts";
import { decided, ways } from "./fixture.ts";

type Values = Record<string, Json>;
type Way = readonly [string | Condition, string];
const judged = (result: Values, kind: StateKind = "Agent", blackboard: Values = {}) => ({
  result: { status: "success", ...result } as StateResult,
  kind,
  variables: () => blackboard,
});
const votes = (...scores: (number | null)[]): Values => ({
  individual_results: scores.map((score, index) => ({ agent: `a${index}`, ...(score === null ? {} : { score }) })),
});

describe("a rule", () => {
  test.each<[Condition, Values, boolean]>([
    [{ on: "always" }, { status: "failed" }, true],
    [{ on: "on_success" }, { status: "success" }, true],
    [{ on: "on_success" }, { status: "completed" }, true],
    [{ on: "on_success" }, { status: "failed" }, false],
    [{ on: "on_failure" }, { status: "failed" }, true],
    [{ on: "on_failure" }, { status: "success" }, false],
    [{ on: "on_timeout" }, { timeout: true }, true],
    [{ on: "on_timeout" }, { timed_out: true }, true],
    [{ on: "on_timeout" }, { timed_out: "true" }, false],
    [{ on: "on_timeout" }, {}, false],
    [{ on: "exit_code_zero" }, { exit_code: 0 }, true],
    [{ on: "exit_code_zero" }, { exit_code: null }, false],
    [{ on: "exit_code_zero" }, {}, false],
    [{ on: "exit_code_non_zero" }, { exit_code: -1 }, true],
    [{ on: "exit_code_non_zero" }, { exit_code: 0 }, false],
    [{ on: "exit_code_non_zero" }, {}, false],
    [{ on: "exit_code", value: 3 }, { exit_code: 3 }, true],
    [{ on: "exit_code", value: 3 }, { exit_code: 4 }, false],
    [{ on: "score_above", threshold: 0.5 }, { score: 0.5 }, false],
    [{ on: "score_above", threshold: 0.5 }, { score: 0.51 }, true],
    [{ on: "score_above", threshold: 0.5 }, { final_score: 0.6 }, true],
    [{ on: "score_above", threshold: 0.5 }, { consensus: { score: 0.6 } }, true],
    [{ on: "score_above", threshold: 0.5 }, { score: 0.1, consensus: { score: 0.6 } }, false],
    [{ on: "score_above", threshold: -1 }, {}, false],
    [{ on: "score_above", threshold: 0.5 }, { score: "0.9" }, false],
    [{ on: "score_below", threshold: 0.5 }, { score: 0.5 }, false],
    [{ on: "score_below", threshold: 0.5 }, { score: 0 }, true],
    [{ on: "score_below", threshold: 0.5 }, {}, false],
    [{ on: "score_between", min: 0.2, max: 0.4 }, { score: 0.2 }, true],
    [{ on: "score_between", min: 0.2, max: 0.4 }, { score: 0.4 }, true],
    [{ on: "score_between", min: 0.2, max: 0.4 }, { score: 0.41 }, false],
    [{ on: "score_between", min: 0, max: 1 }, {}, false],
    [{ on: "confidence_above", threshold: 0.5 }, { confidence: 0.6 }, true],
    [{ on: "confidence_above", threshold: 0.5 }, { consensus: { confidence: 0.5 } }, false],
    [{ on: "score_and_confidence_above", threshold: 0.5 }, { score: 0.6, confidence: 0.6 }, true],
    [{ on: "score_and_confidence_above", threshold: 0.5 }, { score: 0.6, confidence: 0.5 }, false],
    [{ on: "score_and_confidence_above", threshold: 0.5 }, { score: 0.6 }, false],
    [{ on: "score_and_confidence_above", threshold: 0.5, confidence: 0.1 }, { score: 0.6, confidence: 0.2 }, true],
    [{ on: "consensus", threshold: 0.7, agreement: 0.5 }, { consensus: { score: 0.7, confidence: 0.5 } }, true],
    [{ on: "consensus", threshold: 0.7, agreement: 0.5 }, { consensus: { score: 0.7 } }, false],
    [{ on: "consensus", threshold: 0.7, agreement: 0 }, { score: 0.7 }, true],
    [{ on: "consensus", threshold: 0, agreement: 0 }, {}, false],
    [{ on: "all_approved" }, votes(0.8, 1), true],
    [{ on: "all_approved" }, votes(0.79, 1), false],
    [{ on: "all_approved" }, {}, false],
    [{ on: "all_approved" }, { consensus: { metadata: votes(0.9) } }, true],
    [{ on: "any_rejected" }, votes(0.79, 1), true],
    [{ on: "any_rejected" }, votes(0.8, 1), false],
    [{ on: "any_rejected" }, {}, false],
    [{ on: "input_equals", value: "Go" }, { response: "Go" }, true],
    [{ on: "input_equals", value: "Go" }, { response: "go" }, false],
    [{ on: "approved" }, { decision: "approved", response: "no" }, true],
    [{ on: "approved" }, { decision: "responded", response: "YES" }, true],
    [{ on: "approved" }, { decision: "rejected", response: "yes" }, false],
    [{ on: "approved" }, { decision: "timed_out", response: "" }, false],
    [{ on: "rejected" }, { decision: "rejected" }, true],
    [{ on: "rejected" }, { response: "Reject" }, true],
    [{ on: "rejected" }, { decision: "approved", response: "no" }, false],
    [{ on: "custom", expression: "state_output.score > 0.5 && limit == 3" }, { score: 0.6 }, true],
    [{ on: "custom", expression: 'eq state_output.status "success"' }, {}, true],
    [{ on: "custom", expression: "((" }, {}, false],
  ])("%j of %j: %p", (rule, result, wanted) => {
    expect(matches(rule, judged(result, "Agent", { limit: 3 }))).toBe(wanted);
  });

  test("of containers side by side goes by their overall success", () => {
    const rule = { on: "on_success" } as const;
    expect(matches(rule, judged({ status: "success", overall_success: false }, "ParallelContainerRun"))).toBe(false);
    expect(matches(rule, judged({ status: "success", overall_success: true }, "ParallelContainerRun"))).toBe(true);
  });

  test("that cannot be evaluated is told of", () => {
    const faults: string[] = [];
    const asked = {
      ...judged({}),
      onFault: (expression: string, reason: string) => faults.push(`${expression}: ${reason}`),
    };
    expect(matches({ on: "custom", expression: "a ==" }, asked)).toBe(false);
    expect(faults).toEqual(["a ==: The expression ends too early"]);
  });
});

describe("the first rule that matches", () => {
  const target = (list: readonly Way[], result: Values, kind: StateKind = "Human") =>
    firstMatch(ways(...list), judged(result, kind))?.target ?? null;

  test("is taken, in order", () => {
    expect(
      target(
        [
          ["on_failure", "A"],
          ["always", "B"],
          ["on_success", "C"],
        ],
        {},
        "Agent",
      ),
    ).toBe("B");
    expect(target([["on_failure", "A"]], {}, "Agent")).toBeNull();
    expect(target([["always", "A"]], { status: "failed" }, "System")).toBe("A");
  });

  test.each<[string, boolean, Values]>([
    ["a rejection", false, decided("rejected")],
    ["silence", false, decided("timed_out", { timeout: true })],
    ["an approval", true, decided("approved")],
    ["another answer", true, decided("responded")],
    ["a default that approves", true, decided("approved", { timeout: true })],
  ])("a Human state's only always is for %s: %p", (_, isTaken, result) => {
    expect(target([["always", "A"]], result)).toBe(isTaken ? "A" : null);
    expect(
      target(
        [
          ["on_failure", "A"],
          ["always", "B"],
        ],
        result,
      ) === "B",
    ).toBe(isTaken);
    const rules: (string | Condition)[] = ["approved", "on_success", { on: "input_equals", value: "go" }];
    for (const rule of rules)
      expect(
        target(
          [
            [rule, "A"],
            ["always", "B"],
          ],
          result,
        ),
      ).not.toBeNull();
    expect(
      target(
        [
          ["always", "B"],
          ["approved", "A"],
        ],
        decided("rejected"),
      ),
    ).toBeNull();
  });
});

describe("without a rule that matches, the run", () => {
  const end = (result: Values, change: object = {}) => {
    const state = { transitions: ways(["on_timeout", "A"]), outcome: "completed" as const, kind: "Agent" as StateKind };
    return outcomeWithoutMatch({ ...state, ...change }, judged(result).result);
  };

  test.each<[string, Values, object, object]>([
    ["completes on success", {}, {}, { status: "completed" }],
    ["completes at a terminal state", {}, { transitions: [] }, { status: "completed" }],
    [
      "fails at a terminal state of that outcome",
      {},
      { transitions: [], outcome: "failed" },
      { status: "failed", code: "outcome_failed" },
    ],
    ["fails at a terminal state that failed", { status: "failed" }, { transitions: [] }, { status: "failed" }],
    [
      "fails with the code",
      { status: "failed", error: "interrupted" },
      {},
      { code: "interrupted", reason: "interrupted" },
    ],
    ["fails with the message", { status: "failed", error: "x_y", message: "M" }, {}, { code: "x_y", reason: "M" }],
    ["fails with free text", { status: "failed", error: "It broke" }, {}, { code: "state_failed", reason: "It broke" }],
    ["fails by refusal", { ...decided("rejected") }, { kind: "Human" }, { code: "approval_rejected" }],
    [
      "fails by silence",
      { ...decided("timed_out", { timeout: true }) },
      { kind: "Human" },
      { code: "human_input_timeout" },
    ],
    [
      "never calls silence a refusal",
      { ...decided("rejected", { timeout: true }) },
      { kind: "Human" },
      { code: "human_input_timeout" },
    ],
    ["fails by its exit code", { status: "failed", exit_code: 1 }, {}, { code: "command_failed" }],
    [
      "misses a score",
      {},
      { transitions: ways([{ on: "score_above", threshold: 0.5 }, "A"], ["all_approved", "B"]) },
      { code: "missing_score" },
    ],
    [
      "misses no score that is low",
      { score: 0.1 },
      { transitions: ways([{ on: "score_above", threshold: 0.5 }, "A"]) },
      { status: "completed" },
    ],
    [
      "misses no score with another rule",
      {},
      { transitions: ways([{ on: "score_above", threshold: 0.5 }, "A"], ["on_failure", "B"]) },
      { status: "completed" },
    ],
    [
      "fails by itself rather than for a score",
      { status: "failed", error: "e" },
      { transitions: ways(["any_rejected", "A"]) },
      { code: "e" },
    ],
    ["goes by the overall success", { overall_success: false }, { kind: "ParallelContainerRun" }, { status: "failed" }],
  ])("%s", (_, result, change, wanted) => {
    expect(end(result, change)).toMatchObject(wanted);
  });
});
