/**
 * The life of a workflow run.
 *
 *   ─start─▶ running ─┬─▶ completed     no rule takes a good result, or the state is terminal
 *             │   ▲   ├─▶ failed        a bad result without a transition; a limit
 *             └───┘   ├─▶ cancelled     from outside
 *          next state └─▶ timed_out     the run's own deadline
 *
 * A run is at one state at a time. Entering it (`entering.ts`) begins its work, which is its kind's matter (`kinds/`);
 * news of that work comes back as messages, and once the kind has the result it settles it (`settling.ts`): the result
 * goes on the blackboard, the rules are asked, and the next state is entered in the same turn, or the run ends
 * (`ending.ts`). A paused run stays between two states. News of work that is no longer at hand changes nothing.
 */

import { defineActor } from "../../kernel/actor.ts";
import { auditEntry } from "../../kernel/audit.ts";
import { schedule } from "../../kernel/effect.ts";
import { iso } from "../../kernel/time.ts";
import type { Context } from "../../kernel/turn.ts";
import { firstState } from "./blackboard/seed.ts";
import { maxBlackboardBytes } from "./blackboard/size.ts";
import { unwantedAgent, unwantedCall, unwantedFleet, unwantedRun } from "./cancel-unwanted.ts";
import { childWaiting } from "./child-waits.ts";
import { cancel, fail, timeOut } from "./ending.ts";
import { beginAgain, enter, leaveState, leaveWork } from "./entering.ts";
import type { AnyKind, StateResult } from "./kind.ts";
import { faultOf } from "./kind.ts";
import { kindOf } from "./kinds/registry.ts";
import { type CancelReply, type PauseReply, type StartReply, workflowRunProtocol } from "./messages.ts";
import { listedMembers } from "./record/record.ts";
import {
  agentOf,
  callOf,
  concernsCall,
  concernsChild,
  concernsCommand,
  concernsHttp,
  concernsRun,
  concernsWebhook,
  subrunOf,
} from "./relevance.ts";
import { settle, tooLarge } from "./settling.ts";
import { callTimer, DEADLINE, isOver, RunState, retryTimer, stateTimer } from "./state.ts";
import { type Result, RunTurn, unchanged } from "./turn.ts";
import { commandUsed } from "./usage.ts";
import { type Current, linesOf } from "./work.ts";

type State = RunState | null;

