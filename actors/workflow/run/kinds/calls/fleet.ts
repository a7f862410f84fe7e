/**
 * Fleet: a tool or a command on edge hosts, as a run of its own that is sent on its way by a call of
 * `svc.edge.fleet.invoke`. The fleet run tells the workflow run that it is there, what people do about it and how it
 * ended; then the results of its hosts are read.
 */
import { fleetRunProtocol } from "../../../../fleet-run/messages.ts";
import type { Json } from "../../../../kernel/json.ts";
import { CMD_RUN } from "../../../../tool/catalog.ts";
import type { CallOutcome } from "../../../../tool-call/messages.ts";
import { fleetResults, type HostResult } from "../../activities/fleet-results.ts";
import {
  beginCall,
  callAgain,
  callOver,
  failByPeople,
  failureOf,
  leaveCall,
  onCalled,
  onPeople,
  type WantedCall,
} from "../../calling.ts";
import { type KindOfState, StateFault, type StateOf, type StateResult } from "../../kind.ts";
import { fleetResultsId } from "../../relevance.ts";
import { settle } from "../../settling.ts";
import { hostCommand } from "../../shell/host-command.ts";
import type { RunTurn } from "../../turn.ts";
import type { WorkOf } from "../../work.ts";
import { renderArguments } from "./arguments.ts";

type Work = WorkOf<"fleet">;

const invoke = "svc.edge.fleet.invoke";

export const fleetKind: KindOfState<"Fleet"> = {
  enter(run, state) {
    const call = beginCall(run, wanted(run, state));
    run.work({ of: "fleet", ...call, phase: "sending", fleet_command_id: null, end: null });
  },

  leave(run, reason) {
    const { work } = run.current;
    if (work.of !== "fleet") return;
    if (work.phase === "sending") leaveCall(run, work, reason);
    else callOver(run, work);
    // One that is not there yet tells of itself when it is, and is cancelled then.
    if (work.fleet_command_id === null) return;
    if (work.phase === "reading") run.abandon(fleetResultsId(work.invocation));
    else run.tell(fleetRunProtocol, work.fleet_command_id, "cancel", { by: null, reason });
  },

  overdue(run) {
    const { work } = run.current;
    const id = work.of === "fleet" ? work.fleet_command_id : null;
    return { ...nothing(id), status: "failed", error: "state_timeout", timed_out: true };
  },

  toolCalled(run, outcome) {
    const work = workOf(run);
    // The fleet run may have told of itself before.
    if (work.phase !== "sending") return;
    const news = onCalled(run, work, outcome);
    if (news.is === "ended") sent(run, work, news.outcome);
    else if (news.is === "again") run.work({ ...work, ...news.work });
  },

  callDue(run) {
    const work = workOf(run);
    run.work({ ...work, ...callAgain(run, work, wanted(run, run.stateOf("Fleet"))) });
  },

  toolWaiting(run, news) {
    const work = onPeople(run, workOf(run), news);
    run.work(work);
  },

  toolEnded(run, { outcome, fails_run }) {
    const work = workOf(run);
    if (work.phase !== "sending") return;
    callOver(run, work);
    if (fails_run === true) failByPeople(run, outcome);
    else sent(run, work, outcome);
  },

  fleetWaiting(run, { fleet_command_id, asked, decided }) {
    const work = workOf(run);
    const begun: Work = { ...work, fleet_command_id, phase: work.phase === "sending" ? "running" : work.phase };
    run.work(onPeople(run, begun, { asked, decided, tool: invoke }));
  },

  fleetEnded(run, { fleet_command_id, status, reason, summary }) {
    const work = workOf(run);
    if (work.phase === "reading") return;
    callOver(run, work);
    run.work({ ...work, phase: "reading", fleet_command_id, end: { status, reason, summary } });
    run.perform(fleetResults, { fleet_command_id }, { id: fleetResultsId(work.invocation), then: "fleet_read" });
  },

  fleetRead(run, outcome) {
    const work = workOf(run);
    if (outcome.ok) settle(run, resultOf(work, outcome.value.results));
    else
      settle(run, {
        ...nothing(work.fleet_command_id),
        status: "failed",
        error: outcome.code,
        message: outcome.message,
      });
  },
};

const workOf = (run: RunTurn): Work => run.workOf("fleet");

/** @throws StateFault, TemplateError */
function wanted(run: RunTurn, state: StateOf<"Fleet">): WantedCall {
  const { tool, args } = toolOf(run, state);
  if (tool === "") throw new StateFault("template_resolved_empty", "The tool's name is empty");
  const target = renderArguments(run, state.target);
  const policy = state.policy === null ? {} : { policy: renderArguments(run, state.policy) };
  return { tool: invoke, arguments: { target, tool, args, ...policy }, sends: true };
}

function toolOf(run: RunTurn, state: StateOf<"Fleet">): { readonly tool: string; readonly args: Json } {
  if (state.tool === null) return { tool: CMD_RUN, args: hostCommand(run, state.command) };
  return { tool: run.render(state.tool).trim(), args: renderArguments(run, state.args ?? {}) };
}

/** The call has ended: the fleet run is under way, or was refused. */
function sent(run: RunTurn, work: Work, outcome: CallOutcome): void {
  const { fleet_command_id: id = null } = outcome.result as { readonly [member: string]: Json };
  if (outcome.outcome === "success" && typeof id === "string") {
    run.work({ ...work, phase: "running", fleet_command_id: id });
    return;
  }
  settle(run, { ...nothing(null), status: "failed", output: outcome.result, ...failureOf(outcome) });
}

const nothing = (fleet_command_id: string | null) => ({ fleet_command_id, summary: null, results: [], output: null });

function resultOf({ fleet_command_id, end }: Work, results: readonly HostResult[]): StateResult {
  if (end === null) throw new Error("a fleet run that has not ended has no results");
  const { status, summary } = end;
  const isGood = status === "complete" && summary.failed === 0;
  return {
    status: isGood ? "success" : "failed",
    fleet_command_id,
    summary,
    results: [...results],
    output: Object.fromEntries(results.map(({ name, structured, stdout }) => [name, structured ?? stdout])),
    ...(isGood ? {} : failure(end)),
  };
}

function failure({ status, reason, summary }: NonNullable<Work["end"]>) {
  const error = status === "complete" ? "hosts_failed" : (reason ?? status);
  const told = status === "complete" ? "ended" : `ended as ${status}`;
  return { error, message: `The fleet run ${told}; ${summary.failed} hosts failed` };
}
