/** Where a run goes after a state: the rule that takes the result, or what the result means without one (docs/reference/workflows.md). */
import { shortened } from "../../../execution/ending.ts";
import type { Json } from "../../../kernel/json.ts";
import type { Transition } from "../../definition/parts.ts";
import { variablesOf } from "../blackboard/variables.ts";
import type { StateResult } from "../kind.ts";
import type { RunTurn } from "../turn.ts";
import { firstMatch, outcomeWithoutMatch } from "./conditions.ts";

export type NextStep = (
  | { readonly next: "state"; readonly transition: Transition }
  | { readonly next: "end" }
  | { readonly next: "failure"; readonly code: string; readonly reason: string }
) & {
  /** Expressions that could not be evaluated and counted as false, for the log. */
  readonly faults: readonly string[];
};

export function decisionOf(run: RunTurn, result: StateResult): NextStep {
  const state = run.definition;
  const faults: string[] = [];
  const transition = firstMatch(state.transitions, {
    result,
    kind: state.kind,
    variables: () => variablesOf(run.seen, {}),
    effort: run.effort,
    onFault: (expression, reason) => faults.push(shortened(`the rule ${expression} counts as false: ${reason}`)),
  });
  if (transition !== null) return { next: "state", transition, faults };
  const end = outcomeWithoutMatch(state, result);
  if (end.status === "completed") return { next: "end", faults };
  const { code, reason } = end;
  return {
    next: "failure",
    code,
    reason: reason === code ? sentenceOf(run.current.name, code, result) : reason,
    faults,
  };
}

/** What a failure means that its result tells by a code alone. */
function sentenceOf(state: string, code: string, { rejected_by, feedback }: StateResult): string {
  switch (code) {
    case "approval_rejected": {
      const by = isText(rejected_by) ? ` by ${rejected_by}` : "";
      return `${state} was rejected${by}${isText(feedback) ? `: ${feedback}` : ""}`;
    }
    case "human_input_timeout":
      return `No approver decided ${state} in time`;
    case "state_timeout":
      return `${state} took longer than its timeout`;
    case "state_failed":
      return `${state} failed`;
    default:
      return `${state} failed: ${code}`;
  }
}

const isText = (value: Json | undefined): value is string => typeof value === "string" && value.trim() !== "";
