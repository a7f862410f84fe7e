/** Paths in volumes as callers write them, and how failures on them are told. */
import { invalid, Problem } from "../../../actors/kernel/problem.ts";
import type { Category } from "../storage-violations/port.ts";
import { ToolFailure, ToolRefusal } from "../tools/port.ts";

export const maxPathBytes = 4096;
const maxSegmentBytes = 255;
/** Names of a path: no directory of a host is entered deeper. */
export const maxSegments = 128;

/**
 * A path from a volume's root, `/` first, `.` and doubled slashes collapsed.
 * @throws Problem 422 `invalid_path` for `..`, NUL and control characters, and what is too long
 */
export function readPath(text: string): string {
  const refused = (message: string, violation: Category) => new PathRefused(message, violation, text);
  if (Buffer.byteLength(text) > maxPathBytes) {
    throw refused(`is longer than ${maxPathBytes} bytes`, "filesystem_policy_violation");
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is looked for
  const unusable = /[\u0000-\u001f\u007f]/.test(text) || !text.isWellFormed();
  const segments = text.split("/").filter((segment) => segment !== "" && segment !== ".");
  // Clients and URL parsers take `\` for `/`: a name may hold it, but not to climb.
  if (segments.some((segment) => segment.split("\\").includes(".."))) {
    throw refused("holds ..", "path_traversal_blocked");
  }
  if (unusable) throw refused("holds a control character", "filesystem_policy_violation");
  if (segments.length > maxSegments) {
    throw refused(`has more than ${maxSegments} names`, "filesystem_policy_violation");
  }
  if (segments.some((segment) => Buffer.byteLength(segment) > maxSegmentBytes)) {
    throw refused(`has a name longer than ${maxSegmentBytes} bytes`, "filesystem_policy_violation");
  }
  return `/${segments.join("/")}`;
}

export function invalidPath(message: string): Problem {
  return invalid("invalid_path", `The path ${message}`, issuesOf(message));
}

const issuesOf = (message: string) => [{ path: "path", message, code: "invalid_path" }];

/** The same answer for a path that is not only unusable here: it is recorded as a violation. */
export class PathRefused extends Problem {
  /** @param attempted as the caller wrote it */
  constructor(
    message: string,
    readonly violation: Category,
    readonly attempted: string,
  ) {
    super("invalid_path", `The path ${message}`, { issues: issuesOf(message) });
  }
}

/** For a path that leads out of the volume over a link. */
export const leadsOut = (attempted: string): Problem =>
  new PathRefused("leads out of the volume", "path_traversal_blocked", attempted);

const pathNotFound = (): Problem => new Problem("path_not_found", "Path not found");
export const isDirectoryProblem = (): Problem => new Problem("is_a_directory", "The path is a directory");

/** Does something in a view; what the view refuses becomes a problem for the caller. */
export async function answering<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw asProblem(error);
  }
}

function asProblem(error: unknown): unknown {
  if (error instanceof ToolRefusal) return leadsOut(error.attempted);
  if (!(error instanceof ToolFailure)) return error;
  switch (error.code) {
    case "not_found":
    case "not_a_directory":
      return pathNotFound();
    case "quota_exceeded":
      return new Problem("quota_exceeded", "The volume is full", { quota: "size_limit_bytes" });
    case "timeout":
      return new Problem("service_unavailable", "The directory is too large to be read", {}, { "Retry-After": "60" });
    default:
      return invalidPath("cannot be used");
  }
}
