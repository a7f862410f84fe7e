/** The log of a run: what its stream is made of, in few words. Hosts and results are rows, named by their places. */
import { type Static, Type } from "@sinclair/typebox";
import { defineLog } from "../kernel/effect.ts";
import { Milliseconds, Nullable, Text } from "../kernel/schema.ts";
import { EndReason, PauseReason, RunStatus, Summary } from "./words.ts";

const Count = Type.Integer({ minimum: 0 });
const Totals = { targets_resolved: Count, targets_skipped: Count };

export const RunEvent = Type.Union([
  Type.Object({
    type: Type.Literal("started"),
    status: RunStatus,
    /** Which of the stored resolutions it tells of. */
    resolution: Count,
    ...Totals,
    started_at: Nullable(Milliseconds),
  }),
  Type.Object({
    type: Type.Literal("status"),
    status: RunStatus,
    reason: Nullable(Text),
    pause_reasons: Type.Array(PauseReason),
    approval_id: Nullable(Text),
    wave: Count,
    waves: Count,
  }),
  Type.Object({ type: Type.Literal("result"), idx: Count, attempt: Type.Integer({ minimum: 1 }), status: Text }),
  Type.Object({
    type: Type.Literal("error"),
    reason: Type.Union(
      (["RequireMinNotSatisfied", "EdgeUnavailable", "Halted"] as const).map((word) => Type.Literal(word)),
    ),
    code: EndReason,
    message: Text,
  }),
  Type.Object({
    type: Type.Literal("ended"),
    status: RunStatus,
    reason: Nullable(EndReason),
    ...Totals,
    summary: Summary,
  }),
]);
export type RunEvent = Static<typeof RunEvent>;

/** The last entry is of type `ended`. */
export const runEvents = defineLog("events", RunEvent);