export const workflowRun = defineActor({
  ...workflowRunProtocol,
  state: RunState,
  listed: listedMembers,
  timers: timersOf,
  receive: {
    start(state, body, context) {
      if (state !== null) return unchanged(state, startReply(state, context));
      const run = new RunTurn(firstState(body, context), context);
      begin(run);
      return run.turn(startReply(run.state, context));
    },

    advance: (state, { entry }, context) =>
      within(state, context, (run) => {
        atEntry(run, entry, ({ work }) => {
          if (work.of === "immediate") guarded(run, () => settle(run, work.result as StateResult));
        });
      }),
    retry_due: (state, { entry }, context) =>
      within(state, context, (run) => {
        atEntry(run, entry, ({ work }) => {
          if (work.of !== "backoff") return;
          if (run.now < work.until) run.schedule(retryTimer(entry), work.until, "retry_due", { entry });
          else beginAgain(run);
        });
      }),

    call_due: (state, { entry }, context) =>
      within(state, context, (run) => {
        atEntry(run, entry, ({ work }) => {
          const due = "again_at" in work ? work.again_at : null;
          if (due === null) return;
          if (run.now < due) run.schedule(callTimer(entry), due, "call_due", { entry });
          else guarded(run, () => kindOf(run.definition.kind).callDue?.(run));
        });
      }),

    command_ended(state, outcome, context) {
      const used = commandUsed(state?.header.workflow_name ?? null, outcome);
      const turn = atWork(state, context, concernsCommand(outcome), (kind, run) => kind.commandEnded?.(run, outcome));
      return { ...turn, effects: [...used, ...turn.effects] };
    },
    webhook_answered: (state, outcome, context) =>
      atWork(state, context, concernsWebhook(context.key, outcome), (kind, run) =>
        kind.webhookAnswered?.(run, outcome),
      ),
    http_answered: (state, outcome, context) =>
      atWork(state, context, concernsHttp(outcome), (kind, run) => kind.httpAnswered?.(run, outcome)),
    tool_called: (state, outcome, context) =>
      atWork(state, context, concernsCall(callOf(outcome)), (kind, run) => kind.toolCalled?.(run, outcome)),
    tool_waiting(state, news, context) {
      const stray = unwantedCall(state, news);
      if (stray !== null) return { state, effects: stray };
      return atWork(state, context, concernsCall(news.invocation_id), (kind, run) => kind.toolWaiting?.(run, news));
    },
    tool_ended: (state, news, context) =>
      atWork(state, context, concernsCall(news.invocation_id), (kind, run) => kind.toolEnded?.(run, news)),
    fleet_waiting(state, news, context) {
      const stray = unwantedFleet(state, news);
      if (stray !== null) return { state, effects: stray };
      return atWork(state, context, concernsCall(news.invocation_id), (kind, run) => kind.fleetWaiting?.(run, news));
    },
    fleet_ended: (state, news, context) =>
      atWork(state, context, concernsCall(news.invocation_id), (kind, run) => kind.fleetEnded?.(run, news)),
    fleet_read: (state, outcome, context) =>
      atWork(state, context, concernsCall(callOf(outcome)), (kind, run) => kind.fleetRead?.(run, outcome)),
    child_ended: (state, end, context) =>
      atWork(state, context, concernsChild(end.child_execution_id), (kind, run) => kind.childEnded?.(run, end)),
    child_waiting: (state, news, context) =>
      atWork(
        state,
        context,
        (current) => concernsChild(news.child_execution_id)(current) || concernsRun(news.child_execution_id)(current),
        (_, run) => childWaiting(run, news),
      ),
    run_ended: (state, end, context) =>
      atWork(state, context, concernsRun(end.child_execution_id), (kind, run) => kind.runEnded?.(run, end)),
    approval_decided: (state, decision, context) =>
      atWork(
        state,
        context,
        ({ work }) => work.of === "human" && work.approval_id === decision.approval_id,
        (kind, run) => kind.decided?.(run, decision),
      ),

    agent_started(state, outcome, context) {
      const stray = unwantedAgent(state, outcome);
      if (stray !== null) return { state, effects: stray };
      return atWork(state, context, concernsChild(agentOf(outcome)), (kind, run) => kind.agentStarted?.(run, outcome));
    },
    run_started(state, outcome, context) {
      const stray = unwantedRun(state, outcome);
      if (stray !== null) return { state, effects: stray };
      return atWork(state, context, concernsRun(subrunOf(outcome)), (kind, run) => kind.runStarted?.(run, outcome));
    },

    // What becomes of the volumes never alters the run.
    cleaned_up: (state) => unchanged(state),

    state_overdue: (state, { entry }, context) =>
      within(state, context, (run) => {
        atEntry(run, entry, ({ deadline_at, work }) => {
          if (deadline_at === null || work.of === "immediate") return;
          if (run.now < deadline_at) {
            run.schedule(stateTimer(entry), deadline_at, "state_overdue", { entry });
            return;
          }
          guarded(run, () => {
            leaveWork(run, "state_timeout");
            settle(run, kindOf(run.definition.kind).overdue(run, run.definition));
          });
        });
      }),

    deadline: (state, _, context) =>
      within(state, context, (run) => {
        const { deadline_at } = run.state;
        if (deadline_at === null) return;
        if (run.now < deadline_at) return run.schedule(DEADLINE, deadline_at, "deadline", {});
        leaveState(run, "timed_out");
        timeOut(run);
      }),

    cancel(state, { reason }, context) {
      if (state === null) return unchanged(null, { outcome: "unknown" });
      if (isOver(state)) return unchanged(state, cancelReply(state));
      const run = new RunTurn(state, context);
      leaveState(run, "cancelled");
      cancel(run, reason);
      return run.turn(cancelReply(run.state));
    },

    pause(state, _, context) {
      const refusal = pauseRefusal(state);
      if (state === null || refusal !== null) return unchanged(state, refusal ?? { outcome: "unknown" });
      if (state.paused_at !== null) return unchanged(state, done);
      const run = new RunTurn(state, context);
      run.change({ paused_at: run.now });
      run.emit("WorkflowExecutionPaused", { message: "The run was paused", details: { paused_at: run.at } });
      return run.turn(done);
    },

    resume(state, _, context) {
      const refusal = pauseRefusal(state);
      if (state === null || refusal !== null) return unchanged(state, refusal ?? { outcome: "unknown" });
      if (state.paused_at === null) return unchanged(state, done);
      const run = new RunTurn(state, context);
      run.change({ paused_at: null });
      run.emit("WorkflowExecutionResumed", { message: "The run goes on", details: { resumed_at: run.at } });
      goOn(run);
      return run.turn(done);
    },

    erase(state, { by }, context) {
      if (state === null) return unchanged(null, { outcome: "unknown" });
      const run = new RunTurn(state, context);
      if (by !== undefined) {
        const { workflow_id, workflow_name } = state.header;
        const target = { type: "workflow_execution", id: context.key };
        const details = { workflow_id, workflow_name, status: state.status };
        run.fact(auditEntry, { by, action: "execution.deleted", target, details });
      }
      if (!isOver(state)) {
        leaveState(run, "deleted");
        cancel(run, "deleted");
      }
      return run.end({ outcome: "erased" });
    },
  },
});

