/** `spec.schedule`: what starts the agent by itself. */
import { cronFault, isTimeZone } from "../../../manifest/cron.ts";
import { second } from "../../../manifest/members.ts";
import { object, variants } from "../../../manifest/object.ts";
import { choice, flag, integer, text } from "../../../manifest/shape.ts";
import type { ScheduleSpec } from "../spec.ts";

const enabled = flag(true);

/** Null also where nothing is to start by itself: `manual`, or switched off. */
export const schedule = variants(
  "type",
  { type: choice("cron", "interval", "manual").required() },
  {
    cron: object({
      timezone: text({ min: 1, max: 64 }).or("UTC"),
      cron: text({ min: 1, max: 256 }).required(),
      enabled,
    }).build(({ timezone, cron: written, enabled }, fields): ScheduleSpec | null => {
      if (!isTimeZone(timezone)) return fields.issue("timezone", "is not an IANA time zone");
      if (written === null) return null;
      const cron = written.trim().split(/\s+/).join(" ");
      const fault = cronFault(cron, timezone);
      if (fault !== null) return fields.issue("cron", fault);
      return enabled ? { type: "cron", cron, timezone } : null;
    }),
    interval: object({ seconds: integer(60, 366 * 86_400).required(), enabled }).build(
      ({ seconds, enabled }): ScheduleSpec | null =>
        seconds === null || !enabled ? null : { type: "interval", every_ms: seconds * second },
    ),
    manual: object({ enabled }).build((): ScheduleSpec | null => null),
  },
);
