/** The timers that a run's state asks for. */
import { schedule } from "../../kernel/effect.ts";
import { placesOf } from "./places.ts";
import { callTimer, DEADLINE, isCompensating, isOver, type RunState, retryTimer, stateTimer } from "./state.ts";
import type { Current } from "./work.ts";

/** For the whole run and for the state at work, where they have a deadline. */
export function timersOf(state: RunState) {
  const { deadline_at, current } = state;
  if (isOver(state)) return [];
  const whole = deadline_at === null || isCompensating(state) ? [] : [schedule(DEADLINE, deadline_at, "deadline", {})];
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
