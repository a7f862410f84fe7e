/**
 * Which transition a state's result takes (docs/reference/workflows.md).
 *
 * A score, a confidence or an exit code that is not there is absent, never 0: rules about it do not match.
 */

import { verdictOf } from "../../../approval/answers.ts";
import { isObject, type Json } from "../../../kernel/json.ts";
import type { Effort } from "../../../template/effort.ts";
import { ExpressionError, evaluateExpression, parseExpression } from "../../../template/expression.ts";
import { type Condition, scoreRules, type Transition } from "../../definition/parts.ts";
import type { StateKind } from "../../definition.ts";
import type { StateResult } from "../kind.ts";

/** What a result is judged with. */
export interface Judged {
  readonly result: StateResult;
  readonly kind: StateKind;
  /** The blackboard as templates see it; `state_output` is added here. Asked for by `custom` rules only. */
  readonly variables: () => { readonly [name: string]: Json };
  /** What the expressions may take together; each has its own by default. */
  readonly effort?: Effort;
  /** Told of custom expressions that could not be evaluated; they count as false. */
  readonly onFault?: (expression: string, reason: string) => void;
}

/** From here on an individual score approves. */
const approval = 0.8;

/** The first transition whose rule matches, in the manifest's order; null when none does. */
export function firstMatch(transitions: readonly Transition[], judged: Judged): Transition | null {
  const found = transitions.find(
    ({ rule }, place) => matches(rule, judged) && mayPass(rule, transitions.slice(0, place), judged),
  );
  return found ?? null;
}

/**
 * A Human state's `always` is not taken by a rejection or by silence, unless a rule before it shows that its author
 * had decisions in mind; and never by a failure before anyone was asked: the run would go on past the person.
 */
function mayPass(rule: Condition, before: readonly Transition[], { result, kind }: Judged): boolean {
  if (rule.on !== "always" || kind !== "Human") return true;
  if (result.status === "failed" && (result.decision ?? null) === null) return false;
  if (result.decision !== "rejected" && result.decision !== "timed_out") return true;
  return before.some(({ rule: earlier }) => asksForDecision.has(earlier.on));
}
const asksForDecision: ReadonlySet<Condition["on"]> = new Set(["approved", "rejected", "input_equals", "on_success"]);

/** Whether one rule matches. The exception for `always` needs the rules before it: see `firstMatch`. */
export function matches(rule: Condition, judged: Judged): boolean {
  const { result } = judged;
  switch (rule.on) {
    case "always":
      return true;
    case "on_success":
      return isSuccess(judged);
    case "on_failure":
      return result.status === "failed";
    case "on_timeout":
      return result.timeout === true || result.timed_out === true;
    case "exit_code_zero":
      return exitCode(result) === 0;
    case "exit_code_non_zero":
      return holds(exitCode(result), (code) => code !== 0);
    case "exit_code":
      return exitCode(result) === rule.value;
    case "input_equals":
      return result.response === rule.value;
    case "approved":
      return decisionOf(result) === "approved";
    case "rejected":
      return decisionOf(result) === "rejected";
    case "custom":
      return holdsCustom(rule.expression, judged);
    default:
      return matchesScore(rule, result);
  }
}

function matchesScore(rule: Condition, result: StateResult): boolean {
  const [score, confidence] = [scoreOf(result), confidenceOf(result)];
  switch (rule.on) {
    case "score_above":
      return holds(score, (value) => value > rule.threshold);
    case "score_below":
      return holds(score, (value) => value < rule.threshold);
    case "score_between":
      return holds(score, (value) => value >= rule.min && value <= rule.max);
    case "confidence_above":
      return holds(confidence, (value) => value > rule.threshold);
    case "score_and_confidence_above":
      return (
        holds(score, (value) => value > rule.threshold) &&
        holds(confidence, (value) => value > (rule.confidence ?? rule.threshold))
      );
    case "consensus":
      // An agreement of 0 asks for none.
      return (
        holds(score, (value) => value >= rule.threshold) &&
        (rule.agreement <= 0 || holds(confidence, (value) => value >= rule.agreement))
      );
    case "all_approved": {
      const scores = individualScores(result);
      return scores.length > 0 && scores.every((one) => one >= approval);
    }
    case "any_rejected":
      return individualScores(result).some((one) => one < approval);
    default:
      return false;
  }
}

