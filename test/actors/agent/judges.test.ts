/** Validators that ask other agents (docs/reference/agents.md). */
import { describe, expect, test } from "bun:test";
import type { Json } from "../../../actors/kernel/json.ts";
import { manifestWith, reading, specOf } from "./offer.ts";

const validation = (value: Json) => manifestWith("spec.execution.validation", value);
const validators = (value: Json) => specOf(validation(value)).execution.validators;
const at = "spec.execution.validation";

describe("defaults", () => {
  test("semantic", () => {
    expect(validators([{ type: "semantic", judge_agent: "lane-judge", criteria: "good" }])).toEqual([
      {
        type: "semantic",
        judge_agent: "lane-judge",
        criteria: "good",
        timeout_ms: 300_000,
        min_score: 0.7,
        min_confidence: 0,
      },
    ]);
  });

  test("multi_judge, by name and with weight", () => {
    const judges = ["judge-a", { agent: "judge-b", weight: 2 }];
    expect(validators([{ type: "multi_judge", judges, criteria: "good" }])).toEqual([
      {
        type: "multi_judge",
        judges: [
          { agent: "judge-a", weight: 1 },
          { agent: "judge-b", weight: 2 },
        ],
        criteria: "good",
        consensus: "weighted_average",
        threshold: 0.7,
        n: null,
        min_judges_required: 1,
        timeout_ms: 300_000,
        min_score: 0.7,
        min_confidence: 0,
      },
    ]);
  });

  test("what is written is kept", () => {
    const written = { consensus: "best_of_n", threshold: 0.4, n: 2, min_judges_required: 2, min_confidence: 0.5 };
    const all = { ...written, min_score: 0.9, timeout_seconds: 60 };
    expect(validators([{ type: "multi_judge", judges: ["a", "b"], criteria: "c", ...all }])[0]).toMatchObject({
      ...written,
      min_score: 0.9,
      timeout_ms: 60_000,
    });
  });

  test.each([
    [
      { judge_agent: "j", criteria: "c" },
      { criteria: "c", min_score: 0.7 },
    ],
    [
      { judge_agent: "j", prompt: "p", threshold: 0.3 },
      { criteria: "p", min_score: 0.3 },
    ],
    [
      { judge_agent: "j", prompt: "p", threshold: 0.3, min_score: 0.4 },
      { criteria: "p", min_score: 0.4 },
    ],
    [{ judge_agent: "j", prompt: "p", criteria: "c" }, { criteria: "c" }],
  ])("object form %j", (semantic, expected) => {
    expect(validators({ semantic })[0]).toMatchObject({ type: "semantic", judge_agent: "j", ...expected });
  });

  test("the object form keeps its order: the cheap ones first", () => {
    const all = { semantic: { judge_agent: "j", prompt: "p" }, output: { regex: "x" }, system: {} };
    expect(validators(all).map(({ type }) => type)).toEqual(["exit_code", "regex", "semantic"]);
  });

  test("judges of tool calls", () => {
    const judges = [
      { judge_agent: "guard", criteria: "harmless" },
      { type: "semantic", judge_agent: "j", criteria: "c" },
    ];
    expect(specOf(manifestWith("spec.execution.tool_validation", judges)).execution.tool_judges).toMatchObject([
      { type: "semantic", judge_agent: "guard", criteria: "harmless", timeout_ms: 300_000 },
      { type: "semantic", judge_agent: "j" },
    ]);
  });
});

