/** What a workflow's schedule is made of between two turns. */
import { type Static, Type } from "@sinclair/typebox";
import { Nullable, Text } from "../../kernel/schema.ts";
import { Moment } from "../run/work.ts";
import { Overlap, Terms } from "./messages.ts";

/** A time whose run is still to be started. */
const Waiting = Type.Object({
  time: Moment,
  overlap: Overlap,
  /** Asked for by a person. */
  backfill: Type.Boolean(),
});
export type Waiting = Static<typeof Waiting>;

export const ScheduleState = Type.Object({
  /** Of the row that it goes by. */
  revision: Type.Integer(),
  terms: Terms,
  paused: Type.Boolean(),
  /** Its tenant began nothing when it last tried: times are kept, and judged as missed ones once it may. */
  held: Type.Boolean(),
  /** What became of every time up to here is decided. */
  decided: Moment,
  /** Of the timer that is set. */
  wake: Nullable(Moment),
  /** In the order in which they are started. */
  waiting: Type.Array(Waiting),
  /** The start that is under way. */
  starting: Nullable(
    Type.Object({
      execution_id: Text,
      time: Moment,
      backfill: Type.Boolean(),
      /** Of the schedule then. */
      revision: Type.Integer(),
      /** The run that lives on in its place by now; absent: it does itself. */
      continued_as: Type.Optional(Text),
      /** How often its work had died without an answer before; absent: never. */
      deaths: Type.Optional(Type.Integer({ minimum: 1 })),
      /** The run has come to its end already, before it was heard that it had begun. */
      ended: Type.Boolean(),
      /** Times before this one that got no run: those behind it are judged anew where this start is taken back. */
      skipped: Type.Integer({ minimum: 0 }),
    }),
  ),
  /** The run that it started last, as long as that lives. */
  former: Nullable(Type.Object({ execution_id: Text, cancelled: Type.Boolean() })),
  /** The run that was started last, also by hand; stays after its end. */
  last: Nullable(Type.Object({ execution_id: Text, at: Moment })),
  /** Times that got no run. */
  skipped: Type.Integer({ minimum: 0 }),
  /** The last ones, so that a repeated request is answered alike. */
  backfills: Type.Array(Type.Object({ id: Text, started: Type.Integer(), skipped: Type.Integer() })),
});
export type ScheduleState = Static<typeof ScheduleState>;
