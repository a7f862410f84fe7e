/** What a state mounts in its sandbox (workflow contract, section 2). */

import { overlap } from "../../../agent/manifest/volumes.ts";
import type { Fields } from "../../../manifest/fields.ts";
import { normalPath } from "../../../manifest/members.ts";
import { isWithin } from "../../../policy/filesystem/mounts.ts";
import type { StateMount } from "../../definition.ts";
import type { Reading } from "../reading.ts";

const maxMounts = 32;
/** As states name the workspace. */
export const workspaceName = "workspace";

const plainPath = { min: 1, max: 1024, pattern: /^\/[^\p{Cc}*]*$/u, form: "an absolute path" };
/** Where the sandbox has its own. */
const taken = ["/proc", "/sys", "/dev", "/run"];

/** @param realm an agent's volumes lie at `/workspace` or below (agents contract 7.6); containers take them anywhere */
export function readMounts(state: Fields, reading: Reading, realm: "agent" | "container"): StateMount[] {
  const mounts: StateMount[] = [];
  for (const fields of state.sections("volumes", maxMounts)) {
    const name = readName(fields, reading);
    const mount_path = readPath(fields, realm);
    const read_only = fields.flag("read_only");
    fields.closeStrictly("a mounted volume");
    if (name === null || mount_path === null) continue;
    const overlapping = mounts.find((other) => overlap(mount_path, other.mount_path));
    if (overlapping !== undefined) fields.issue("mount_path", "overlaps another volume");
    mounts.push({ name, mount_path, read_only });
  }
  return mounts;
}

function readName(fields: Fields, { shared }: Reading): string | null {
  const name = fields.requiredText("name", { min: 1, max: 128 });
  if (name === null || name === workspaceName || shared.has(name)) return name;
  return fields.issue("name", "is not declared in spec.storage.shared_volumes");
}

function readPath(fields: Fields, realm: "agent" | "container"): string | null {
  const written = fields.requiredText("mount_path", plainPath);
  if (written === null) return null;
  const path = normalPath(written);
  if (path === null) return fields.issue("mount_path", "must be an absolute path without `..`");
  if (realm === "agent" && !isWithin(path, "/workspace")) {
    return fields.issue("mount_path", "must be /workspace or below");
  }
  const isFree = path !== "/" && !taken.some((place) => isWithin(path, place));
  return isFree ? path : fields.issue("mount_path", "is a place of the system");
}
