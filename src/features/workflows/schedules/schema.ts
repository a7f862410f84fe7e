/** The wire shapes of workflows' schedules. Durations are whole seconds. */
import { type Static, Type } from "@sinclair/typebox";
import { AnyJson } from "../../../../actors/kernel/json.ts";
import { Nullable, Text, Time } from "../../../../actors/kernel/schema.ts";
import { Schedule } from "../../../../actors/workflow/definition.ts";
import { Overlap } from "../../../../actors/workflow/schedule/messages.ts";

const Seconds = Type.Integer({ minimum: 0 });

export const WorkflowSchedule = Type.Object({
  id: Text,
  workflow_id: Type.String({ description: "The latest version" }),
  workflow_name: Text,
  name: Text,
  cron: Nullable(Text),
  every: Nullable(Seconds),
  timezone: Text,
  jitter: Seconds,
  input: AnyJson,
  overlap: Overlap,
  catch_up: Schedule.properties.catch_up,
  catch_up_window: Seconds,
  paused: Type.Boolean(),
  next_times: Type.Array(Time, { description: "When it starts runs next, jitter included; empty while it is paused" }),
  last_started_at: Nullable(Time),
  last_execution_id: Nullable(Text),
  skipped: Type.Integer({ description: "Times that got no run" }),
});
export type WorkflowSchedule = Static<typeof WorkflowSchedule>;

export const WorkflowSchedules = Type.Object({
  items: Type.Array(WorkflowSchedule),
  schedules: Type.Array(WorkflowSchedule, { description: "The same" }),
  count: Type.Integer(),
});

export const RunBody = Type.Object({
  input: Type.Optional({ ...AnyJson, description: "In place of the schedule's own" }),
});

export const BackfillBody = Type.Object(
  {
    from: Type.String({ maxLength: 64, description: "ISO 8601" }),
    to: Type.String({ maxLength: 64, description: "ISO 8601, not in the future" }),
    overlap: Type.Optional(Overlap),
  },
  { examples: [{ from: "2026-05-01T00:00:00Z", to: "2026-05-02T00:00:00Z", overlap: "queue" }] },
);
export type BackfillBody = Static<typeof BackfillBody>;

export const Backfilled = Type.Object({
  started: Type.Integer({ description: "Times that get a run" }),
  skipped: Type.Integer({ description: "Times that get none" }),
});

/** By name, for the API document. */
export const named = { WorkflowSchedule };
