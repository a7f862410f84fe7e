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

import { mayHaveHappened } from "../../kernel/activity.ts";
import { defineActor } from "../../kernel/actor.ts";
import { auditEntry } from "../../kernel/audit.ts";
import { tell } from "../../kernel/effect.ts";
import type { BodyOf } from "../../kernel/message.ts";
import { iso } from "../../kernel/time.ts";
import type { Context } from "../../kernel/turn.ts";
import { admissionId } from "./activities/admission.ts";
import { firstState } from "./blackboard/seed.ts";
import {
  unwantedAgent,
  unwantedCall,
  unwantedFleet,
  unwantedRun,
  unwantedVolumes,
} from "./children/cancel-unwanted.ts";
import { childWaiting } from "./children/child-waits.ts";
import { cancel, fail, stopCompensating, timeOut } from "./ending.ts";
import { admittedState, askAgain, askForAdmission, pendingState } from "./ends/continuing.ts";
import { beginAgain, leaveState, leaveWork } from "./entering.ts";
import { goOn, serve, tryAgain } from "./going-on.ts";
import { guarded } from "./guarded.ts";
import type { AnyKind, StateResult } from "./kind.ts";
import { kindOf } from "./kinds/registry.ts";
import { mapReceive, tellBatches } from "./map/receive.ts";
import { onStart, renewClock, waitsForRoom } from "./map/room.ts";
import { itemsFact } from "./map/rows.ts";
import {
  type CancelReply,
  type PauseReply,
  type StartReply,
  type WorkflowRunMessages,
  workflowRunProtocol,
} from "./messages.ts";
import { atEntry, placesOf } from "./places.ts";
import { listedMembers } from "./record/record.ts";
import { noteSeed } from "./record/seeding.ts";
import {
  agentOf,
  callOf,
  concernsBatch,
  concernsCall,
  concernsChild,
  concernsCommand,
  concernsHttp,
  concernsRun,
  concernsWebhook,
  subrunOf,
} from "./relevance.ts";
import { settle } from "./settling.ts";
import { addItem, answeredBefore, deliver, forgetItem, signalTooLate, takeBack, waitsFor } from "./signals/signals.ts";
import { begin, noteStart } from "./start/beginning.ts";
import { callTimer, DEADLINE, isCompensating, isOver, RunState, retryTimer, stateTimer } from "./state.ts";
import { timersOf } from "./timers.ts";
import { type Result, RunTurn, unchanged } from "./turn.ts";
import { commandUsed } from "./usage.ts";
import { migrate } from "./versions/migrating.ts";
import { concernsWatch, isTaking, take, waitsForStimulus } from "./watching.ts";
import type { Current } from "./work.ts";

type State = RunState | null;
type ItemSignal = BodyOf<WorkflowRunMessages["item_signalled"]>;

