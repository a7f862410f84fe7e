/** What a refusal of the service means to the command line. */
import { type Exit, Failure } from "../command/exit.ts";

const byStatus: Readonly<Record<number, Exit>> = {
  400: "usage",
  401: "authentication",
  403: "authentication",
  404: "conflict",
  409: "conflict",
  410: "authentication",
  413: "usage",
  422: "usage",
  429: "unavailable",
  502: "unavailable",
  503: "unavailable",
  504: "unavailable",
};
/** Where the status alone misleads: limits of a plan or of runs do not pass by waiting a moment. */
const byCode: Readonly<Record<string, Exit>> = { quota_exceeded: "failed" };

/** @param body of the answer, whatever it is */
export function refusal(status: number, body: unknown): Failure {
  const { code, error, issues, required } = membersOf(body);
  const word = typeof code === "string" ? code : `http_${status}`;
  const reason = typeof error === "string" ? error : `the service answered ${status}`;
  const scope = typeof required === "string" ? ` (needs ${required})` : "";
  const lines = [`${reason}${scope} [${word}]`, ...linesOf(issues)];
  return new Failure(byCode[word] ?? byStatus[status] ?? "failed", lines.join("\n"), word);
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
