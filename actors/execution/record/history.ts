/** What earlier iterations taught: the environment variable SVC_ITERATION_HISTORY. */
import { type Static, Type } from "@sinclair/typebox";
import { defineLog } from "../../kernel/effect.ts";
import { compile } from "../../template/template.ts";
import { trimText } from "../trim.ts";

export const Attempt = Type.Object({
  iteration: Type.Integer(),
  output: Type.Optional(Type.String()),
  error: Type.Optional(Type.String()),
  exit_code: Type.Optional(Type.Integer()),
  validation_failed: Type.Optional(Type.String()),
  validation_reason: Type.Optional(Type.String()),
  feedback: Type.Optional(Type.String()),
});
export type Attempt = Static<typeof Attempt>;
/** One entry per finished iteration that another one may follow. */
export const historyLog = defineLog("history", Attempt);

const keptAttempts = 5;
const maxValueBytes = 4096;

/** Cuts the long values of an attempt before it is stored. */
export function attemptOf(attempt: Attempt): Attempt {
  const cut = Object.entries(attempt).map(([member, value]) => [
    member,
    typeof value === "string" ? trimText(value, maxValueBytes) : value,
  ]);
  return Object.fromEntries(cut) as Attempt;
}

/**
 * The variable's value.
 * @param entries  the log `history`, oldest first
 * @param template the manifest's own prompt template: one that names the earlier attempts itself gets `[]`
 */
export function historyVariable(entries: readonly Attempt[], template: string | null): string {
  if (template !== null && compile(template).mentions(["previous_error", "previous_attempts"])) return "[]";
  return JSON.stringify(entries.slice(-keptAttempts));
}
