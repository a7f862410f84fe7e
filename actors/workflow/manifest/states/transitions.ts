/** `transitions` of a state: when which state comes next (workflow contract, section 4). */
import type { Fields } from "../../../manifest/fields.ts";
import type { Condition, Transition } from "../../definition.ts";
import { ExpressionError, parseExpression } from "../../rules/expression.ts";
import type { Reading } from "../reading.ts";

const maxTransitions = 64;
const maxExpressionCharacters = 4096;
const anyScore = { min: -1_000_000, max: 1_000_000 };
/** What a process can end with, and room to spare. */
const anyExitCode = { min: -2_147_483_648, max: 2_147_483_647 };

/** @returns empty for a terminal state, and after an issue */
export function readTransitions(state: Fields, reading: Reading): Transition[] {
  if (!state.has("transitions")) state.issue("transitions", "is required; an empty list makes the state terminal");
  const transitions = state.sections("transitions", maxTransitions);
  return transitions.flatMap((fields) => readTransition(fields, reading) ?? []);
}

function readTransition(fields: Fields, reading: Reading): Transition | null {
  const condition = fields.text("condition") ?? "always";
  const rule = readRule(fields, condition, reading);
  const target = fields.requiredText("target");
  const feedback = reading.templates.optional(fields, "feedback");
  fields.close();
  const exists = target !== null && reading.states.has(target);
  if (target !== null && !exists) fields.issue("target", `there is no state ${shown(target)}`);
  return rule === null || !exists ? null : { condition, rule, target, feedback };
}

/** Null only after an issue. */
type RuleReader = (fields: Fields, reading: Reading) => Condition | null;

/** Conditions with nothing beside them. */
type Plain = Exclude<Condition, { threshold: number } | { value: unknown } | { min: number } | { expression: string }>;

const alone =
  (on: Plain["on"]): RuleReader =>
  () => ({ on });

function above(on: "score_above" | "score_below" | "confidence_above" | "score_and_confidence_above"): RuleReader {
  return (fields) => {
    const threshold = requiredNumber(fields, "threshold");
    return threshold === null ? null : { on, threshold };
  };
}

const readers: ReadonlyMap<string, RuleReader> = new Map<string, RuleReader>([
  ["always", alone("always")],
  ["on_success", alone("on_success")],
  ["on_failure", alone("on_failure")],
  ["on_timeout", alone("on_timeout")],
  ["exit_code_zero", alone("exit_code_zero")],
  ["exit_code_non_zero", alone("exit_code_non_zero")],
  ["exit_code", readExitCode],
  ["score_above", above("score_above")],
  ["score_below", above("score_below")],
  ["score_between", readBetween],
  ["confidence_above", above("confidence_above")],
  ["score_and_confidence_above", above("score_and_confidence_above")],
  ["consensus", readConsensus],
  ["all_approved", alone("all_approved")],
  ["any_rejected", alone("any_rejected")],
  ["input_equals", readInputEquals],
  ["approved", alone("approved")],
  ["input_equals_yes", alone("approved")],
  ["rejected", alone("rejected")],
  ["input_equals_no", alone("rejected")],
  ["custom", readCustom],
]);

function readRule(fields: Fields, condition: string, reading: Reading): Condition | null {
  const read = readers.get(condition);
  if (read !== undefined) return read(fields, reading);
  // Which of the other members belong to it, nobody knows.
  fields.elsewhere("value", "threshold", "min", "max", "agreement", "expression");
  return fields.issue("condition", `must be one of ${[...readers.keys()].join(", ")}`);
}

function readExitCode(fields: Fields): Condition | null {
  const written = fields.raw("value");
  // In YAML the place holds text, since `input_equals` has its value there.
  const isDigits = typeof written === "string" && /^-?\d{1,10}$/.test(written);
  if (!isDigits && !fields.has("value")) return fields.issue("value", "is required");
  const value = isDigits ? Number(written) : fields.integer("value", anyExitCode);
  if (value === null) return null;
  if (value >= anyExitCode.min && value <= anyExitCode.max) return { on: "exit_code", value };
  return fields.issue("value", `must be from ${anyExitCode.min} to ${anyExitCode.max}`);
}

function readBetween(fields: Fields): Condition | null {
  const min = requiredNumber(fields, "min");
  const max = requiredNumber(fields, "max");
  if (min === null || max === null) return null;
  return min <= max ? { on: "score_between", min, max } : fields.issue("max", "must not be below min");
}

function readConsensus(fields: Fields): Condition | null {
  const threshold = requiredNumber(fields, "threshold");
  const agreement = fields.number("agreement", anyScore) ?? 0;
  return threshold === null ? null : { on: "consensus", threshold, agreement };
}

function readInputEquals(fields: Fields): Condition | null {
  const value = fields.requiredText("value", { max: maxExpressionCharacters });
  return value === null ? null : { on: "input_equals", value };
}

function readCustom(fields: Fields, { templates }: Reading): Condition | null {
  const expression = fields.requiredText("expression", { min: 1, max: maxExpressionCharacters });
  if (expression === null || !templates.spend(fields, "expression", 2 * expression.length)) return null;
  try {
    parseExpression(expression);
    return { on: "custom", expression };
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    return fields.issue("expression", error.message.slice(0, 300), "invalid_expression");
  }
}

function requiredNumber(fields: Fields, key: string): number | null {
  return fields.has(key) ? fields.number(key, anyScore) : fields.issue(key, "is required");
}

const shown = (name: string): string => JSON.stringify(name.length > 80 ? `${name.slice(0, 80)}…` : name);

const scoreRules: ReadonlySet<Condition["on"]> = new Set([
  "score_above",
  "score_below",
  "score_between",
  "confidence_above",
  "score_and_confidence_above",
  "consensus",
  "all_approved",
  "any_rejected",
] as const);

/** Whether some rules ask for a score and others do not: without a score only the latter can match. */
export function mixesScores(transitions: readonly Transition[]): boolean {
  const asking = transitions.filter(({ rule }) => scoreRules.has(rule.on)).length;
  return asking > 0 && asking < transitions.length;
}
