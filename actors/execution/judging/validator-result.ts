/** When an iteration's output passes: the rules, the measurements against them, the results. */

import { type Static, Type } from "@sinclair/typebox";
import type { Validator } from "../../agent/manifest/execution/results.ts";
import { AnyJson, isObject, type Json } from "../../kernel/json.ts";
import { Nullable } from "../../kernel/schema.ts";
import type { Measurement } from "../activities.ts";
import { PanelRule, panelRuleOf } from "./panel-state.ts";

/** The part of a validator that stays in the state: what decides, without schemas and patterns. */
export const Rule = Type.Object({
  type: Type.String(),
  min_score: Type.Number(),
  min_confidence: Type.Number(),
  /** Of an `exit_code` validator. */
  expected: Type.Optional(Type.Integer()),
  /** Of a `json_schema` validator that a vendor can be told: its schema describes the whole result, an object. */
  answer: Type.Optional(Type.Literal(true)),
  /** Of a judge validator. */
  panel: Type.Optional(PanelRule),
});
export type Rule = Static<typeof Rule>;

export const ValidationResult = Type.Object({
  validator: Type.String(),
  type: Type.String(),
  passed: Type.Boolean(),
  score: Type.Number(),
  confidence: Type.Number(),
  min_score: Type.Number(),
  min_confidence: Type.Number(),
  feedback: Nullable(Type.String()),
  details: AnyJson,
});
export type ValidationResult = Static<typeof ValidationResult>;

/** A measurement, or the lack of one: what is `void` never passes, even where a score of 0 would be enough. */
export interface Found extends Measurement {
  readonly void?: true;
}

export function ruleOf(validator: Validator): Rule {
  const { type, min_score, min_confidence } = validator;
  const rule = { type, min_score, min_confidence };
  if (type === "exit_code") return { ...rule, expected: validator.expected };
  if (type === "json_schema") return answerSchema(validator) === null ? rule : { ...rule, answer: true };
  return type === "semantic" || type === "multi_judge" ? { ...rule, panel: panelRuleOf(validator) } : rule;
}

/** The schema of the whole result as vendors take one, an object at its root; null for any other validator. */
export function answerSchema(validator: Validator): { readonly [member: string]: Json } | null {
  if (validator.type !== "json_schema" || validator.target_path !== null) return null;
  const { schema } = validator;
  return isObject(schema) && schema.type === "object" ? schema : null;
}

/** Pass = score ≥ min_score and confidence ≥ min_confidence. */
export function passes(rule: Pick<Rule, "min_score" | "min_confidence">, found: Measurement): boolean {
  return found.score >= rule.min_score && found.confidence >= rule.min_confidence;
}

/** An unequal exit code scores 0, an equal one 1; anything on stderr costs 0.15. */
export function measureExitCode(expected: number, exitCode: number, stderr: string): Measurement {
  const equal = exitCode === expected;
  const quiet = stderr.trim() === "";
  const feedback = !equal
    ? `exit code ${exitCode}, expected ${expected}`
    : quiet
      ? null
      : "the exit code is as expected, but there is output on stderr";
  return {
    score: equal ? (quiet ? 1 : 0.85) : 0,
    confidence: 1,
    feedback,
    details: { exit_code: exitCode, expected, stderr_empty: quiet },
  };
}

/** Confidence is reported first when both fall short. A judge's words come after the shortfall. */
export function resultOf(rule: Rule, found: Found): ValidationResult {
  const { type, min_score, min_confidence } = rule;
  const { score, confidence, details } = found;
  const passed = found.void !== true && passes(rule, found);
  const shortfall =
    confidence < min_confidence
      ? `confidence ${confidence} is below ${min_confidence}`
      : `score ${score} is below ${min_score}`;
  const heading = rule.panel === undefined || found.void === true || passed ? "" : `${shortfall}\n`;
  return {
    validator: type,
    type,
    passed,
    score,
    confidence,
    min_score,
    min_confidence,
    feedback: found.feedback === null ? (passed ? null : shortfall) : heading + found.feedback,
    details,
  };
}

/** Stderr as validators see it: without the lines of the bootstrap. */
export function agentStderr(stderr: string): string {
  if (!stderr.includes("[BOOTSTRAP")) return stderr;
  return stderr
    .split(/(?<=\n)/)
    .filter((line) => !line.startsWith("[BOOTSTRAP"))
    .join("");
}
