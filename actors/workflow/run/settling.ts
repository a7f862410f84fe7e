/**
 * What a state's result leads to: it goes on the blackboard and into the log, the rules are asked, and either the next
 * state is noted (`next`; the actor enters it before the turn closes, unless the run is paused) or the run ends.
 */
import { TemplateError } from "../../template/template.ts";
import type { Transition } from "../definition/parts.ts";
import { allNotesBytes } from "./blackboard/notes.ts";
import { jsonBytes, maxBlackboardBytes, maxResultBytes } from "./blackboard/size.ts";
import { complete, fail } from "./ending.ts";
import type { StateResult } from "./kind.ts";
import { faultResult } from "./kind.ts";
import { triesAgain } from "./retrying.ts";
import { decisionOf, type NextStep } from "./rules/deciding.ts";
import { type RunState, stateTimer } from "./state.ts";
import type { RunTurn } from "./turn.ts";
import { linesOf } from "./work.ts";

/**
 * Ends the state at work with its result. Nothing of its work may be under way any more. The result is committed and
 * `WorkflowStateExited` emitted even when it ends the run.
 */
export function settle(run: RunTurn, result: StateResult): void {
  const { name, entry, deadline_at } = run.current;
  const kept = fitting(result);
  if (deadline_at !== null) run.cancelTimer(stateTimer(entry));
  if (triesAgain(run, kept)) return;
  run.note({ [name]: kept });
  if (run.seenBytes > maxBlackboardBytes) overflow(run);
  else takeOn(run, kept);
}

function takeOn(run: RunTurn, result: StateResult): void {
  const decision = decisionOf(run, result);
  exit(run, result, decision);
  if (decision.next === "state") noteNext(run, decision.transition);
  else if (decision.next === "end") complete(run, result);
  else fail(run, decision.code, decision.reason);
}

function fitting(result: StateResult): StateResult {
  if (jsonBytes(result) <= maxResultBytes) return result;
  return faultResult("blackboard_too_large", `The result is larger than ${maxResultBytes} bytes`);
}

export const tooLarge = `The blackboard is larger than ${maxBlackboardBytes} bytes`;

/** What does not fit is not kept: the run ends with the blackboard it had. */
function overflow(run: RunTurn): void {
  const { before } = run;
  const code = "blackboard_too_large";
  const bytes = before.blackboard_bytes - notesOf(before) + notesOf(run.state);
  if (run.line === null) run.change({ blackboard: before.blackboard, blackboard_bytes: bytes });
  exit(run, faultResult(code, tooLarge), { next: "failure", code, reason: tooLarge, faults: [] });
  fail(run, code, tooLarge, true);
}

const notesOf = ({ current }: RunState): number => allNotesBytes(linesOf(current));

function exit(run: RunTurn, result: StateResult, decision: NextStep): void {
  const { name, visit, attempt = 1 } = run.current;
  const { outputs, blackboard } = run.state;
  const taken = decision.next === "state" ? decision.transition : null;
  const transition = taken === null ? null : { condition: taken.condition, target: taken.target };
  run.emit("WorkflowStateExited", {
    message: [`${name} came to ${result.status}`, ...decision.faults].join("; "),
    state_name: name,
    details: { state_name: name, visit, output: result, transition, exited_at: run.at },
  });
  run.move({ current: null });
  if (run.line !== null) {
    run.changeLine({ last: result, ...(attempt === 1 ? {} : { attempts: attempt }) });
    return;
  }
  const isListed = outputs.includes(name) || !Object.hasOwn(blackboard, name);
  run.change({ outputs: isListed ? outputs : [...outputs, name] });
}

function noteNext(run: RunTurn, { target, feedback }: Transition): void {
  try {
    run.move({ next: { target, feedback: feedback === null ? null : run.render(feedback) } });
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    fail(run, error.code, `The feedback for ${target} cannot be rendered: ${error.message}`);
  }
}
