/** The released version before this one, from the history of the repository. */
import { rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { scratch } from "../../harness/scratch.ts";

const root = join(import.meta.dir, "../../..");

/**
 * The commit of the former release. Raise it with each release, to the commit that was released: nodes of that version and
 * of this one must run side by side, and migrations may take away only what that one does without.
 */
const formerRelease = "529e92dbe69633767449238ea41fcfb9aedcb620";

/**
 * Its service in a temporary folder, with the packages that are installed here.
 * @returns null where the history does not reach back to it, as in a shallow clone
 */
export function formerCheckout(): string | null {
  const git = (...args: string[]) => Bun.spawnSync(["git", "-C", root, ...args]);
  if (!git("cat-file", "-e", `${formerRelease}^{commit}`).success) return null;
  const folder = scratch("former-release");
  const archive = git("archive", formerRelease, "src", "actors", "package.json", "tsconfig.json");
  const unpacked = Bun.spawnSync(["tar", "x", "-C", folder], { stdin: archive.stdout });
  if (!archive.success || !unpacked.success) throw new Error(`${archive.stderr}${unpacked.stderr}`);
  rmSync(join(folder, "node_modules"), { force: true });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  return folder;
}
