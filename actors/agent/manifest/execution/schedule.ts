/** `spec.schedule`: what starts the agent by itself. */
import { CronExpressionParser } from "cron-parser";
import { second } from "../../../manifest/members.ts";
import { object, variants } from "../../../manifest/object.ts";
import { choice, flag, integer, text } from "../../../manifest/shape.ts";
import type { ScheduleSpec } from "../spec.ts";

/** Any moment will do: whether an expression is one does not depend on the time. */
const someTime = new Date(0);
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

/** What is wrong with an expression, or null. */
function cronFault(cron: string, tz: string): string | null {
  if (cron.split(" ").length !== 5) return "must have five fields";
  // `H` stands for a value the library draws by chance; everything else means the same every time.
  if (!/^[0-9A-Za-z*/,?#\- ]+$/.test(cron) || /(?<![A-Za-z])H(?![A-Za-z])/i.test(cron)) {
    return "is not a cron expression";
  }
  try {
    CronExpressionParser.parse(cron, { tz, currentDate: someTime }).next();
    return null;
  } catch {
    return "is not a cron expression that ever comes true";
  }
}

function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
