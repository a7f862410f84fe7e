/** Validators that judge, and executions that wait for them. */
import type { JudgeValidator, Validator } from "../../../../actors/agent/manifest/execution/results.ts";
import { Story } from "../scenario.ts";

const passing = { min_score: 0.7, min_confidence: 0 };

export const semantic = (judge_agent: string, change: object = {}): JudgeValidator => ({
  type: "semantic",
  judge_agent,
  criteria: "Each note is in one lane",
  timeout_ms: 60_000,
  ...passing,
  ...change,
});

export const several = (judges: readonly string[], change: object = {}): JudgeValidator => ({
  type: "multi_judge",
  judges: judges.map((agent, index) => ({ agent, weight: 1 + 2 * index })),
  criteria: "Each note is in one lane",
  consensus: "weighted_average",
  threshold: 0.7,
  n: null,
  min_judges_required: 1,
  timeout_ms: 60_000,
  ...passing,
  ...change,
});

export function exited(validators: readonly Validator[], header: object = {}): Story {
  return new Story({ header, plan: { validators: [...validators] } }).start().launch().exit("ok");
}
