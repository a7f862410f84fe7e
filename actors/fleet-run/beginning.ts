/** How a run begins: at once, or once people have approved it. */
import { type ApprovalDecided, approvalProtocol, type Open, ownerOf } from "../approval/messages.ts";
import { decidedOf } from "../approval/people.ts";
import { runArgsFact } from "../edge-host/command.ts";
import type { Outcome } from "../kernel/activity.ts";
import type { Context } from "../kernel/turn.ts";
import { resolve } from "./activities.ts";
import { advance, beginningOf } from "./advance.ts";
import { fleetRunProtocol, type Resolution, type Start, type StartReply } from "./messages.ts";
import { type FleetRunState, startedOf } from "./state.ts";
import { initialTargets } from "./targets.ts";
import { type Result, RunTurn, type State } from "./turn.ts";
import type { EndReason, Holding } from "./words.ts";

/** A run that is asked for. The same again is answered as it stands. */
export function start(state: State, asked: Start, context: Context): Result<StartReply> {
  if (state !== null) return { state, reply: startedOf(state), effects: [] };
  const turn = new RunTurn(asRequested(asked, context.now), context);
  const { tool, args, security_context_name, requested_by, trace, gate, by } = asked;
  turn.fact(runArgsFact, {
    ...{ run_id: context.key, tool, args, trace, security_context: security_context_name },
    requested_by: { sub: requested_by.sub, tenant_id: requested_by.tenant_id },
  });
  turn.audit("invoked", by, { retry_of: asked.retry_of, targets: asked.resolution.eligible + asked.resolution.queued });
  if (gate === null) {
    turn.tellSender({});
    beginNow(turn, asked.resolution, asked.holds);
    advance(turn);
  } else {
    const approval_id = context.newIdBeside(approvalProtocol);
    turn.change({ approval_id, ...(asked.of_call === true ? { claim: { until: null } } : {}) });
    const question = questionOf(turn, gate);
    turn.tell(approvalProtocol, approval_id, "open", question, { coCommit: true });
    const { prompt, timeout_ms } = question;
    turn.tellSender({ asked: { approval_id, prompt, expires_at: turn.now + timeout_ms } });
    turn.tellStarted();
    turn.tellStatus();
  }
  return turn.turn(startedOf(turn.state));
}

function asRequested(asked: Start, now: number): FleetRunState {
  const { tool, security_context_name, policy, requested_by, retry_of, approval_id, resolution } = asked;
  return {
    ...{ tool, security_context_name, policy, requested_by, retry_of, approval_id },
    ...{ created_at: now, started_at: null, ended_at: null },
    ...{ status: "awaiting_approval", reason: null, pause_reasons: [] },
    ...{ resolution: 0, ...resolution, targets: initialTargets(resolution.eligible, resolution.queued) },
    ...{ in_flight: 0, round: 0, wave: 0, waves: 0, to_open: 0, live: 0, canary: "none", wake_at: null },
    ...{ works: 0, handing: [], full: [], stopping: null, stops: [], unstopped: [], again_at: null },
    ...{ resolving: null, approved: approval_id !== null, pausing: [] },
    ...(asked.sender === undefined ? {} : { sender: asked.sender }),
  };
}

function questionOf(
  { context, state, now }: RunTurn,
  { prompt, forbid_initiator, initiator }: NonNullable<Start["gate"]>,
): Open {
  return {
    owner: ownerOf(fleetRunProtocol, context.key),
    kind: "fleet_run",
    execution_id: context.key,
    root_execution_id: context.key,
    ...{ workflow_id: null, workflow_name: null, state_name: null, visit: null },
    prompt,
    asked_at: now,
    timeout_ms: state.policy.approval_timeout_secs * 1000,
    default_response: null,
    reject_on_timeout: true,
    ...{ approvers: [], required_role: null, quorum: 1 },
    forbid_initiator,
    allow_agents: false,
    initiator,
    ...{ notify: [], remind_after_ms: null, escalate: null },
  };
}

/** People have decided. */
export function decided(turn: RunTurn, decision: ApprovalDecided): void {
  const { state } = turn;
  const { approval_id, status } = decision;
  if (state.status !== "awaiting_approval" || state.approved || state.approval_id !== approval_id) return;
  turn.tellSender({ decided: decidedOf(decision) });
  if (status !== "approved") {
    turn.end("cancelled", status === "timed_out" ? "approval_timed_out" : "approval_rejected");
    return;
  }
  turn.change({ approved: true });
  if (state.claim === undefined) begin(turn);
  else turn.awaitCall();
}

/** The call that the run is goes on; before people have approved it cannot. */
export function proceed(turn: RunTurn): void {
  if (!turn.isUnclaimed) return;
  turn.claimed();
  begin(turn);
}

/** Finds out whom the approved run means now. */
export function begin(turn: RunTurn): void {
  const works = turn.state.works + 1;
  const id = `${turn.context.key}:resolve:${works}`;
  turn.change({ works, resolving: id });
  turn.perform(resolve, {}, { id, then: "resolved" });
}

export function resolvedAnew(turn: RunTurn, outcome: Outcome<typeof resolve>): void {
  if (turn.state.resolving !== outcome.id) return;
  turn.change({ resolving: null });
  if (!outcome.ok) {
    turn.tryAgainLater();
    return;
  }
  const { holds, ...resolution } = outcome.value;
  turn.change({ resolution: 1 });
  beginNow(turn, resolution, holds);
}

function beginNow(turn: RunTurn, resolution: Resolution, holds: readonly Holding[]): void {
  const { eligible, queued } = resolution;
  turn.change({ ...resolution, targets: initialTargets(eligible, queued) });
  const { policy } = turn.state;
  const least = policy.require_min_targets;
  if (eligible + queued === 0) {
    refuse(turn, "EdgeUnavailable", "no_targets", "No host can be reached");
    return;
  }
  if (least !== null && eligible < least) {
    const message = `${eligible} of at least ${least} hosts can be reached`;
    refuse(turn, "RequireMinNotSatisfied", "min_targets_unmet", message);
    return;
  }
  turn.change({
    started_at: turn.now,
    status: holds.length === 0 ? "running" : "paused",
    pause_reasons: [...holds],
    ...beginningOf({ policy, eligible, queued }),
  });
  if (policy.run_deadline_secs !== null)
    turn.schedule("deadline", turn.now + policy.run_deadline_secs * 1000, "deadline", {});
  turn.tellStarted();
  if (holds.length > 0) turn.tellStatus();
}

/** The run is over before anything was sent. */
function refuse(
  turn: RunTurn,
  reason: "EdgeUnavailable" | "RequireMinNotSatisfied",
  code: EndReason,
  message: string,
): void {
  turn.tellStarted();
  turn.tellEvent({ type: "error", reason, code, message });
  turn.end("halted", code);
}
