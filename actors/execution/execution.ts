/**
 * The life of an execution.
 *
 *   ─start─▶ pending ─picked_up─▶ running ─┬─▶ completed
 *               │                          ├─▶ failed
 *               └── start_timeout, cancel ─┼─▶ cancelled
 *                                          └─▶ timed_out
 *
 * It is worked at in iterations (`iteration/iteration.ts`), each in a sandbox instance of its own, whose
 * bootstrap talks with the model through a loop (`loop/gateway.ts`, `loop/loop.ts`, `loop/tool-calls.ts`). Once it
 * has ended (`ending.ts`) it only answers questions.
 */

import { defineActor } from "../kernel/actor.ts";
import { auditEntry } from "../kernel/audit.ts";
import { iso } from "../kernel/time.ts";
import type { Context } from "../kernel/turn.ts";
import { workspaceRemove } from "./activities.ts";
import { begin, firstState } from "./beginning.ts";
import { adoptChild, childEnded, childrenOutlive, childStarted, type Ended, unwanted } from "./children.ts";
import { noteCommandOutput, noteConsole } from "./console.ts";
import { deadlineTimers, endWatch, iterationTimer, keepDeadline } from "./deadlines.ts";
import { cancel, failUnapproved, timeOut } from "./ending.ts";
import {
  instancePickedUp,
  instanceSpawned,
  iterationTimedOut,
  noteEgressBlocked,
  notePull,
  runId,
  runInstance,
} from "./iteration/instance.ts";
import {
  bootstrapSilent,
  faultInFlight,
  instanceEnded,
  outputJudged,
  outputJudgesOverdue,
  validated,
} from "./iteration/iteration.ts";
import { validateId } from "./judging/validation.ts";
import { dispatchDelayed, dispatchRefused, dispatchResult, generate } from "./loop/gateway.ts";
import {
  onApprovalDecided,
  onCallCleared,
  onCallGathered,
  onModelOutcome,
  onToolJudgeEnded,
  onToolJudgesOverdue,
  onToolOutcome,
} from "./loop/loop.ts";
import { judgeCall, outsideJudgeEnded, outsideJudgesOverdue } from "./loop/outside-calls.ts";
import { watchDispatch } from "./loop/tool-calls.ts";
import { noteOutsideCall } from "./loop/waiting/asked-outside.ts";
import { noteUnused } from "./loop/waiting/waiting.ts";
import { type CancelReply, executionProtocol, type PickedUpReply, type StartReply } from "./messages.ts";
import { forgetDeliveries } from "./output/delivery.ts";
import { handleId, recallId } from "./output/handling.ts";
import { handlerEnded, handlerOverdue, outputHandled, outputRecalled } from "./output/output-handler.ts";
import { contextLog, planLog } from "./start/plan.ts";
import { ExecutionState, isOver, listedMembers } from "./state.ts";
import { completeState } from "./stored-state.ts";
import { forgetSwarm, joinSwarm } from "./swarm.ts";
import type { Result } from "./turn.ts";
import { ExecutionTurn, unchanged } from "./turn.ts";
import { modelCallUsed, noteParked } from "./usage.ts";

type State = ExecutionState | null;

/** A timer that fires this long after its time was held up by an outage. */
const lateTimerMs = 10_000;

