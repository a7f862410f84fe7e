/** Who may sign releases for this program: keys of its build, and those that the host's owner lists. */
import { realpathSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { Failure } from "../command/exit.ts";
import type { ReleaseKey } from "./release-source.ts";

/** Written into the program by its build (release/build.ts): JSON. */
declare const SVC_EDGE_RELEASE_KEYS: string | undefined;

export const builtInKeys: readonly ReleaseKey[] =
  typeof SVC_EDGE_RELEASE_KEYS === "string" ? JSON.parse(SVC_EDGE_RELEASE_KEYS) : [];

/**
 * The keys that count for who updates. Root starts what it installs: keys in a file that another user can change would
 * make that user root.
 *
 * @param listed in the configuration @param config path of that file
 * @throws Failure `authentication` where no key counts
 */
export function releaseKeys(
  listed: readonly ReleaseKey[],
  config: string,
  isRoot = process.getuid?.() === 0,
): readonly ReleaseKey[] {
  const other = isRoot && listed.length > 0 ? changeableAt(config) : null;
  const keys = [...builtInKeys, ...(other === null ? listed : [])];
  if (keys.length > 0) return keys;
  const reason =
    other === null
      ? "update.keys in the configuration is empty"
      : `another user than root can change ${other}, so the keys in ${config} do not count for root`;
  throw new Failure("authentication", `no key may sign releases: ${reason}`, "no_release_key");
}

/** The file, or the directory above it, that another user than root can change or replace; null: none is. */
function changeableAt(path: string): string | null {
  for (let at = realpathSync(path); ; at = dirname(at)) {
    const { uid, mode } = statSync(at);
    // In a sticky directory each user replaces only what is that user's.
    const isOpen = (mode & 0o022) !== 0 && (mode & 0o1000) === 0;
    if (uid !== 0 || isOpen) return at;
    if (at === dirname(at)) return null;
  }
}
