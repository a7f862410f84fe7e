/** `spec.schedule`: what starts the agent by itself. */
import { CronExpressionParser } from "cron-parser";
import type { Fields } from "../../manifest/fields.ts";
import type { ScheduleSpec } from "./spec.ts";

const second = 1000;
const maxSeconds = 366 * 86_400;
/** Any moment will do: whether an expression is one does not depend on the time. */
const someTime = new Date(0);

/** @returns null when nothing is to start by itself: no schedule, `manual`, or switched off; and after an issue */
export function readSchedule(spec: Fields): ScheduleSpec | null {
  if (!spec.has("schedule")) return null;
  const fields = spec.section("schedule");
  if (spec.findings.hasIssueAt(fields.path)) return null;
  if (!fields.has("type")) fields.issue("type", "is required");
  const type = fields.choice("type", ["cron", "interval", "manual"]);
  if (type === null) return null;
  const schedule = type === "cron" ? readCron(fields) : type === "interval" ? readInterval(fields) : null;
  const enabled = fields.flag("enabled", true);
  fields.close();
  return enabled ? schedule : null;
}

function readInterval(fields: Fields): ScheduleSpec | null {
  if (!fields.has("seconds")) return fields.issue("seconds", "is required");
  const seconds = fields.integer("seconds", { min: 60, max: maxSeconds });
  return seconds === null ? null : { type: "interval", every_ms: seconds * second };
}

function readCron(fields: Fields): ScheduleSpec | null {
  const timezone = fields.text("timezone", { min: 1, max: 64 }) ?? "UTC";
  if (!isTimeZone(timezone)) return fields.issue("timezone", "is not an IANA time zone");
  const written = fields.requiredText("cron", { min: 1, max: 256 });
  if (written === null) return null;
  const cron = written.trim().split(/\s+/).join(" ");
  if (cron.split(" ").length !== 5) return fields.issue("cron", "must have five fields");
  const fault = cronFault(cron, timezone);
  return fault === null ? { type: "cron", cron, timezone } : fields.issue("cron", fault);
}

/** What is wrong with an expression of five fields, or null. */
function cronFault(cron: string, tz: string): string | null {
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
