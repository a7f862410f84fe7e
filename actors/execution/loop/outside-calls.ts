/**
 * Calls that came beside the loop (signed ones) and have to pass the agent's tool judges before they are run.
 *
 * The same panels judge them as judge those of the loop. The caller waits for the verdict; one that asks again under the
 * same id, after a crash perhaps, joins the panel at work or is told what it found. Whether and when the call is then run
 * is for the caller to decide.
 */
import type { Context } from "../../kernel/turn.ts";
import type { Ended } from "../children.ts";
import { type JudgeCall, type JudgesAnswer, outsideCallLog } from "../messages.ts";
import type { ExecutionState, OutsideCall } from "../state.ts";
import { trimText } from "../trim.ts";
import { ExecutionTurn, type Result, unchanged } from "../turn.ts";
import { noteViolation } from "./call-answers.ts";
import { awaitAnswer } from "./loop-answer.ts";
import { askNext, type Clearance, dismissToolJudges, toolJudgeEnded, toolJudgesOverdue } from "./tool-judges.ts";

/** Verdicts kept for callers that ask again. */
const keptVerdicts = 16;
const maxReasonBytes = 1024;

/** A call is to be judged: answered now, or with the verdict. */
export function judgeCall(
  state: ExecutionState | null,
  { call_id, tool, arguments: given }: JudgeCall,
  context: Context,
): Result<JudgesAnswer> {
  if (state?.status !== "running") return unchanged(state, { status: "over" });
  const known = state.outside?.calls.find(({ id }) => id === call_id);
  if (known !== undefined && known.verdict !== null) return unchanged(state, known.verdict);
  if (state.tool_rules.length === 0) return unchanged(state, { status: "cleared" });
  const open = state.outside?.calls.filter(({ verdict }) => verdict === null) ?? [];
  const most = state.header.bounds.tool_parallelism;
  if (known === undefined && open.length >= most) return unchanged(state, { status: "full", most });
  const turn = new ExecutionTurn(state, context);
  const outside = turn.state.outside ?? { logged: 0, calls: [] };
  turn.state.outside = outside;
  let call = outside.calls.find(({ id }) => id === call_id);
  if (call === undefined) {
    turn.append(outsideCallLog, { tool, arguments: given });
    outside.logged += 1;
    call = { id: call_id, tool, judges_passed: 0, panel: null, verdict: null, waiters: [] };
    outside.calls.push(call);
    const { number: iteration } = turn.iteration;
    judgesSaid(turn, call, askNext(turn, call, { of: "outside_call", iteration, judge: 0, seq: outside.logged, tool }));
  }
  awaitAnswer(turn, call);
  return turn.turn();
}

/** A judge is over that may be one of such a call. */
export function outsideJudgeEnded(turn: ExecutionTurn, ended: Ended): void {
  const call = callBefore(turn, ended.child.concern);
  if (call !== undefined) judgesSaid(turn, call, toolJudgeEnded(turn, call, ended));
}

/** Judges took too long that may be those of such a call. */
export function outsideJudgesOverdue(turn: ExecutionTurn, panelId: string): void {
  const call = callBefore(turn, panelId);
  if (call !== undefined) judgesSaid(turn, call, toolJudgesOverdue(turn, call));
}

/** The execution has ended: nothing is run for it any more. */
export function closeOutsideCalls(turn: ExecutionTurn): void {
  for (const call of turn.state.outside?.calls ?? []) {
    dismissToolJudges(turn, call);
    answer(turn, call, { status: "over" });
  }
  delete turn.state.outside;
}

const callBefore = ({ state }: ExecutionTurn, panelId: string): OutsideCall | undefined =>
  state.outside?.calls.find(({ panel }) => panel?.id === panelId);

function judgesSaid(turn: ExecutionTurn, call: OutsideCall, said: Clearance): void {
  if (said.is === "open") return;
  call.verdict = said.is === "cleared" ? { status: "cleared" } : rejected(turn, call, said);
  answer(turn, call, call.verdict);
  const { outside } = turn.state;
  if (outside === undefined) return;
  const judged = outside.calls.filter(({ verdict }) => verdict !== null);
  const forgotten = new Set(judged.slice(0, -keptVerdicts));
  outside.calls = outside.calls.filter((one) => !forgotten.has(one));
}

function rejected(
  turn: ExecutionTurn,
  { tool }: OutsideCall,
  { judge, score, reason: said }: Extract<Clearance, { is: "refused" }>,
): NonNullable<OutsideCall["verdict"]> {
  const code = "judge_rejected";
  const reason = trimText(said, maxReasonBytes);
  // The caller's pipeline reports the incident.
  noteViolation(turn, tool, code, { code, error_code: 2009, attempted: tool, judge, score, reason, entry: "seal" });
  return { status: "rejected", judge, score, reason };
}

function answer(turn: ExecutionTurn, call: OutsideCall, value: JudgesAnswer): void {
  for (const waiter of call.waiters) turn.reply("judge_call", waiter, value);
  call.waiters = [];
}
