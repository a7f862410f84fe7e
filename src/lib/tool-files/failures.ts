/** How the `fs.*` tools word what goes wrong: for the model, without the host's paths. */
import { ToolFailure, ToolRefusal } from "./outcome.ts";

export function outside(
  attempted: string,
  violation: "path_traversal_attempt" | "path_outside_boundary",
  top: string,
): ToolRefusal {
  return new ToolRefusal(2002, "path_not_allowed", violation, `${attempted} is outside ${top}`, attempted);
}

export function forbidden(attempted: string, what: "seen" | "read" | "written"): ToolRefusal {
  const message = `${attempted} may not be ${what}`;
  return new ToolRefusal(2002, "path_not_allowed", "path_outside_boundary", message, attempted);
}

const failures: Readonly<Record<string, readonly [code: string, text: string]>> = {
  ENOENT: ["not_found", "does not exist"],
  ENOTDIR: ["not_a_directory", "is not a directory"],
  EISDIR: ["not_a_file", "is a directory"],
  EEXIST: ["already_exists", "exists already"],
  ENOTEMPTY: ["not_empty", "is not empty"],
  ENXIO: ["not_a_file", "is not a file"],
  EACCES: ["forbidden", "may not be touched"],
  EPERM: ["forbidden", "may not be touched"],
  EROFS: ["forbidden", "is read-only"],
  EBUSY: ["forbidden", "is in use"],
  ENOSPC: ["quota_exceeded", "does not fit: the disk is full"],
  EDQUOT: ["quota_exceeded", "does not fit: the quota is used up"],
  ENAMETOOLONG: ["invalid_path", "has a name that is too long"],
  // Between two looks a link was put where there was none.
  ELOOP: ["storage_error", "changed while it was being opened"],
};

/** Turns an error of the file system into one for the model, without the host's paths. */
export function asFailure(error: unknown, shown: string): unknown {
  const code = codeOf(error);
  if (code === undefined || error instanceof ToolFailure || error instanceof ToolRefusal) return error;
  const [name, text] = failures[code] ?? ["storage_error", `could not be used (${code})`];
  return new ToolFailure(name, `${shown} ${text}`);
}

/** The code of a failed system call; undefined for every other error. */
export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("syscall" in error || "errno" in error)) return undefined;
  const { code } = error as { code?: unknown };
  return typeof code === "string" ? code : undefined;
}
