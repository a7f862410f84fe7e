/** What of the host a command sees in its own place: named by an operator, never by a tenant. */
import { lstatSync, realpathSync } from "node:fs";
import { LaunchFailure } from "../../instance.ts";
import { isWithin } from "./host-program.ts";

/** Top directories that an instance has of its own. */
const notTheHosts = ["/proc", "/sys", "/dev", "/run/svc", "/workspace"];
/** Directories that would take an instance's own away. */
const asWholes = ["/", "/run", "/tmp", "/etc"];
/** What every instance sees of the host. */
const seenAnyway = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/**
 * @param own directories and files of the service, which are never shown
 * @returns place inside → place on the host
 * @throws LaunchFailure for what is not there, or may not be shown
 */
export function shownFiles(paths: readonly string[], own: readonly string[]): Record<string, string> {
  const ours = own.flatMap((path) => real(path) ?? []);
  const files: Record<string, string> = {};
  for (const path of paths) {
    if (seenAnyway.some((directory) => isWithin(path, directory))) continue;
    if (!path.startsWith("/") || asWholes.includes(path) || /(^|\/)\.{1,2}(\/|$)|\0/.test(path))
      throw refused(path, "is no place that can be shown");
    const source = real(path);
    if (source === null) throw refused(path, "is not there");
    if ([path, source].some((each) => notTheHosts.some((directory) => isWithin(each, directory)))) {
      throw refused(path, "lies where an instance has directories of its own");
    }
    if (ours.some((each) => isWithin(each, source) || isWithin(source, each)))
      throw refused(path, "holds files of the service");
    files[path] = source;
  }
  return files;
}

const refused = (path: string, reason: string) => new LaunchFailure("runtime_error", `${path} ${reason}`);

/** Null: there is none. */
function real(path: string): string | null {
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return null;
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}
