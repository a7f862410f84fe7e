/** The summaries of earlier iterations: the environment variable SVC_ITERATION_HISTORY. */
import { type Static, Type } from "@sinclair/typebox";
import { defineLog } from "../../kernel/effect.ts";
import { compile } from "../../template/template.ts";
import { trimText } from "../trim.ts";

export const IterationSummary = Type.Object({
  iteration: Type.Integer(),
  output: Type.Optional(Type.String()),
  error: Type.Optional(Type.String()),
  exit_code: Type.Optional(Type.Integer()),
  validation_failed: Type.Optional(Type.String()),
  validation_reason: Type.Optional(Type.String()),
  feedback: Type.Optional(Type.String()),
});
export type IterationSummary = Static<typeof IterationSummary>;
/** One entry per finished iteration that another one may follow. */
export const historyLog = defineLog("history", IterationSummary);

const keptAttempts = 5;
const maxValueBytes = 4096;

/** Cuts the long values of an attempt before it is stored. */
export function iterationSummary(attempt: IterationSummary): IterationSummary {
  const cut = Object.entries(attempt).map(([member, value]) => [
    member,
    typeof value === "string" ? trimText(value, maxValueBytes) : value,
  ]);
  return Object.fromEntries(cut) as IterationSummary;
}

/**
 * The variable's value.
 * @param entries  the log `history`, oldest first
 * @param template the manifest's own prompt template: one that names the earlier attempts itself gets `[]`
 */
export function historyVariable(entries: readonly IterationSummary[], template: string | null): string {
  if (template !== null && compile(template).mentions(["previous_error", "previous_attempts"])) return "[]";
  return JSON.stringify(entries.slice(-keptAttempts));
}
