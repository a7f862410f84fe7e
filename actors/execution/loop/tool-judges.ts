/** `spec.execution.tool_validation`: the judges that a tool call has to pass before it is run. */

import type { Ended } from "../children.ts";
import { convene, dismissPanel, judgeEnded, type Progress, panelOverdue } from "../judging/panel.ts";
import { resultOf } from "../judging/verdict.ts";
import type { Life } from "../life.ts";
import { loopLog } from "../messages.ts";
import type { Loop, PendingCall } from "../state.ts";

/** What the judges say of a call so far. */
export type Clearance =
  | { readonly is: "open" }
  | { readonly is: "cleared" }
  /** Also when a judge fails: a call that no judge approved is not run. */
  | { readonly is: "refused"; readonly judge: string; readonly score: number; readonly reason: string };

const open: Clearance = { is: "open" };

/** Asks the next judge of a call; without one left, it may run. */
export function seekClearance(life: Life, call: PendingCall): Clearance {
  const rule = call.unjudged ? undefined : life.state.tool_rules[call.judges_passed]?.panel;
  if (rule === undefined) return { is: "cleared" };
  call.panel = convene(life, "tool_judge", rule, {
    of: "call",
    iteration: life.iteration.number,
    judge: call.judges_passed,
    log: loopLog(life.iteration.instance_id).name,
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

export function toolJudgeEnded(life: Life, call: PendingCall, ended: Ended): Clearance {
  const rule = life.state.tool_rules[call.judges_passed]?.panel;
  if (call.panel === null || rule === undefined) return open;
  return proceed(life, call, judgeEnded(life, rule, call.panel, ended));
}

export function toolJudgesOverdue(life: Life, call: PendingCall): Clearance {
  const rule = life.state.tool_rules[call.judges_passed]?.panel;
  if (call.panel === null || rule === undefined) return open;
  return proceed(life, call, panelOverdue(life, "tool_judge", rule, call.panel));
}

/** The call will not be run. */
export function dismissToolJudges(life: Life, call: PendingCall): void {
  if (call.panel !== null) dismissPanel(life, call.panel);
  call.panel = null;
}

function proceed(life: Life, call: PendingCall, progress: Progress): Clearance {
  if ("panel" in progress) {
    call.panel = progress.panel;
    return open;
  }
  call.panel = null;
  const rule = life.state.tool_rules[call.judges_passed];
  if (rule === undefined) return open;
  const { passed, score, feedback } = resultOf(rule, progress.found);
  if (!passed) {
    const judge = rule.panel?.judges.map(({ agent }) => agent).join(", ") ?? "";
    return { is: "refused", judge, score, reason: feedback ?? `score ${score}` };
  }
  call.judges_passed += 1;
  return seekClearance(life, call);
}
