/**
 * Items that start agents or workflows wait for room, by rates and quotas, for as long as it takes: their own time begins
 * anew when what they start has begun.
 */
import { stateTimer } from "../state.ts";
import type { RunTurn } from "../turn.ts";
import type { Current } from "../work.ts";

/** Whether the item in focus waits for a start; false where no item is. */
export const waitsForRoom = (run: RunTurn): boolean =>
  run.itemIndex !== null && run.isAtWork && isStarting(run.current);

function isStarting({ work }: Current): boolean {
  if (work.of === "subworkflow") return !work.started;
  return "children" in work && work.children.some(({ role, started }) => role === "agent" && !started);
}

/** Takes news of a start. */
export function onStart(run: RunTurn, step: () => void): void {
  const waited = waitsForRoom(run);
  step();
  if (waited && run.isAtWork && !waitsForRoom(run)) renewClock(run);
}

/** The state at work has all of its time from now on. */
export function renewClock(run: RunTurn): void {
  const { current, definition } = run;
  if (current.deadline_at === null || definition.timeout_ms === null) return;
  const deadline_at = run.now + definition.timeout_ms;
  run.move({ current: { ...current, deadline_at } });
  run.cancelTimer(stateTimer(current.entry));
  run.schedule(stateTimer(current.entry), deadline_at, "state_overdue", { entry: current.entry });
}