export const execution = defineActor({
  ...executionProtocol,
  state: ExecutionState,
  upgrade: completeState,
  listed: listedMembers,
  timers: deadlineTimers,
  receive: {
    start(state, { header, plan }, context) {
      if (state !== null) return unchanged(state, startReply(state, context));
      const turn = new ExecutionTurn(firstState(header, plan, context), context);
      turn.append(planLog, plan);
      joinSwarm(turn);
      runInstance(turn, null);
      return turn.turn(startReply(turn.state, context));
    },

    picked_up(state, { instance_id, runtime, warnings }, context) {
      if (state === null || !isCurrent(state, instance_id)) return unchanged(state, { proceed: false });
      if (state.iteration.phase === "running") return unchanged(state, pickedUpReply(state));
      const turn = new ExecutionTurn(state, context);
      if (turn.state.status === "pending") begin(turn);
      turn.state.header.runtime = runtime;
      for (const { code, message } of warnings) turn.warnOnce(code, message);
      instancePickedUp(turn);
      return turn.turn(pickedUpReply(turn.state));
    },

    context_loaded(state, { text, warnings }, context) {
      if (state === null || isOver(state)) return unchanged(state, { kept: false });
      if (state.context_kept) return unchanged(state, { kept: true });
      const turn = new ExecutionTurn(state, context);
      turn.append(contextLog, { text });
      for (const { code, message } of warnings) turn.warnOnce(code, message);
      turn.state.context_kept = true;
      return turn.turn({ kept: true });
    },

    instance_spawned(state, { instance_id }, context) {
      if (state === null || !isRunning(state, instance_id) || state.iteration.spawned) return unchanged(state);
      const turn = new ExecutionTurn(state, context);
      instanceSpawned(turn);
      return turn.turn();
    },

    instance_parked(state, { instance_id, stands, at }, context) {
      if (state === null || !isRunning(state, instance_id)) return unchanged(state);
      return within(state, context, (turn) => noteParked(turn, stands, at));
    },

    image_pull(state, { instance_id, news }, context) {
      if (state === null || !isRunning(state, instance_id)) return unchanged(state);
      const turn = new ExecutionTurn(state, context);
      notePull(turn, news);
      return turn.turn();
    },

    egress_blocked(state, blocked, context) {
      if (state === null || state.iteration.instance_id !== blocked.instance_id) return unchanged(state);
      return within(state, context, (turn) => noteEgressBlocked(turn, blocked));
    },

    console(state, chunk, context) {
      if (state === null || !isRunning(state, chunk.instance_id)) return unchanged(state);
      const turn = new ExecutionTurn(state, context);
      noteConsole(turn, chunk);
      return turn.turn();
    },

    judge_call: judgeCall,
    generate,
    dispatch_refused: dispatchRefused,
    dispatch_delayed: dispatchDelayed,
    dispatch_result: (state, message, context) => dispatchResult(state, message, context, timeUp),

    command_output(state, { instance_id, dispatch_id, chunks }, context) {
      const isOurs = state !== null && (instance_id === null || isRunning(state, instance_id));
      if (!isOurs || isOver(state)) return unchanged(state);
      const turn = new ExecutionTurn(state, context);
      const call = turn.iteration.loop?.calls.find((one) => one.dispatch_id === dispatch_id);
      if (call === undefined) return unchanged(state);
      for (const chunk of chunks) noteCommandOutput(turn, call, chunk);
      return turn.turn();
    },

    instance_ended(state, outcome, context) {
      if (state === null || outcome.id !== runId(state.iteration.instance_id)) return unchanged(state);
      if (!isCurrent(state, state.iteration.instance_id)) return unchanged(state);
      return within(state, context, (turn) => {
        instanceEnded(turn, outcome);
        endWatch(turn);
      });
    },

    validated(state, outcome, context) {
      const awaited = state?.iteration.phase === "validating" && outcome.id === validateId(state.iteration);
      if (state === null || !awaited) return unchanged(state);
      return within(state, context, (turn) => validated(turn, outcome));
    },

    model_outcome(state, outcome, context) {
      const used = outcome.ok ? modelCallUsed(state, outcome.id, outcome.value) : [];
      if (state?.iteration.loop?.model_call !== outcome.id) return { state, effects: used };
      return within(state, context, (turn) => {
        const { loop } = turn.iteration;
        turn.push(...used);
        if (loop !== null) onModelOutcome(turn, loop, outcome);
      });
    },

    tool_outcome(state, outcome, context) {
      return within(state, context, (turn) => {
        const { loop } = turn.iteration;
        const call = loop?.calls.find(({ activity, started_at }) => activity === outcome.id && started_at !== null);
        if (loop !== null && call !== undefined && call.command === null) onToolOutcome(turn, loop, call, outcome);
      });
    },

    call_gathered: (state, outcome, context) => within(state, context, (turn) => onCallGathered(turn, outcome)),
    call_cleared: (state, outcome, context) => within(state, context, (turn) => onCallCleared(turn, outcome)),

    approval_decided(state, decision, context) {
      if (state === null) return unchanged(state);
      const turn = new ExecutionTurn(state, context);
      // Of an execution that is over the decision stays on record, with no call that was run.
      if (isOver(state)) noteUnused(turn, decision);
      else if (onApprovalDecided(turn, decision) === "fails") failUnapproved(turn);
      return turn.turn();
    },

    asked_outside: (state, news, context) =>
      within(state, context, (turn) => {
        if (turn.state.status === "running" && noteOutsideCall(turn, news) === "fails") failUnapproved(turn);
      }),

    // An execution has no clock that a child's calls stop: the judges it waits for have a time of their own.
    child_waiting: (state) => unchanged(state),

    child_started(state, outcome, context) {
      if (state === null || isOver(state)) {
        const goesOn = state !== null && childrenOutlive(state);
        return { state, effects: goesOn ? [] : unwanted(outcome) };
      }
      return within(state, context, (turn) => childOver(turn, childStarted(turn, outcome)));
    },

    child_ended(state, end, context) {
      return within(state, context, (turn) => childOver(turn, childEnded(turn, end)));
    },

    adopt_child(state, { execution_id: childId, agent_id: agentId }, context) {
      // Members of a swarm go on without their parent.
      if (state === null || isOver(state)) {
        const goesOn = state !== null && childrenOutlive(state);
        return unchanged(state, { outcome: goesOn ? "adopted" : "over" });
      }
      const turn = new ExecutionTurn(state, context);
      const outcome = adoptChild(turn, childId, agentId);
      return turn.turn({ outcome });
    },

    panel_overdue(state, { panel_id }, context) {
      return within(state, context, (turn) => {
        outputJudgesOverdue(turn, panel_id);
        onToolJudgesOverdue(turn, panel_id);
        outsideJudgesOverdue(turn, panel_id);
      });
    },

    output_handled(state, outcome, context) {
      if (outcome.id !== handleId(context.key)) return unchanged(state);
      return within(state, context, (turn) => outputHandled(turn, outcome));
    },

    output_recalled(state, outcome, context) {
      if (outcome.id !== recallId(context.key)) return unchanged(state);
      return within(state, context, (turn) => outputRecalled(turn, outcome));
    },

    handler_overdue: (state, _, context) => within(state, context, handlerOverdue),

    // Deliveries never alter the execution, failed ones neither.
    delivery_ended: (state) => unchanged(state),
    workspace_removed: (state) => unchanged(state),

    deadline(state, _, context) {
      if (state?.status !== "running" || state.deadline_at === null) return unchanged(state);
      const { deadline_at } = state;
      return within(state, context, (turn) => {
        if (context.now < deadline_at) keepDeadline(turn, deadline_at);
        else timeOut(turn);
      });
    },

    iteration_deadline(state, { instance_id }, context) {
      if (state === null || !isRunning(state, instance_id)) return unchanged(state);
      const { deadline_at } = state.iteration;
      if (deadline_at === null || state.header.inline === true) return unchanged(state);
      return within(state, context, (turn) => {
        if (context.now < deadline_at) {
          return turn.schedule(iterationTimer(instance_id), deadline_at, "iteration_deadline", { instance_id });
        }
        const message = iterationTimedOut(state.header.iteration_timeout_ms);
        faultInFlight(turn, { code: "iteration_timeout", message });
      });
    },

    dispatch_lost(state, { dispatch_id, due_at }, context) {
      const waiting = state?.iteration.loop?.calls.some((call) => call.dispatch_id === dispatch_id) ?? false;
      if (!waiting) return unchanged(state);
      return within(state, context, (turn) => {
        // A timer this late fired after an outage, in which the bootstrap could report nothing either.
        if (context.now - (due_at ?? context.now) < lateTimerMs) bootstrapSilent(turn);
        else watchDispatch(turn, dispatch_id, context.now + turn.state.header.bounds.dispatch_grace_ms);
      });
    },

    cancel(state, { reason }, context) {
      if (state === null) return unchanged(null, { outcome: "unknown" });
      if (isOver(state)) return unchanged(state, cancelReply(state, context));
      const turn = new ExecutionTurn(state, context);
      cancel(turn, reason);
      return turn.turn(cancelReply(turn.state, context));
    },

    erase(state, { by }, context) {
      if (state === null) return unchanged(null, { outcome: "unknown" });
      const turn = new ExecutionTurn(state, context);
      if (by !== undefined) {
        const { agent_id, agent_name } = state.header;
        const target = { type: "execution", id: context.key };
        const details = { agent_id, agent_name, status: state.status };
        turn.fact(auditEntry, { by, action: "execution.deleted", target, details });
      }
      forgetDeliveries(turn);
      if (!isOver(state)) cancel(turn, "deleted");
      forgetSwarm(turn);
      // Without a person who asks it is the end of its retention: who asks then has taken away what it left.
      const isRetention = by === undefined && isOver(state);
      if (state.header.inline !== true && !isRetention) {
        const input = { execution_id: context.key, instance_id: state.iteration.instance_id };
        turn.perform(workspaceRemove, input, { id: `workspace:${context.key}`, then: "workspace_removed" });
      }
      return turn.end({ outcome: "erased" });
    },
  },
});

