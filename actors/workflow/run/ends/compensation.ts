/**
 * Compensation: what a run did successfully is undone when it comes to a bad end, newest first, each visit once.
 *
 * While a run goes on, successful visits of states that another one undoes are remembered (`undo`). Once an end is come
 * to for which compensations are due (`isDue`), the run stays `running` and knows that end (`compensation.end`); it
 * enters the undoing states one by one (`undoing.ts`) and only then takes the end (`ending.ts`).
 */
import { jsonBytes, maxBlackboardBytes, maxResultBytes } from "../blackboard/size.ts";
import type { StateResult } from "../kind.ts";
import { isSuccess } from "../rules/conditions.ts";
import { type CameTo, DEADLINE, isCompensating, type RunState, type Undo } from "../state.ts";
import type { RunTurn } from "../turn.ts";

/** Whether the blackboard and what is remembered beside it are too large; the result that is undone has room of its own. */
export function isFull({ state, seenBytes }: RunTurn): boolean {
  const room = isCompensating(state) ? maxResultBytes : 0;
  return seenBytes + (state.undo_bytes ?? 0) > maxBlackboardBytes + room;
}

/** The former result of a state is about to leave the blackboard: where it may be undone, it is kept. */
export function keepFormer(run: RunTurn, name: string): void {
  const { undo = [], undo_bytes = 0, blackboard } = run.state;
  if (run.line !== null || !undo.some((one) => one.name === name && one.result === null)) return;
  const result = Object.hasOwn(blackboard, name) ? (blackboard[name] as StateResult) : null;
  run.change({
    undo: undo.map((one) => (one.name === name && one.result === null ? { ...one, result } : one)),
    undo_bytes: undo_bytes + (result === null ? 0 : jsonBytes(result)),
  });
}

/** Notes the visit at work where another state undoes it. Items of a Map are undone with it, once. */
export function remember(run: RunTurn, result: StateResult): void {
  const { definition, current, line } = run;
  const { undo = [], undo_bytes = 0, header } = run.state;
  const by = definition.compensate;
  if (by === undefined || header.batch !== undefined || isCompensating(run.state)) return;
  if (!isSuccess({ result, kind: definition.kind })) return;
  // The notes of a line go with it.
  const kept = line === null ? null : result;
  const visit: Undo = { name: current.name, visit: current.visit, by, result: kept };
  run.change({ undo: [...undo, visit], undo_bytes: undo_bytes + (kept === null ? 0 : jsonBytes(kept)) });
}

/**
 * Whether this end has to wait for compensations.
 * @param asked by a cancellation: whether to compensate; undefined: as the definition says
 */
export function isDue({ definition, undo = [] }: RunState, status: CameTo["status"], asked?: boolean): boolean {
  if (undo.length === 0 || asked === false) return false;
  return asked === true || (definition.compensate_on ?? ["failed"]).includes(status);
}

/** Takes an end down that compensations come before. From now on the run has no deadline. */
export function beginCompensations(run: RunTurn, end: CameTo): void {
  const { deadline_at, undo = [] } = run.state;
  if (deadline_at !== null) run.cancelTimer(DEADLINE);
  run.move({ current: null, next: null });
  const remaining = undo.toReversed().map(({ name, visit, by }) => ({ name, visit, by }));
  run.change({ compensation: { status: "running", end, at: run.now, remaining, visits: {} } });
}

/** The visit that is undone now, with its result. @throws when none is: a fault of the caller */
export function undoneNow({ undo = [], blackboard }: RunState): Undo & { readonly result: StateResult } {
  const last = undo.at(-1);
  if (last === undefined) throw new Error("nothing is undone");
  return { ...last, result: (last.result ?? blackboard[last.name] ?? {}) as StateResult };
}

/** The visit that is undone now is done with. */
export function forgetUndone(run: RunTurn): void {
  const { compensation, undo = [], undo_bytes = 0 } = run.state;
  const last = undo.at(-1);
  if (compensation === undefined || last === undefined) return;
  run.change({
    undo: undo.slice(0, -1),
    undo_bytes: undo_bytes - (last.result === null ? 0 : jsonBytes(last.result)),
    compensation: { ...compensation, remaining: compensation.remaining.slice(1) },
  });
}