/** What the end of a run is when no rule takes a state's result, terminal states included. */
export type Outcome =
  | { readonly status: "completed" }
  /** `code` is the result's error where that is a code, `reason` is for people. */
  | { readonly status: "failed"; readonly code: string; readonly reason: string };

/** @param state as defined; one without transitions is terminal */
export function outcomeWithoutMatch(
  {
    transitions,
    outcome,
    kind,
  }: { transitions: readonly Transition[]; outcome: "completed" | "failed"; kind: StateKind },
  result: StateResult,
): Outcome {
  if (!isSuccess({ result, kind })) return failureOf(result);
  if (transitions.length === 0) {
    if (outcome === "completed") return { status: "completed" };
    return { status: "failed", code: "outcome_failed", reason: "The run ended in a state whose outcome is failed" };
  }
  const asksForScores = transitions.every(({ rule }) => scoreRules.has(rule.on));
  if (!asksForScores || scoreOf(result) !== null || individualScores(result).length > 0) return { status: "completed" };
  return { status: "failed", code: "missing_score", reason: "Every rule asks for a score, and the result has none" };
}

/** What a failed result fails a run with that no rule takes on: its code, and why for people. */
export function failureOf(result: StateResult): Outcome & { readonly status: "failed" } {
  const error = typeof result.error === "string" && result.error.trim() !== "" ? result.error : errorOf(result);
  const code = [result.error_code, error].find(isCode) ?? "state_failed";
  const message = typeof result.message === "string" && result.message.trim() !== "" ? result.message : error;
  return { status: "failed", code, reason: message };
}

const isCode = (value: Json | undefined): value is string =>
  typeof value === "string" && /^[a-z][a-z0-9_]{0,63}$/.test(value);

/** Of a result that names none. Silence is never called a refusal. */
function errorOf(result: StateResult): string {
  if (result.decision !== undefined && result.timeout === true) return "human_input_timeout";
  if (result.decision === "rejected") return "approval_rejected";
  if (result.timed_out === true) return "state_timeout";
  if (typeof result.exit_code === "number") return "command_failed";
  return "state_failed";
}

function isSuccess({ result, kind }: Pick<Judged, "result" | "kind">): boolean {
  if (kind === "ParallelContainerRun" && typeof result.overall_success === "boolean") return result.overall_success;
  return result.status === "completed" || result.status === "success";
}

/** A decision that was made stands, in spite of the text that came with it. */
function decisionOf({ decision, response }: StateResult): "approved" | "rejected" | null {
  if (decision === "approved" || decision === "rejected") return decision;
  if (typeof response !== "string") return null;
  const verdict = verdictOf(response);
  return verdict === "responded" ? null : verdict;
}

function holdsCustom(expression: string, { result, variables, onFault, effort }: Judged): boolean {
  const report = (reason: string) => onFault?.(expression, reason);
  try {
    return evaluateExpression(parseExpression(expression), { ...variables(), state_output: result }, report, effort);
  } catch (error) {
    // Read at registration; a definition from before a rule was tightened is no fault of this run.
    if (!(error instanceof ExpressionError)) throw error;
    report(error.message);
    return false;
  }
}

const holds = (value: number | null, test: (value: number) => boolean): boolean => value !== null && test(value);

const numberOf = (value: Json | undefined): number | null =>
  typeof value === "number" && Number.isFinite(value) ? value : null;

const memberOf = (value: Json | undefined, name: string): Json | undefined =>
  isObject(value) && Object.hasOwn(value, name)
    ? (value as { readonly [key: string]: Json | undefined })[name]
    : undefined;

const exitCode = (result: StateResult): number | null => numberOf(result.exit_code);

function scoreOf(result: StateResult): number | null {
  return numberOf(result.score) ?? numberOf(result.final_score) ?? numberOf(memberOf(result.consensus, "score"));
}

function confidenceOf(result: StateResult): number | null {
  return numberOf(result.confidence) ?? numberOf(memberOf(result.consensus, "confidence"));
}

/** Of those who gave one. */
function individualScores(result: StateResult): readonly number[] {
  const metadata = memberOf(result.consensus, "metadata");
  const entries = result.individual_results ?? memberOf(metadata, "individual_results");
  if (entries === null || typeof entries !== "object") return [];
  return Object.values(entries)
    .map((entry) => numberOf(entry) ?? numberOf(memberOf(entry, "score")))
    .filter((score) => score !== null);
}