/** Runs one step of a running execution; what comes after the end is ignored. */
function within(state: State, context: Context, step: (turn: ExecutionTurn) => void): Result<never> {
  if (state === null || isOver(state)) return unchanged(state);
  const turn = new ExecutionTurn(state, context);
  step(turn);
  return turn.turn();
}

/** A command was cut off because there was no more time: so ends what had no more. */
function timeUp(turn: ExecutionTurn, of: "execution" | "iteration"): void {
  if (of === "execution") timeOut(turn);
  else {
    const message = iterationTimedOut(turn.state.header.iteration_timeout_ms);
    faultInFlight(turn, { code: "iteration_timeout", message });
  }
}

/** Passes a child's end to the part that waits for it. */
function childOver(turn: ExecutionTurn, ended: Ended | null): void {
  if (ended?.child.role === "validator") outputJudged(turn, ended);
  if (ended?.child.role === "tool_judge") for (const take of [onToolJudgeEnded, outsideJudgeEnded]) take(turn, ended);
  if (ended?.child.role === "output_handler") handlerEnded(turn, ended);
}

/** Whether the instance is the one the execution waits for or works with. */
function isCurrent(state: ExecutionState, instanceId: string): boolean {
  const { phase, instance_id } = state.iteration;
  return !isOver(state) && instance_id === instanceId && (phase === "waiting" || phase === "running");
}
function isRunning(state: ExecutionState, instanceId: string): boolean {
  return isCurrent(state, instanceId) && state.iteration.phase === "running";
}

function startReply(state: ExecutionState, context: Context): StartReply {
  return { accepted: true, execution_id: context.key, status: "pending", created_at: iso(state.created_at) };
}

function pickedUpReply({ header, iteration, deadline_at }: ExecutionState): PickedUpReply {
  const { number, attempt, console } = iteration;
  const inline = { header, iteration_deadline_at: iteration.deadline_at };
  return {
    proceed: true,
    iteration: number,
    attempt,
    deadline_at: deadline_at ?? 0,
    console: { stdout: console.stdout, stderr: console.stderr },
    ...(header.inline === true ? { inline } : {}),
  };
}

function cancelReply({ status, ending }: ExecutionState, context: Context): CancelReply {
  if (status !== "cancelled" || ending === null) return { outcome: "already_terminal", status };
  const { reason, at } = ending;
  return { outcome: "cancelled", execution_id: context.key, reason, cancelled_at: iso(at) };
}
