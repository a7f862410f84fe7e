/** `spec.schedules`: when runs of the workflow start by themselves. */
import { cronFault, isTimeZone } from "../../manifest/cron.ts";
import type { Findings } from "../../manifest/findings.ts";
import { judgeInput, workflowInput } from "../../manifest/json-schema/input-schema.ts";
import { compileSchema } from "../../manifest/json-schema/json-schema.ts";
import { hour, second } from "../../manifest/members.ts";
import { object } from "../../manifest/object.ts";
import { anything, choice, list, text } from "../../manifest/shape.ts";
import type { Definition, Schedule } from "../definition.ts";
import { duration } from "./members.ts";

const maxSchedules = 32;
/** That defaults may add to an input; a start allows as much. */
const maxInputCharacters = 1_048_576;
const day = 24 * hour;

const schedule = object({
  name: text({
    min: 1,
    max: 63,
    pattern: /^[A-Za-z0-9](?:[A-Za-z0-9_-]*[A-Za-z0-9])?$/,
    form: "letters, digits, _ and -, beginning and ending with a letter or digit",
  }).required(),
  timezone: text({ min: 1, max: 64 })
    .check((zone) => (isTimeZone(zone) ? null : "is not an IANA time zone"))
    .or("UTC"),
  cron: text({ min: 1, max: 256 }),
  every: duration({ min: 60 * second, max: 366 * day, said: "60 s to 366 days" }),
  jitter: duration({ min: 0, max: hour, said: "0 s to 1 h" }).or(0),
  input: anything,
  overlap: choice("skip", "queue", "allow", "cancel_previous").or("skip"),
  catch_up: choice("none", "last", "all").or("last"),
  catch_up_window: duration({ min: 60 * second, max: 30 * day, said: "60 s to 30 days" }).or(day),
})
  .strict("a schedule")
  .build(({ name, timezone, cron, every, jitter, input, overlap, catch_up, catch_up_window }, fields) => {
    if (fields.has("cron") === fields.has("every")) {
      fields.issue("cron", "must be there exactly where every is not");
      return null;
    }
    if (cron !== null) {
      const expression = cron.trim().split(/\s+/).join(" ");
      const fault = cronFault(expression, timezone);
      if (fault !== null) return fields.issue("cron", fault);
      cron = expression;
    }
    if (cron === null && fields.has("timezone")) fields.warn("timezone", "no_effect", "A zone counts for cron alone");
    if (catch_up === "none" && fields.has("catch_up_window")) {
      fields.warn("catch_up_window", "no_effect", "No time that was missed gets a run");
    }
    const when = cron !== null ? { cron } : every !== null ? { every_ms: every } : null;
    if (name === null || when === null) return null;
    const read: Schedule = {
      name,
      when,
      timezone,
      jitter_ms: jitter,
      input: input ?? {},
      overlap,
      catch_up,
      catch_up_window_ms: catch_up_window,
    };
    return read;
  })
  .named("Schedule");

export const schedules = list(schedule, maxSchedules, null, ({ name }, before, fields, position) => {
  if (before.some((other) => other.name === name)) fields.issue(`${position}.name`, "is the name of another schedule");
});

/** Adds an issue for each schedule whose input its own workflow refuses. */
export function checkScheduledInputs({ schedules = [], input_schema: schema }: Definition, findings: Findings): void {
  if (schema === null || schedules.length === 0) return;
  // A schema that is none, or a schedule that could not be read, is told already.
  if (findings.hasIssueAt("metadata.input_schema") || findings.hasIssueAt("spec.schedules")) return;
  const validate = compileSchema(schema, "first");
  for (const [at, { input }] of schedules.entries()) {
    const verdict = judgeInput(schema, validate, input, maxInputCharacters, workflowInput);
    const [first] = verdict.ok ? [] : verdict.issues;
    if (first !== undefined) findings.issue(`spec.schedules.${at}.${first.path}`, first.message, "invalid_input");
  }
}
