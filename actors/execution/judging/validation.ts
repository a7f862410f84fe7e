/**
 * The validators of one iteration, in order, until the first that does not pass.
 *
 * What can be measured is measured by `iteration.validate`, a stretch of the list at a time; judges are asked
 * by panels. The result itself lies in a log meanwhile: only its start stays in the state.
 */

import type { Measurement, Validated } from "../activities.ts";
import { iterationValidate } from "../activities.ts";
import type { Ended } from "../children.ts";
import { type IterationResult, resultLog } from "../start/plan.ts";
import type { Iteration } from "../state.ts";
import { trimText } from "../trim.ts";
import type { ExecutionTurn } from "../turn.ts";
import { dismissPanel, judgeEnded, type PanelProgress, panelOverdue, startPanel } from "./panel.ts";
import { type Found, measureExitCode, resultOf, type ValidationResult } from "./validator-result.ts";

/** As much of a rejected output as the next iteration is told. */
const excerptBytes = 4096;

/** The activity that measures the validators from the one at hand on. */
export const validateId = ({ instance_id, validation }: Iteration): string =>
  `validate:${instance_id}:${validation?.next ?? 0}`;

/** Where the validation of an output stands. */
export type ValidationProgress =
  | { readonly is: "open" }
  | { readonly is: "accepted"; readonly output: string }
  /** `excerpt`: the output, or its ends. */
  | { readonly is: "rejected"; readonly excerpt: string; readonly result: ValidationResult };

const open: ValidationProgress = { is: "open" };

/** An iteration has produced a result. */
export function validate(turn: ExecutionTurn, result: IterationResult): ValidationProgress {
  const { iteration, state } = turn;
  const { output, stderr, exit_code } = result;
  iteration.validation = { next: 0, excerpt: trimText(output, excerptBytes), panel: null };
  if (state.rules.every(({ expected }) => expected !== undefined)) {
    const found = state.rules.map(({ expected = 0 }) => measureExitCode(expected, exit_code, stderr));
    return weigh(turn, found) ?? { is: "accepted", output };
  }
  iteration.phase = "validating";
  turn.append(resultLog(iteration.instance_id), result);
  return advance(turn);
}

/** A stretch of validators was measured, or could not be. */
export function measured(turn: ExecutionTurn, outcome: Validated): ValidationProgress {
  if (!outcome.ok) {
    const feedback = `The output could not be validated: ${outcome.message}`;
    return weigh(turn, [{ score: 0, confidence: 0, feedback, details: { code: outcome.code }, void: true }]) ?? open;
  }
  const { output, measurements } = outcome.value;
  const rejected = weigh(turn, measurements);
  if (rejected !== null) return rejected;
  const { rules } = turn.state;
  const next = rules[turn.iteration.validation?.next ?? 0];
  if (next === undefined) return { is: "accepted", output };
  if (next.panel !== undefined) return advance(turn);
  const missing = {
    score: 0,
    confidence: 0,
    feedback: "The validator gave no result",
    details: null,
    void: true as const,
  };
  return weigh(turn, [missing]) ?? open;
}

/** A judge of the validator at hand is over. */
export function judged(turn: ExecutionTurn, ended: Ended): ValidationProgress {
  const { validation } = turn.iteration;
  const rule = turn.state.rules[validation?.next ?? 0]?.panel;
  if (!validation?.panel || validation.panel.id !== ended.child.concern || rule === undefined) return open;
  return proceed(turn, judgeEnded(turn, rule, validation.panel, ended));
}

/** The judges of the validator at hand took too long. */
export function judgesOverdue(turn: ExecutionTurn, panelId: string): ValidationProgress {
  const { validation } = turn.iteration;
  const rule = turn.state.rules[validation?.next ?? 0]?.panel;
  if (!validation?.panel || validation.panel.id !== panelId || rule === undefined) return open;
  return proceed(turn, panelOverdue(turn, "validator", rule, validation.panel));
}

/** The outcome is no longer wanted. */
export function giveUpValidation(turn: ExecutionTurn): void {
  const { iteration } = turn;
  if (iteration.phase !== "validating" || iteration.validation === null) return;
  if (iteration.validation.panel === null) turn.abandon(validateId(iteration));
  else dismissPanel(turn, iteration.validation.panel);
  iteration.validation.panel = null;
}

function proceed(turn: ExecutionTurn, progress: PanelProgress): ValidationProgress {
  const { validation } = turn.iteration;
  if (validation === null) return open;
  if ("panel" in progress) {
    validation.panel = progress.panel;
    return open;
  }
  validation.panel = null;
  return weigh(turn, [progress.found]) ?? advance(turn);
}

/** Goes on with the validator that is next; after the last one, only the output is fetched. */
function advance(turn: ExecutionTurn): ValidationProgress {
  const { iteration, state } = turn;
  const { validation } = iteration;
  if (validation === null) return open;
  const rule = state.rules[validation.next]?.panel;
  const { instance_id, number } = iteration;
  if (rule === undefined) {
    const input = { instance_id, from: validation.next };
    turn.perform(iterationValidate, input, { id: validateId(iteration), then: "validated" });
  } else {
    const input = { of: "result", instance_id, iteration: number, validator: validation.next } as const;
    validation.panel = startPanel(turn, "validator", rule, input);
  }
  return open;
}

/** Takes findings in, one per validator from the next on. Null when all of them pass. */
function weigh(turn: ExecutionTurn, found: readonly (Measurement | Found)[]): ValidationProgress | null {
  const { validation } = turn.iteration;
  if (validation === null) return null;
  for (const finding of found) {
    const rule = turn.state.rules[validation.next];
    if (rule === undefined) return null;
    const result = resultOf(rule, finding);
    noteResult(turn, result);
    if (!result.passed) return { is: "rejected", excerpt: validation.excerpt, result };
    validation.next += 1;
  }
  return null;
}

function noteResult(turn: ExecutionTurn, result: ValidationResult): void {
  turn.emit("gradient_validation_performed", {
    iteration_number: turn.iteration.number,
    validator: result.validator,
    score: result.score,
    confidence: result.confidence,
    validated_at: turn.at,
    _result: result,
  });
}
