/** What an approver of a tool call may change about it, and what its owner tells of it afterwards. */

import type { Context } from "../kernel/turn.ts";
import type { UnfitCode } from "./messages.ts";
import { argumentsLog } from "./record.ts";
import { escapedJson } from "./shown.ts";
import type { ApprovalState } from "./state.ts";
import { type CallArguments, isWithin, shownArguments } from "./tool-call.ts";
import { ApprovalTurn, type DecisionDetails, type DecisionSource, type Result, unchanged } from "./turn.ts";

/** Requests remembered whose consent an edit has voided. */
const maxVoided = 100;
/** Of the names that the history tells of an edit. */
const maxNamed = 300;

/** Why an approval with these cannot be given; null: it can. */
export function unfitness(
  { request: { tool_call } }: ApprovalState,
  { edit, remember, seen_sha256: seen }: Pick<DecisionDetails, "edit" | "remember" | "seen_sha256">,
): UnfitCode | null {
  // An edit came in between: the approver would agree to arguments that they have not seen.
  if (seen !== undefined && tool_call !== undefined && seen !== tool_call.arguments_sha256) return "arguments_changed";
  if (edit !== undefined && (tool_call?.editable !== true || shownArguments(edit).truncated)) {
    return "arguments_not_editable";
  }
  if (remember !== undefined && !isWithin(remember, tool_call?.remember ?? "none")) return "remember_not_allowed";
  return null;
}

/** The call is to be run with other arguments: who agreed so far agreed to something else. */
export function replaceArguments(turn: ApprovalTurn, edit: CallArguments, origin: DecisionSource): void {
  const { request, call, consents } = turn.state;
  const { tool_call } = request;
  if (tool_call === undefined || call === undefined || tool_call.arguments_sha256 === edit.sha256) return;
  const voided = consents.flatMap(({ work_id }, place) =>
    work_id === null ? [] : [{ work_id, approvals: place + 1 }],
  );
  const note = changedNames(call.given, edit.given);
  turn.change({
    request: { ...request, tool_call: { ...tool_call, ...shownArguments(edit) } },
    call: { ...call, given: edit.given, edited: true, voided: [...call.voided, ...voided].slice(-maxVoided) },
    consents: [],
  });
  turn.append(argumentsLog, { shown: escapedJson(edit.redacted), sha256: edit.sha256 });
  turn.record("edited", { ...origin, note });
}

/** The owner tells whether the call was run. */
export function noteExecuted(
  state: ApprovalState | null,
  { executed }: { readonly executed: boolean },
  context: Context,
): Result {
  if (state?.call === undefined || state.call.executed !== null) return unchanged(state);
  const turn = new ApprovalTurn(state, context);
  turn.change({ call: { ...state.call, executed } });
  return turn.turn();
}

/** Names of the arguments that an edit changes, as the history tells them. */
function changedNames(before: CallArguments["given"] | null, after: CallArguments["given"]): string {
  const known = before ?? {};
  const names = new Set([...Object.keys(known), ...Object.keys(after)]);
  const changed = [...names].filter((name) => JSON.stringify(known[name]) !== JSON.stringify(after[name]));
  return (escapedJson(changed) as readonly string[]).join(", ").slice(0, maxNamed);
}
