/** `transitions` of a state: when which state comes next. */
import { suggestion } from "../../../kernel/nearest.ts";
import { object, variants } from "../../../manifest/object.ts";
import { choice, list, number, Shape, text } from "../../../manifest/shape.ts";
import { textPath } from "../../../manifest/text-paths.ts";
import { type Condition, scoreRules, type Transition } from "../../definition/parts.ts";
import { type Reading, template } from "../members.ts";
import { expression, maxExpressionCharacters } from "./expression.ts";

const anyScore = number(-1_000_000, 1_000_000);
const requiredScore = anyScore.required();
/** What a process can end with, and room to spare. */
const anyExitCode = { min: -2_147_483_648, max: 2_147_483_647 };

/** In YAML the place holds text, since `input_equals` has its value there. */
const exitCode = new Shape<number | null>({
  read: (fields, key) => {
    const written = fields.raw(key);
    const isDigits = typeof written === "string" && /^-?\d{1,10}$/.test(written);
    const value = isDigits ? Number(written) : fields.integer(key, anyExitCode);
    if (value === null || (value >= anyExitCode.min && value <= anyExitCode.max)) return value;
    return fields.issue(key, `must be from ${anyExitCode.min} to ${anyExitCode.max}`);
  },
  schema: () => ({
    anyOf: [
      { type: "integer", minimum: anyExitCode.min, maximum: anyExitCode.max },
      { type: "string", pattern: "^-?\\d{1,10}$" },
    ],
  }),
  texts: textPath,
  expected: "must be a number",
});

/** Conditions with nothing beside them. */
type Plain = Exclude<Condition, { threshold: number } | { value: unknown } | { min: number } | { expression: string }>;

const alone = (on: Plain["on"]) => object({}).build((): Condition => ({ on }));
const above = (on: "score_above" | "score_below" | "confidence_above" | "score_and_confidence_above") =>
  object({ threshold: requiredScore }).build(({ threshold }): Condition | null =>
    threshold === null ? null : { on, threshold },
  );

const conditions = {
  always: alone("always"),
  on_success: alone("on_success"),
  on_failure: alone("on_failure"),
  on_timeout: alone("on_timeout"),
  exit_code_zero: alone("exit_code_zero"),
  exit_code_non_zero: alone("exit_code_non_zero"),
  exit_code: object({ value: exitCode.required() }).build(({ value }): Condition | null =>
    value === null ? null : { on: "exit_code", value },
  ),
  score_above: above("score_above"),
  score_below: above("score_below"),
  score_between: object({ min: requiredScore, max: requiredScore }).build(({ min, max }, fields): Condition | null => {
    if (min === null || max === null) return null;
    return min <= max ? { on: "score_between", min, max } : fields.issue("max", "must not be below min");
  }),
  confidence_above: above("confidence_above"),
  score_and_confidence_above: above("score_and_confidence_above"),
  consensus: object({ threshold: requiredScore, agreement: anyScore.or(0) }).build(
    ({ threshold, agreement }): Condition | null =>
      threshold === null ? null : { on: "consensus", threshold, agreement },
  ),
  all_approved: alone("all_approved"),
  any_rejected: alone("any_rejected"),
  input_equals: object({ value: text({ max: maxExpressionCharacters }).required() }).build(
    ({ value }): Condition | null => (value === null ? null : { on: "input_equals", value }),
  ),
  approved: alone("approved"),
  input_equals_yes: alone("approved"),
  rejected: alone("rejected"),
  input_equals_no: alone("rejected"),
  custom: object({ expression: expression.required() }).build(({ expression }): Condition | null =>
    expression === null ? null : { on: "custom", expression },
  ),
};

const transition = variants(
  "condition",
  {
    condition: choice(...(Object.keys(conditions) as (keyof typeof conditions)[])).or("always"),
    target: text().check(targetFault).required(),
    feedback: template,
  },
  conditions,
  (rule, { condition, target, feedback }): Transition | null =>
    target === null ? null : { condition, rule, target, feedback },
);

/** Empty for a terminal state. */
export const transitions = list(transition.named("Transition"), 64)
  .as((transitions, _scope, fields, key) => {
    if (mixesScores(transitions)) {
      fields.warn(key, "mixed_score_rules", "Without a score only the rules that ask for none can match");
    }
    return [...transitions];
  })
  .required("is required; an empty list makes the state terminal");

/** What is wrong with what a transition of a branch, or of none, leads to; null: nothing. */
export function targetFault(target: string, { states, names }: Reading): string | null {
  if (states.has(target)) return null;
  if (names.has(target)) return `no transition leads into a branch or out of one, and ${target} is elsewhere`;
  return `there is no state ${shown(target)}${suggestion(target, states)}`;
}

const shown = (name: string): string => JSON.stringify(name.length > 80 ? `${name.slice(0, 80)}…` : name);

/** Whether some rules ask for a score and others do not: without a score only the latter can match. */
function mixesScores(transitions: readonly Transition[]): boolean {
  const asking = transitions.filter(({ rule }) => scoreRules.has(rule.on)).length;
  return asking > 0 && asking < transitions.length;
}
