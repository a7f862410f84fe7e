/**
 * `bootstrap_path` without a container names a program of the host. What it names is decided here, at the start of the
 * execution for a clear answer and again at the launch, where it is mounted: the file may have been replaced between the
 * two, and a stored plan may come from a node with other rules.
 */
import { existsSync, lstatSync, realpathSync } from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { instancePaths } from "../../instance-environment.ts";

export interface HostProgramRules {
  /** Programs of the host may take the bootstrap's place at all: development only. */
  readonly allowed: boolean;
  /** Directories and files of the service itself, absolute: its data, its configuration. */
  readonly own: readonly string[];
}

/**
 * What a path comes to: a file to mount in its place, nothing to mount (the path lies below a directory that is inside
 * anyway, or nothing is there), or the reason of a refusal.
 */
export type HostProgram =
  | { readonly kind: "file"; readonly source: string }
  | { readonly kind: "nothing" }
  | { readonly kind: "refused"; readonly reason: string };

/** Top directories that an instance has of its own: a program there would be hidden, or hide something. */
const notTheHosts = ["/proc", "/sys", "/dev", "/run/svc"];
const readableByAll = 0o004;

/**
 * @param path absolute, as the manifest has it
 * @returns reasons read after "bootstrap_path"; they name nothing that the manifest does not
 */
export function hostProgram(path: string, { allowed, own }: HostProgramRules): HostProgram {
  if (!allowed) return refused("is not allowed under `process`: the service's own bootstrap runs");
  if (path.includes("\0") || !path.startsWith("/") || /(^|\/)\.{1,2}(\/|$)/.test(path) || basename(path) === "") {
    return refused("is no plain absolute path");
  }
  if (isWithin(path, instancePaths.workspace)) return { kind: "nothing" };
  if (notTheHosts.some((directory) => isWithin(path, directory))) return refused(`cannot lie at ${path}`);
  try {
    return found(path, own);
  } catch {
    // No permission, a loop of links, too long a name, or gone at this moment.
    return refused("cannot be looked at");
  }
}

/** @throws what the file system says */
function found(path: string, own: readonly string[]): HostProgram {
  const entry = lstatSync(path, { throwIfNoEntry: false });
  if (entry === undefined) return { kind: "nothing" };
  if (!entry.isFile() && !(entry.isSymbolicLink() && isWithin(path, "/usr"))) return refused("is no regular file");
  // Directories above it may be links; the file itself may not.
  const source = entry.isFile() ? join(realpathSync(dirname(path)), basename(path)) : realpathSync(path);
  if (notTheHosts.some((directory) => isWithin(source, directory)) || isWithinAny(source, own)) {
    return refused("names a file of the service");
  }
  // Also keeps keys and configurations out where agents run as the service's own user.
  if ((lstatSync(source).mode & readableByAll) === 0) return refused("must be readable by every user of the host");
  // What lies there is inside anyway, and `/bin` leads there.
  return [path, source].some((each) => isWithin(each, "/usr")) ? { kind: "nothing" } : { kind: "file", source };
}

/** Whether a path is one of the given ones or lies below one, links resolved. */
function isWithinAny(path: string, directories: readonly string[]): boolean {
  return directories.some(
    (directory) => isWithin(path, directory) || (existsSync(directory) && isWithin(path, realpathSync(directory))),
  );
}

/** Likewise by text alone. */
export function isWithin(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith(sep) ? directory : `${directory}${sep}`);
}

const refused = (reason: string): HostProgram => ({ kind: "refused", reason });
