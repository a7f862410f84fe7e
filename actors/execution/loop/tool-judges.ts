/** `spec.execution.tool_validation`: the judges that a tool call has to pass before it is run. */

import type { Ended } from "../children.ts";
import { dismissPanel, judgeEnded, type PanelProgress, panelOverdue, startPanel } from "../judging/panel.ts";
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

/** Asks the next judge of a call; without one left, it may run. */
export function seekClearance(turn: ExecutionTurn, call: PendingCall): Clearance {
  const rule = call.unjudged ? undefined : turn.state.tool_rules[call.judges_passed]?.panel;
  if (rule === undefined) return { is: "cleared" };
  call.panel = startPanel(turn, "tool_judge", rule, {
    of: "call",
    iteration: turn.iteration.number,
    judge: call.judges_passed,
    log: loopLog(turn.iteration.instance_id).name,
    seq: call.seq,
    call_id: call.call_id,
    tool: call.tool,
  });
  return open;
}

/** The call whose judges form a panel. */
export function callBefore(loop: Loop | null, panelId: string): PendingCall | undefined {
  return loop?.calls.find(({ panel }) => panel?.id === panelId);
}

export function toolJudgeEnded(turn: ExecutionTurn, call: PendingCall, ended: Ended): Clearance {
  const rule = turn.state.tool_rules[call.judges_passed]?.panel;
  if (call.panel === null || rule === undefined) return open;
  return proceed(turn, call, judgeEnded(turn, rule, call.panel, ended));
}

export function toolJudgesOverdue(turn: ExecutionTurn, call: PendingCall): Clearance {
  const rule = turn.state.tool_rules[call.judges_passed]?.panel;
  if (call.panel === null || rule === undefined) return open;
  return proceed(turn, call, panelOverdue(turn, "tool_judge", rule, call.panel));
}

/** The call will not be run. */
export function dismissToolJudges(turn: ExecutionTurn, call: PendingCall): void {
  if (call.panel !== null) dismissPanel(turn, call.panel);
  call.panel = null;
}

function proceed(turn: ExecutionTurn, call: PendingCall, progress: PanelProgress): Clearance {
  if ("panel" in progress) {
    call.panel = progress.panel;
    return open;
  }
  call.panel = null;
  const rule = turn.state.tool_rules[call.judges_passed];
  if (rule === undefined) return open;
  const { passed, score, feedback } = resultOf(rule, progress.found);
  if (!passed) {
    const judge = rule.panel?.judges.map(({ agent }) => agent).join(", ") ?? "";
    return { is: "refused", judge, score, reason: feedback ?? `score ${score}` };
  }
  call.judges_passed += 1;
  return seekClearance(turn, call);
}
