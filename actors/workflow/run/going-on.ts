/** How a run goes on at the end of a turn: states that come next are entered, and lines that have ended are joined. */
import { followLines } from "./children/child-waits.ts";
import { fail } from "./ending.ts";
import { beginAgain, enter, leaveState, leaveWork, undoNext } from "./entering.ts";
import { guarded } from "./guarded.ts";
import { kindOf } from "./kinds/registry.ts";
import * as batch from "./map/batch.ts";
import { closeTurn } from "./map/closing.ts";
import { placesOf } from "./places.ts";
import { settle } from "./settling.ts";
import { type Serve, serveWaits } from "./signals/signals.ts";
import { isOver } from "./state.ts";
import type { RunTurn } from "./turn.ts";
import { linesOf } from "./work.ts";

/**
 * Enters the states that come next, in the main line and in all others, unless the run is paused; gives Waits the
 * signals that came before them; and tells the state that goes several ways of lines that have come to their end.
 */
export function goOn(run: RunTurn): void {
  for (let isMoving = true; isMoving && !isOver(run.state); ) {
    if (endByLine(run)) continue;
    isMoving = enterNext(run, null);
    let isEnded = false;
    for (const { name } of linesOf(run.state.current)) {
      isMoving = enterNext(run, name) || isMoving;
      isEnded = endByLine(run);
      if (isEnded) break;
    }
    // Before its end a run may have to undo what it did.
    if (isEnded) continue;
    // Lines that are given up take no signal with them.
    isMoving = closeLines(run) || serveWaits(run, serve) || isMoving;
    isMoving = takeUp(run) || isMoving;
    isMoving = undoNext(run) || isMoving;
  }
  followLines(run);
  if (run.state.current?.work.of === "batch") closeTurn(run);
}

/** Whether the state at work began more of its parts. */
function takeUp(run: RunTurn): boolean {
  if (run.state.current === null) return false;
  if (run.state.current.work.of === "batch") return batch.goOn(run);
  return kindOf(run.definition.kind).goOn?.(run) ?? false;
}

/** Attempts whose time came while the run was paused. */
export function tryAgain(run: RunTurn): void {
  for (const { line, current } of placesOf(run.state.current)) {
    const { work } = current;
    if (work.of === "backoff" && run.now >= work.until) run.inLine(line, () => beginAgain(run));
  }
}

/** Lets the state in focus come to the result of the signal that it waited for. */
export const serve: Serve = (run, signal) => kindOf(run.definition.kind).signalled?.(run, signal);

function enterNext(run: RunTurn, line: string | null): boolean {
  if (run.state.paused_at !== null) return false;
  return run.inLine(line, () => {
    const next = line === null ? run.state.next : (run.line?.next ?? null);
    if (next === null) return false;
    enter(run, next.target, next.feedback);
    return true;
  });
}

/** A line reached a limit of the run, which ends with it. */
function endByLine(run: RunTurn): boolean {
  const end = linesOf(run.state.current).find(({ end }) => end?.whole === true)?.end;
  if (end === undefined || end === null) return false;
  leaveState(run, "failed");
  fail(run, end.error_code ?? "state_failed", end.error ?? "A branch failed");
  return true;
}

/** Whether a state took notice of lines that had ended. */
function closeLines(run: RunTurn): boolean {
  const { current } = run.state;
  if (!linesOf(current).some(({ end }) => end !== null)) return false;
  if (current?.work.of === "batch") batch.collect(run);
  else joinLines(run);
  return run.state.current !== current;
}

function joinLines(run: RunTurn): void {
  guarded(run, () => {
    const kind = kindOf(run.definition.kind);
    kind.linesEnded?.(run);
    const result = kind.joins?.(run) ?? null;
    if (result === null) return;
    leaveWork(run, "branch_joined");
    settle(run, result);
  });
}