export const workflowRun = defineActor({
  ...workflowRunProtocol,
  state: RunState,
  listed: listedMembers,
  timers: timersOf,
  receive: {
    start(state, body, context) {
      if (state !== null) return unchanged(state, startReply(state, context));
      const run = new RunTurn(firstState(body, context), context);
      noteSeed(run, body);
      noteStart(run);
      begin(run);
      return run.turn(startReply(run.state, context));
    },

    follow(state, body, context) {
      if (state !== null) return unchanged(state);
      const run = new RunTurn(pendingState(body, context), context);
      noteStart(run);
      askForAdmission(run);
      return run.turn();
    },
    admitted(state, outcome, context) {
      if (state?.status !== "pending") {
        const stray = outcome.ok && state !== null ? unwantedVolumes(context.key, outcome.value.header) : [];
        return { state, effects: stray };
      }
      if (!outcome.ok) {
        if (outcome.id !== admissionId(context.key, state.admission_deaths)) return unchanged(state);
        const refused = new RunTurn(state, context);
        if (!mayHaveHappened(outcome) || !askAgain(refused)) fail(refused, outcome.code, outcome.message);
        return refused.turn();
      }
      const run = new RunTurn(admittedState(state, outcome.value, context), context);
      noteSeed(run, { definition: run.state.definition, overrides: {}, resume: null });
      begin(run);
      return run.turn();
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
          // It begins nothing more while it is paused (`resume`).
          else if (run.state.paused_at === null) beginAgain(run);
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
        (current) =>
          concernsChild(news.child_execution_id)(current) ||
          concernsRun(news.child_execution_id)(current) ||
          concernsBatch(news.child_execution_id)(current),
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
      return atWork(state, context, concernsChild(agentOf(outcome)), (kind, run) =>
        onStart(run, () => kind.agentStarted?.(run, outcome)),
      );
    },
    run_started(state, outcome, context) {
      const stray = unwantedRun(state, outcome);
      if (stray !== null) return { state, effects: stray };
      return atWork(state, context, concernsRun(subrunOf(outcome)), (kind, run) =>
        onStart(run, () => kind.runStarted?.(run, outcome)),
      );
    },

    ...mapReceive(within),

    // What becomes of the volumes never alters the run.
    cleaned_up: (state) => unchanged(state),

    stimulus_arrived(state, { entry, ...stimulus }, context) {
      const waits = (current: Current) =>
        current.entry === entry && waitsForStimulus(current) && (current.deadline_at ?? Infinity) > context.now;
      const turn = atWork(state, context, waits, (kind, run) => take(kind, run, stimulus, false));
      return { ...turn, reply: { taken: turn.effects.some(isTaking) } };
    },
    stimulus_found: (state, outcome, context) =>
      atWork(state, context, concernsWatch(context.key, outcome), (kind, run) => {
        if (!outcome.ok) kind.watchFailed?.(run, outcome);
        else if (outcome.value.stimulus !== null) take(kind, run, outcome.value.stimulus, true);
      }),
    stimulus_noted: (state) => unchanged(state),

    state_overdue: (state, { entry }, context) =>
      within(state, context, (run) => {
        atEntry(run, entry, ({ deadline_at, work }) => {
          if (deadline_at === null || work.of === "immediate") return;
          if (run.now < deadline_at) {
            run.schedule(stateTimer(entry), deadline_at, "state_overdue", { entry });
            return;
          }
          if (waitsForRoom(run)) return renewClock(run);
          guarded(run, () => {
            leaveWork(run, "state_timeout");
            settle(run, kindOf(run.definition.kind).overdue(run, run.definition));
          });
        });
      }),

    deadline: (state, _, context) =>
      within(state, context, (run) => {
        const { deadline_at } = run.state;
        if (deadline_at === null || isCompensating(run.state)) return;
        if (run.now < deadline_at) return run.schedule(DEADLINE, deadline_at, "deadline", {});
        leaveState(run, "timed_out");
        timeOut(run);
      }),

    signal(state, asked, context) {
      if (state === null) return unchanged(null, { outcome: "unknown" });
      const before = answeredBefore(state, asked) ?? (isOver(state) ? signalTooLate(state) : null);
      if (before !== null) return unchanged(state, before);
      const run = new RunTurn(state, context);
      const answer = deliver(run, asked, serve);
      goOn(run);
      return run.turn(answer);
    },
    item_waits: (state, item, context) => within(state, context, (run) => addItem(run, item)),
    item_left: (state, item, context) => within(state, context, (run) => forgetItem(run, item)),
    item_signalled: (state, signal, context) => itemSignalled(state, signal, context),
    signal_returned: (state, signal, context) => within(state, context, (run) => takeBack(run, signal, serve)),

    cancel(state, { reason, compensate }, context) {
      if (state === null) return unchanged(null, { outcome: "unknown" });
      const isGivenUp = compensate === false;
      if (isOver(state) || (isCompensating(state) && !isGivenUp)) return unchanged(state, cancelReply(state));
      const run = new RunTurn(state, context);
      leaveState(run, "cancelled");
      if (isCompensating(state)) stopCompensating(run, "given up");
      else cancel(run, reason, compensate);
      goOn(run);
      return run.turn(cancelReply(run.state));
    },

    pause(state, _, context) {
      const refusal = pauseRefusal(state);
      if (state === null || refusal !== null) return unchanged(state, refusal ?? { outcome: "unknown" });
      if (state.paused_at !== null) return unchanged(state, done);
      const run = new RunTurn(state, context);
      run.change({ paused_at: run.now });
      tellBatches(run, "pause");
      run.emit("WorkflowExecutionPaused", { message: "The run was paused", details: { paused_at: run.at } });
      return run.turn(done);
    },

    resume(state, _, context) {
      const refusal = pauseRefusal(state);
      if (state === null || refusal !== null) return unchanged(state, refusal ?? { outcome: "unknown" });
      if (state.paused_at === null) return unchanged(state, done);
      const run = new RunTurn(state, context);
      run.change({ paused_at: null });
      tellBatches(run, "resume");
      run.emit("WorkflowExecutionResumed", { message: "The run goes on", details: { resumed_at: run.at } });
      tryAgain(run);
      goOn(run);
      return run.turn(done);
    },

    migrate(state, body, context) {
      if (state === null) return unchanged(null, { outcome: "unknown" });
      const run = new RunTurn(state, context);
      const reply = migrate(run, body);
      return run.turn(reply);
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
        cancel(run, "deleted", false);
      }
      const states = Object.values(state.definition.states);
      if (states.some(({ kind }) => kind === "Map")) run.fact(itemsFact, { of: "gone", run_id: run.id });
      return run.end({ outcome: "erased" });
    },
  },
});

/** One step of a run that is not over, and what comes next; after the end nothing changes any more. */
function within(state: State, context: Context, step: (run: RunTurn) => void): Result<never> {
  if (state === null || isOver(state)) return unchanged(state);
  const run = new RunTurn(state, context);
  step(run);
  goOn(run);
  return run.turn();
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

/** The signal that an item waits for; it goes back to the run where the item waits no more. */
function itemSignalled(state: State, { run_id, entry, name, ...signal }: ItemSignal, context: Context): Result<never> {
  const waits = (current: Current): boolean => current.entry === entry && waitsFor(current, name, context.now);
  if (placesOf(state?.current ?? null).some(({ current }) => waits(current))) {
    return atWork(state, context, waits, (_, run) => serve(run, signal));
  }
  const back = tell(workflowRunProtocol, run_id, "signal_returned", { name, ...signal }, { coCommit: true });
  return { state, effects: [back] };
}

const done: PauseReply = { outcome: "done" };

function pauseRefusal(state: State): PauseReply | null {
  if (state === null) return { outcome: "unknown" };
  return isOver(state) ? { outcome: "already_terminal", status: state.status } : null;
}

function startReply({ started_at }: RunState, { key }: Context): StartReply {
  return { accepted: true, execution_id: key, status: "running", started_at: iso(started_at) };
}

function cancelReply(state: RunState): CancelReply {
  const status = isCompensating(state) ? state.compensation?.end.status : state.status;
  return status === "cancelled" || status === undefined
    ? { outcome: "cancelled" }
    : { outcome: "already_terminal", status };
}
