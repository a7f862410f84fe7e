/** Entering and leaving states: the limits, what the blackboard says of the state at work, its time, its work. */
import type { Json } from "../../kernel/json.ts";
import type { State } from "../definition.ts";
import { endCompensated, fail } from "./ending.ts";
import { isFull, undoneNow } from "./ends/compensation.ts";
import { faultOf, immediately } from "./kind.ts";
import { kindOf } from "./kinds/registry.ts";
import { leaveLines } from "./lines.ts";
import { tooLarge } from "./settling.ts";
import { isCompensating, retryTimer, stateTimer } from "./state.ts";
import type { RunTurn } from "./turn.ts";

/**
 * Enters a state, or ends the run when a limit forbids it (docs/reference/workflows.md).
 *
 * @param feedback for `state.feedback`; null clears it
 */
export function enter(run: RunTurn, target: string, feedback: string | null): void {
  const { definition, visits, transition_count, header } = run.state;
  run.move({ next: null });
  const state = run.stateNamed(target);
  const visit = (Object.hasOwn(visits, target) ? (visits[target] ?? 0) : 0) + 1;
  if (state === undefined) fail(run, "unknown_state", `There is no state ${target}`);
  // Of several ways that a compensation goes.
  else if (isCompensating(run.state)) enterUndoing(run, target, state, { feedback });
  // Items are visits of their Map, which has been counted.
  else if (header.batch !== undefined) reach(run, target, header.batch.visit, state, feedback);
  else if (visit > state.max_state_visits) failByVisits(run, target, state.max_state_visits, visit);
  else if (transition_count >= definition.max_total_transitions) {
    fail(run, "transition_limit", `More than ${definition.max_total_transitions} states would be entered`, true);
  } else {
    reach(run, target, visit, state, feedback);
  }
}

/**
 * Enters the state that undoes the newest visit which is not undone yet; after the last one the run ends. Such entries
 * count neither as visits nor as transitions of the run.
 * @returns whether anything was done
 */
export function undoNext(run: RunTurn): boolean {
  const { compensation, current, paused_at, definition } = run.state;
  if (compensation === undefined || !isCompensating(run.state) || current !== null) return false;
  const [next] = compensation.remaining;
  if (next === undefined) {
    endCompensated(run);
    return true;
  }
  if (paused_at !== null) return false;
  const { name, visit, by } = next;
  const { result } = undoneNow(run.state);
  run.emit("WorkflowCompensationStarted", {
    message: `${by} undoes visit ${visit} of ${name}`,
    state_name: by,
    details: { state_name: by, of_state: name, of_visit: visit },
  });
  const state = Object.hasOwn(definition.states, by) ? definition.states[by] : undefined;
  if (state === undefined) fail(run, "unknown_state", `There is no state ${by}`);
  else enterUndoing(run, by, state, { feedback: null, of: { name, visit, result } });
  return true;
}

function enterUndoing(run: RunTurn, name: string, state: State, seen: { feedback: string | null; of?: Json }): void {
  const { compensation } = run.state;
  if (compensation === undefined) return;
  const before = Object.hasOwn(compensation.visits, name) ? (compensation.visits[name] ?? 0) : 0;
  const visit = before + 1;
  run.change({ compensation: { ...compensation, visits: { ...compensation.visits, [name]: visit } } });
  // Several ways may lead in a circle: each compensation has the visits that a run has.
  const rounds = run.focus === null ? 0 : (compensation.visits[run.state.current?.name ?? ""] ?? 1);
  if (run.focus !== null && visit > rounds * state.max_state_visits) {
    failByVisits(run, name, state.max_state_visits, visit);
    return;
  }
  arrive(run, name, visit, state);
  run.note({ state: { name, ...seen, visit } });
  begin(run, state);
}

function reach(run: RunTurn, name: string, visit: number, state: State, feedback: string | null): void {
  arrive(run, name, visit, state);
  const { visits, transition_count } = run.state;
  run.change({
    // While a state goes several ways, it is the one that the run is at.
    ...(run.focus === null ? { current_state: name } : {}),
    visits: { ...visits, [name]: visit },
    transition_count: transition_count + 1,
  });
  run.note({ state: { name, feedback, visit } });
  begin(run, state);
}

function failByVisits(run: RunTurn, name: string, max: number, actual: number): void {
  const message = `${name} would be entered ${actual} times; ${max} are allowed`;
  run.emit("WorkflowStateVisitLimitExceeded", {
    message,
    state_name: name,
    details: { state_name: name, max_visits: max, actual_visits: actual },
  });
  fail(run, "state_visit_limit", message, true);
}

function arrive(run: RunTurn, name: string, visit: number, state: State): void {
  const { now } = run;
  const { transition_count, entries = transition_count } = run.state;
  const entry = entries + 1;
  // Its work is replaced by what the state begins with.
  const work = { of: "immediate", result: {} } as const;
  run.move({ current: { name, visit, entry, entered_at: now, deadline_at: deadlineOf(run, state), work } });
  run.change({ last_transition_at: now, entries: entry });
  run.emit("WorkflowStateEntered", {
    message: `${name} was entered`,
    state_name: name,
    details: { state_name: name, visit, entered_at: run.at },
  });
}

/** Of one attempt; null: the state has none, or its work keeps the time. */
function deadlineOf(run: RunTurn, { kind, timeout_ms }: State): number | null {
  return kindOf(kind).keepsTime === true || timeout_ms === null ? null : run.now + timeout_ms;
}

/** The next attempt at the state at work, whose time to wait is over. */
export function beginAgain(run: RunTurn): void {
  const { current, definition } = run;
  const attempt = (current.attempt ?? 1) + 1;
  run.cancelTimer(retryTimer(current.entry));
  run.move({ current: { ...current, attempt, deadline_at: deadlineOf(run, definition) } });
  begin(run, definition);
}

function begin(run: RunTurn, state: State): void {
  try {
    run.attempt(() => {
      kindOf(state.kind).enter(run, state);
      if (isFull(run)) throw new BlackboardFull(tooLarge);
    });
  } catch (error) {
    if (error instanceof BlackboardFull) {
      leaveState(run, "failed");
      fail(run, "blackboard_too_large", tooLarge, true);
      return;
    }
    const result = faultOf(error);
    if (result === null) throw error;
    immediately(run, result);
  }
  const { deadline_at, entry, work } = run.current;
  if (deadline_at === null || work.of === "immediate") return;
  run.schedule(stateTimer(entry), deadline_at, "state_overdue", { entry });
}

class BlackboardFull extends Error {}

/** Gives up what the state at work has under way. It is still at work, but nothing will come of that any more. */
export function leaveWork(run: RunTurn, reason: string): void {
  const { work, deadline_at, entry } = run.current;
  if (work.of === "immediate") return;
  if (work.of === "backoff") {
    run.cancelTimer(retryTimer(entry));
    return;
  }
  leaveLines(run, () => leaveState(run, reason));
  kindOf(run.definition.kind).leave(run, reason);
  if (deadline_at !== null) run.cancelTimer(stateTimer(entry));
}

/** Leaves the state at work for good, without a result. */
export function leaveState(run: RunTurn, reason: string): void {
  if (!run.isAtWork) return;
  leaveWork(run, reason);
  run.move({ current: null });
}
