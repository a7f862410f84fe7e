/** `spec.execution.tool_validation`: the judges that a tool call has to pass before it is run. */

import type { CallInput } from "../child.ts";
import type { Ended } from "../children.ts";
import { dismissPanel, judgeEnded, type PanelProgress, panelOverdue, startPanel } from "../judging/panel.ts";
import type { Panel } from "../judging/panel-state.ts";
import { resultOf } from "../judging/validator-result.ts";
import { loopLog } from "../messages.ts";
import type { Loop, PendingCall } from "../state.ts";
import type { ExecutionTurn } from "../turn.ts";

/** What the judges say of a call so far. */
export type Clearance =
  | { readonly is: "open" }
  | { readonly is: "cleared" }
  /** Also when a judge fails: a call that no judge approved is not run. */
  | { readonly is: "refused"; readonly judge: string; readonly score: number; readonly reason: string };

const open: Clearance = { is: "open" };

/** A call, in the loop or beside it, with what its judges have said so far. */
export interface JudgedCall {
  judges_passed: number;
  /** The judges at work on it. */
  panel: Panel | null;
}

/** Asks the next judge of a call of the loop; without one left, it may run. */
export function seekClearance(turn: ExecutionTurn, call: PendingCall): Clearance {
  if (call.unjudged) return { is: "cleared" };
  return askNext(turn, call, {
    of: "call",
    iteration: turn.iteration.number,
    judge: call.judges_passed,
    log: loopLog(turn.iteration.instance_id).name,
    seq: call.seq,
    call_id: call.call_id,
    tool: call.tool,
  });
}

/** Asks the judge that is next in turn. @param about the call, as judges are told of it */
export function askNext(turn: ExecutionTurn, call: JudgedCall, about: CallInput): Clearance {
  const rule = turn.state.tool_rules[call.judges_passed]?.panel;
  if (rule === undefined) return { is: "cleared" };
  call.panel = startPanel(turn, "tool_judge", rule, { ...about, judge: call.judges_passed });
  return open;
}

/** The call whose judges form a panel. */
export function callBefore(loop: Loop | null, panelId: string): PendingCall | undefined {
  return loop?.calls.find(({ panel }) => panel?.id === panelId);
}

export function toolJudgeEnded(turn: ExecutionTurn, call: JudgedCall, ended: Ended): Clearance {
  const rule = turn.state.tool_rules[call.judges_passed]?.panel;
  if (call.panel === null || rule === undefined) return open;
  return proceed(turn, call, judgeEnded(turn, rule, call.panel, ended));
}

export function toolJudgesOverdue(turn: ExecutionTurn, call: JudgedCall): Clearance {
  const rule = turn.state.tool_rules[call.judges_passed]?.panel;
  if (call.panel === null || rule === undefined) return open;
  return proceed(turn, call, panelOverdue(turn, "tool_judge", rule, call.panel));
}

/** The call will not be run. */
export function dismissToolJudges(turn: ExecutionTurn, call: JudgedCall): void {
  if (call.panel !== null) dismissPanel(turn, call.panel);
  call.panel = null;
}

function proceed(turn: ExecutionTurn, call: JudgedCall, progress: PanelProgress): Clearance {
  const about = call.panel?.input;
  if ("panel" in progress) {
    call.panel = progress.panel;
    return open;
  }
  call.panel = null;
  const rule = turn.state.tool_rules[call.judges_passed];
  if (rule === undefined || (about?.of !== "call" && about?.of !== "outside_call")) return open;
  const { passed, score, feedback } = resultOf(rule, progress.found);
  if (!passed) {
    const judge = rule.panel?.judges.map(({ agent }) => agent).join(", ") ?? "";
    return { is: "refused", judge, score, reason: feedback ?? `score ${score}` };
  }
  call.judges_passed += 1;
  return askNext(turn, call, about);
}