describe("faults", () => {
  const semantic = { type: "semantic", judge_agent: "j", criteria: "c" };
  const panel = { type: "multi_judge", judges: ["a", "b"], criteria: "c" };
  const rows: readonly (readonly [value: Json, path: string])[] = [
    [[{ ...semantic, judge_agent: null }], `${at}.0.judge_agent`],
    [[{ ...semantic, judge_agent: "NO" }], `${at}.0.judge_agent`],
    [[{ ...semantic, judge_agent: "greeter" }], `${at}.0.judge_agent`],
    [[{ ...semantic, criteria: " " }], `${at}.0.criteria`],
    [[{ ...semantic, criteria: null }], `${at}.0.criteria`],
    [[{ ...semantic, min_score: 1.1 }], `${at}.0.min_score`],
    [[{ ...semantic, min_confidence: -1 }], `${at}.0.min_confidence`],
    [[{ ...semantic, timeout_seconds: 0 }], `${at}.0.timeout_seconds`],
    [[{ ...semantic, timeout_seconds: 1.5 }], `${at}.0.timeout_seconds`],
    [[{ ...panel, judges: null }], `${at}.0.judges`],
    [[{ ...panel, judges: [] }], `${at}.0.judges`],
    [[{ ...panel, judges: "a" }], `${at}.0.judges`],
    [[{ ...panel, judges: Array(10).fill("a") }], `${at}.0.judges`],
    [[{ ...panel, judges: ["a", 7] }], `${at}.0.judges.1.agent`],
    [[{ ...panel, judges: ["a", {}] }], `${at}.0.judges.1.agent`],
    [[{ ...panel, judges: ["a", "greeter"] }], `${at}.0.judges.1`],
    [[{ ...panel, judges: ["a", { agent: "greeter" }] }], `${at}.0.judges.1.agent`],
    [[{ ...panel, judges: [{ agent: "a", weight: 0 }] }], `${at}.0.judges.0.weight`],
    [[{ ...panel, judges: [{ agent: "a", weight: -1 }] }], `${at}.0.judges.0.weight`],
    [[{ ...panel, consensus: "dictator" }], `${at}.0.consensus`],
    [[{ ...panel, threshold: 2 }], `${at}.0.threshold`],
    [[{ ...panel, consensus: "best_of_n", n: 0 }], `${at}.0.n`],
    [[{ ...panel, min_judges_required: 3 }], `${at}.0.min_judges_required`],
    [{ semantic: { judge_agent: "j" } }, `${at}.semantic.prompt`],
    [{ semantic: "strict" }, `${at}.semantic`],
  ];
  test.each(rows)("%j", (value, path) => {
    const { issues, spec } = reading(validation(value));
    expect(issues.map(([where]) => where)).toContain(path);
    expect(spec).toBeNull();
  });

  test("a script is no criterion", () => {
    expect(reading(validation([{ ...semantic, script: "x" }]))).toMatchObject({ code: "unsupported_field" });
  });

  test.each([
    [[{ judge_agent: "greeter", criteria: "c" }], "spec.execution.tool_validation.0.judge_agent"],
    [[{ type: "multi_judge", judge_agent: "j", criteria: "c" }], "spec.execution.tool_validation.0.type"],
    [["guard"], "spec.execution.tool_validation.0"],
    [Array(17).fill({ judge_agent: "j", criteria: "c" }), "spec.execution.tool_validation"],
  ] as const)("of tool calls: %j", (value, path) => {
    expect(reading(manifestWith("spec.execution.tool_validation", value as Json)).issues).toEqual([[path, "invalid"]]);
  });
});

test("a number of best ones means nothing to another consensus", () => {
  const panel = { type: "multi_judge", judges: ["a", "b"], criteria: "c", consensus: "majority", n: 1 };
  const { warnings, spec } = reading(validation([panel]));
  expect(warnings).toEqual([[`${at}.0.n`, "unknown_field"]]);
  expect(spec?.execution.validators[0]).toMatchObject({ n: null });
});

test("every judge is named to the lookup", () => {
  const document = validation([
    { type: "semantic", judge_agent: "one", criteria: "c" },
    { type: "multi_judge", judges: ["two", { agent: "three" }], criteria: "c" },
  ]);
  const spec = document.spec as { execution: { [key: string]: Json } };
  spec.execution.tool_validation = [{ judge_agent: "four", criteria: "c" }];
  expect(reading(document).judges.toSorted()).toEqual(["four", "one", "three", "two"]);
});