/** For the whole run and for the state at work, where they have a deadline. */
function timersOf(state: RunState) {
  const { deadline_at, current } = state;
  if (isOver(state)) return [];
  const whole = deadline_at === null ? [] : [schedule(DEADLINE, deadline_at, "deadline", {})];
  return [
    ...whole,
    ...placesOf(current)
      .flatMap(({ current }) => [timerAt(current), callAt(current)])
      .filter((one) => one !== null),
  ];
}

function timerAt({ entry, deadline_at, work }: Current) {
  if (work.of === "backoff") return schedule(retryTimer(entry), work.until, "retry_due", { entry });
  if (deadline_at === null || work.of === "immediate") return null;
  return schedule(stateTimer(entry), deadline_at, "state_overdue", { entry });
}

/** Of a call that is tried again. */
function callAt({ entry, work }: Current) {
  const due = "again_at" in work ? work.again_at : null;
  return due === null ? null : schedule(callTimer(entry), due, "call_due", { entry });
}

function begin(run: RunTurn): void {
  const { header, deadline_at, blackboard_bytes } = run.state;
  run.emit("WorkflowExecutionStarted", {
    message: `${header.workflow_name} ${header.workflow_version} began`,
    details: { workflow_id: header.workflow_id, started_at: run.at },
  });
  if (deadline_at !== null) run.schedule(DEADLINE, deadline_at, "deadline", {});
  if (blackboard_bytes > maxBlackboardBytes) fail(run, "blackboard_too_large", tooLarge);
  goOn(run);
}

/**
 * Enters the states that come next, in the main line and in all others, unless the run is paused; and tells the state
 * that goes several ways of lines that have come to their end.
 */
function goOn(run: RunTurn): void {
  for (let isMoving = true; isMoving && !isOver(run.state); ) {
    isMoving = enterNext(run, null);
    for (const { name } of linesOf(run.state.current)) isMoving = enterNext(run, name) || isMoving;
    isMoving = closeLines(run) || isMoving;
  }
}

function enterNext(run: RunTurn, line: string | null): boolean {
  if (run.state.paused_at !== null) return false;
  return run.inLine(line, () => {
    const next = line === null ? run.state.next : (run.line?.next ?? null);
    if (next === null) return false;
    enter(run, next.target, next.feedback);
    return true;
  });
}

/** Whether a state took notice of lines that had ended. */
function closeLines(run: RunTurn): boolean {
  const { current } = run.state;
  if (!linesOf(current).some(({ end }) => end !== null)) return false;
  guarded(run, () => kindOf(run.definition.kind).linesEnded?.(run));
  return run.state.current !== current;
}

/** One step of a run that is not over, and what comes next; after the end nothing changes any more. */
function within(state: State, context: Context, step: (run: RunTurn) => void): Result<never> {
  if (state === null || isOver(state)) return unchanged(state);
  const run = new RunTurn(state, context);
  step(run);
  goOn(run);
  return run.turn();
}

/** Where a run is at work: in its main line and in each of its others. */
function placesOf(current: Current | null): readonly { readonly line: string | null; readonly current: Current }[] {
  if (current === null) return [];
  const lines = linesOf(current).flatMap(({ name, current }) => (current === null ? [] : [{ line: name, current }]));
  return [...lines, { line: null, current }];
}

/** Takes a step at this entry, with its line in focus; nothing where it is over. */
function atEntry(run: RunTurn, entry: number, step: (current: Current) => void): void {
  const place = placesOf(run.state.current).find(({ current }) => current.entry === entry);
  if (place !== undefined) run.inLine(place.line, () => step(place.current));
}

/** News of the work at hand, for its kind, in the line that it concerns. What the kind cannot cope with is the state's failure. */
function atWork(
  state: State,
  context: Context,
  concerns: (current: Current) => boolean,
  handle: (kind: AnyKind, run: RunTurn) => void,
): Result<never> {
  const place = placesOf(state?.current ?? null).find(({ current }) => !isIdle(current) && concerns(current));
  if (place === undefined) return unchanged(state);
  return within(state, context, (run) =>
    run.inLine(place.line, () => guarded(run, () => handle(kindOf(run.definition.kind), run))),
  );
}

const isIdle = ({ work }: Current): boolean => work.of === "immediate" || work.of === "backoff";

function guarded(run: RunTurn, step: () => void): void {
  try {
    run.attempt(step);
  } catch (error) {
    const result = faultOf(error);
    if (result === null) throw error;
    leaveWork(run, "state_failed");
    settle(run, result);
  }
}

const done: PauseReply = { outcome: "done" };

function pauseRefusal(state: State): PauseReply | null {
  if (state === null) return { outcome: "unknown" };
  return isOver(state) ? { outcome: "already_terminal", status: state.status } : null;
}

function startReply({ started_at }: RunState, { key }: Context): StartReply {
  return { accepted: true, execution_id: key, status: "running", started_at: iso(started_at) };
}

function cancelReply({ status }: RunState): CancelReply {
  return status === "cancelled" ? { outcome: "cancelled" } : { outcome: "already_terminal", status };
}
