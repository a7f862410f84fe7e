/** What a refusal of the service means to the command line. */

import { exitOfRefusal } from "../../process/exits.ts";
import { Failure } from "../command/exit.ts";

/** @param body of the answer, whatever it is */
export function refusal(status: number, body: unknown): Failure {
  const { code, error, issues, required } = membersOf(body);
  const word = typeof code === "string" ? code : `http_${status}`;
  const reason = typeof error === "string" ? error : `the service answered ${status}`;
  const scope = typeof required === "string" ? ` (needs ${required})` : "";
  const lines = [`${reason}${scope} [${word}]`, ...linesOf(issues)];
  return new Failure(exitOfRefusal(status, word), lines.join("\n"), word);
}

const membersOf = (body: unknown): Readonly<Record<string, unknown>> =>
  typeof body === "object" && body !== null ? { ...body } : {};

/** A line for each issue: where, and what. */
function linesOf(issues: unknown): readonly string[] {
  if (!Array.isArray(issues)) return [];
  return issues.slice(0, 20).map((issue: unknown) => {
    const { path, message } = membersOf(issue);
    return `  ${typeof path === "string" && path !== "" ? `${path}: ` : ""}${String(message ?? "")}`;
  });
}
