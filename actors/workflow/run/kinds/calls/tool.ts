/** Tool: one call of a tool, made for the starter of the run under the run's security context and ceilings. */
import type { Json } from "../../../../kernel/json.ts";
import type { CallOutcome } from "../../../../tool-call/messages.ts";
import {
  beginCall,
  callAgain,
  callOver,
  failByPeople,
  failureOf,
  leaveCall,
  onCalled,
  onPeople,
} from "../../calling.ts";
import { type KindOfState, StateFault, type StateOf, type StateResult } from "../../kind.ts";
import { settle } from "../../settling.ts";
import type { RunTurn } from "../../turn.ts";
import type { WorkOf } from "../../work.ts";
import { renderArguments } from "./arguments.ts";

type Work = WorkOf<"tool">;

export const toolKind: KindOfState<"Tool"> = {
  enter(run, state) {
    run.work({ of: "tool", ...beginCall(run, wanted(run, state)) });
  },

  leave(run, reason) {
    const { work } = run.current;
    if (work.of === "tool") leaveCall(run, work, reason);
  },

  overdue(run) {
    const { work } = run.current;
    const since = work.of === "tool" ? work.since : run.now;
    return { status: "failed", output: null, error: "state_timeout", timed_out: true, duration_ms: run.now - since };
  },

  toolCalled(run, outcome) {
    const work = workOf(run);
    const news = onCalled(run, work, outcome);
    if (news.is === "ended") settle(run, resultOf(run, work, news.outcome));
    else if (news.is === "again") run.work({ of: "tool", ...news.work });
  },

  callDue(run) {
    run.work({ of: "tool", ...callAgain(run, workOf(run), wanted(run, run.stateOf("Tool"))) });
  },

  toolWaiting(run, news) {
    const work = onPeople(run, workOf(run), news);
    run.work(work);
  },

  toolEnded(run, { outcome, fails_run }) {
    const work = workOf(run);
    callOver(run, work);
    if (fails_run === true) failByPeople(run, outcome);
    else settle(run, resultOf(run, work, outcome));
  },
};

const workOf = (run: RunTurn): Work => run.workOf("tool");

/** @throws StateFault `template_resolved_empty`; TemplateError */
function wanted(run: RunTurn, state: StateOf<"Tool">): { readonly tool: string; readonly arguments: Json } {
  const tool = run.render(state.tool).trim();
  if (tool === "") throw new StateFault("template_resolved_empty", "The tool's name is empty");
  return { tool, arguments: renderArguments(run, state.arguments ?? {}) };
}

function resultOf(run: RunTurn, work: Work, outcome: CallOutcome): StateResult {
  const { result } = outcome;
  const isGood = outcome.outcome === "success" && result.isError !== true;
  return {
    status: isGood ? "success" : "failed",
    output: result,
    ...(isGood ? {} : failureOf(outcome)),
    duration_ms: Math.max(0, run.now - work.since),
    ...(work.approval_id === null ? {} : { approval_id: work.approval_id }),
  };
}
