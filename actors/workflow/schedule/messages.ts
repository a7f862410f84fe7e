/** Everything a workflow's schedule can be told or asked, what it answers, and the one thing it has done for it. */
import { type Static, Type } from "@sinclair/typebox";
import { defineActivity, outcomeOf } from "../../kernel/activity.ts";
import { defineProtocol, message } from "../../kernel/message.ts";
import { Nothing, Nullable, Text } from "../../kernel/schema.ts";
import { Schedule } from "../definition.ts";
import { scheduleOfRun } from "../run/of-schedule.ts";
import { Moment } from "../run/work.ts";

export const Overlap = Schedule.properties.overlap;
export type Overlap = Static<typeof Overlap>;

/** What decides when it starts runs; what they are started with stands in its row. */
export const Terms = Type.Object({
  when: Schedule.properties.when,
  timezone: Text,
  jitter_ms: Schedule.properties.jitter_ms,
  overlap: Overlap,
  catch_up: Schedule.properties.catch_up,
  catch_up_window_ms: Schedule.properties.catch_up_window_ms,
  /** Intervals are counted from here. */
  anchor: Moment,
});
export type Terms = Static<typeof Terms>;

/**
 * Outcome: `start_ended`. Starts the run `execution_id` for a time of the schedule; the same again is the same run. A
 * refusal by a rate is tried again until `start_by`.
 */
export const scheduledStart = defineActivity({
  name: "workflow.scheduled_start",
  input: Type.Object({
    execution_id: Text,
    time: Moment,
    start_by: Moment,
    /** An earlier piece of work may have started it without an answer: `look` only finds that out. Absent: there is none. */
    again: Type.Optional(Type.Union([Type.Literal("start"), Type.Literal("look")])),
  }),
  output: Type.Union([
    Type.Object({ result: Type.Literal("started"), at: Moment }),
    /** The tenant begins nothing now. */
    Type.Object({ result: Type.Literal("held") }),
    /** `busy`: by a rate, up to the last. */
    Type.Object({ result: Type.Literal("refused"), code: Text, busy: Type.Boolean() }),
    /** There is no such schedule any more. */
    Type.Object({ result: Type.Literal("gone") }),
  ]),
});

export const BackfillReply = Type.Union([
  Type.Object({ outcome: Type.Literal("done"), started: Type.Integer(), skipped: Type.Integer() }),
  Type.Object({ outcome: Type.Literal("too_many") }),
  Type.Object({ outcome: Type.Literal("unknown") }),
]);
export type BackfillReply = Static<typeof BackfillReply>;

export const scheduleProtocol = defineProtocol({
  kind: scheduleOfRun.kind,
  messages: {
    /** What its row says. A revision that is not newer than what is known changes nothing. */
    settle: message({
      body: Type.Object({
        revision: Type.Integer(),
        /** Null: it ends. */
        terms: Nullable(Terms),
        paused: Type.Boolean(),
        /** When the row became so: earlier times are none of it where it is new, was paused or has other times. */
        since: Moment,
      }),
      reply: Type.Object({ settled: Type.Literal(true) }),
    }),
    /** Timer. */
    due: message({ body: Type.Object({ at: Moment }) }),
    start_ended: message({ body: outcomeOf(scheduledStart) }),
    ...scheduleOfRun.messages,
    /** Its tenant may begin work again. Repeatable. */
    release: message({ body: Nothing, reply: Type.Object({ released: Type.Literal(true) }) }),
    /** A person had a run started. Repeatable. */
    started_by_hand: message({
      body: Type.Object({ execution_id: Text, at: Moment }),
      reply: Type.Object({ noted: Type.Literal(true) }),
    }),
    /** Starts runs for the times from a moment up to another. The same id again gets the same reply. */
    backfill: message({
      body: Type.Object({ id: Text, from: Moment, to: Moment, overlap: Nullable(Overlap) }),
      reply: BackfillReply,
    }),
  },
});
export type ScheduleMessages = typeof scheduleProtocol.messages;
