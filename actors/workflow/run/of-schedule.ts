/** A run that a schedule started tells it of its end: others of its times may wait for that. */
import { scheduleProtocol } from "../schedule/messages.ts";
import type { RunTurn } from "./turn.ts";

/** @param continued_as the run that follows this one and lives on in its place, whose header names the schedule as well */
export function tellSchedule(run: RunTurn, continued_as: string | null = null): void {
  const { schedule_id = null } = run.state.header;
  if (schedule_id === null) return;
  run.tell(scheduleProtocol, schedule_id, "run_ended", { execution_id: run.id, continued_as });
}
