/** A run that a schedule started tells it of its end: others of its times may wait for that. */
import { Type } from "@sinclair/typebox";
import { defineProtocol, message } from "../../kernel/message.ts";
import { Nullable, Text } from "../../kernel/schema.ts";
import type { RunTurn } from "./turn.ts";

/** What a schedule hears of the runs that it started. */
export const scheduleOfRun = defineProtocol({
  kind: "workflow_schedule",
  messages: {
    /** By the last turn of the run, in one commit with it. */
    run_ended: message({
      body: Type.Object({
        execution_id: Text,
        /** The run that follows it, and lives on in its place. */
        continued_as: Nullable(Text),
      }),
    }),
  },
});

/** @param continued_as the run that follows this one and lives on in its place, whose header names the schedule as well */
export function tellSchedule(run: RunTurn, continued_as: string | null = null): void {
  const { schedule_id = null, batch } = run.state.header;
  // A child record of items is no run of its own.
  if (schedule_id === null || batch !== undefined) return;
  run.tell(scheduleOfRun, schedule_id, "run_ended", { execution_id: run.id, continued_as });
}
