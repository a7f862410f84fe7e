/** From the volumes of a run to the directories that an instance mounts. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { MountPlan } from "../../../../actors/execution/start/plan.ts";
import { type MountPoint, mountPoints } from "../../../../actors/policy/filesystem/mounts.ts";
import { segmentsOf } from "../../../../actors/policy/filesystem/pattern.ts";
import type { FilesystemRules } from "../../../../actors/policy/filesystem/policy.ts";
import { type InstanceMount, LaunchFailure } from "../../../adapters/sandbox/port.ts";
import { removeDirectory } from "../../../lib/files/remove-directory.ts";
import { type Directory, View, viewOf } from "../../tools/fs/port.ts";
import { makeVolumeDirectory, type VolumeLayout } from "../layout.ts";
import type { Places } from "../places/port.ts";

export interface MountedRun {
  readonly executionId: string;
  readonly mounts: readonly MountPlan[];
  readonly rules: FilesystemRules;
}

/** What is needed of the places to mount volumes. */
export type Staging = Pick<Places, "stage">;

/** Makes the directories of all volumes of a run. */
export async function makeVolumes(layout: VolumeLayout, places: Staging, mounts: readonly MountPlan[]): Promise<void> {
  for (const { storage_class, volume_id } of mounts) {
    if (storage_class === "ephemeral") await makeVolumeDirectory(layout.workspace(volume_id));
    else await places.stage(volume_id);
  }
}

/**
 * Makes everything that shall be mounted, and says what goes where: shortest targets first. Places to mount inner
 * directories on are the sandbox's to make.
 * @throws LaunchFailure `volume_error` when a link or a file is in the way of a mount
 */
export async function mountRun(layout: VolumeLayout, places: Staging, run: MountedRun): Promise<InstanceMount[]> {
  const { executionId, mounts, rules } = run;
  await makeVolumes(layout, places, mounts);
  const points = mountPoints(mounts, rules);
  const hidden = layout.hiddenOf(executionId);
  // Made anew: an earlier instance's inner mounts may have been others.
  if (points.some(({ access }) => access === "hidden")) await removeDirectory(hidden);
  const found: InstanceMount[] = [];
  for (const point of points) {
    const { target, access } = point;
    const mount = mounts.find(({ mount_path }) => mount_path === point.volume);
    if (mount === undefined) continue;
    if (access === "hidden") {
      const source = join(hidden, String(found.length));
      await mkdir(source, { recursive: true, mode: 0o755 });
      found.push({ source, target, readOnly: true });
    } else if (prepareWithin(layout, mount, point)) {
      const source = join(layout.directoryOf(mount), point.relative);
      found.push({ source, target, readOnly: access === "read-only" });
    }
  }
  return found;
}

/** What is there is mounted as it is; a writable place that is not is made. False: there is nothing to mount. */
function prepareWithin(layout: VolumeLayout, mount: MountPlan, { relative, access }: MountPoint): boolean {
  const names = segmentsOf(relative);
  if (names.length === 0) return true;
  return within(layout, mount, (view, root) => {
    if (isThere(view, root, names)) return true;
    if (access === "read-only") return false;
    makeAlong(view, root, names);
    return true;
  });
}

function within<T>(layout: VolumeLayout, mount: MountPlan, act: (view: View, root: Directory) => T): T {
  const host = layout.directoryOf(mount);
  using view = new View(viewOf(host, mount.mount_path));
  return view.at(mount.mount_path, { access: "write" }, ({ directory }) => act(view, directory));
}

function makeAlong(view: View, parent: Directory, [name, ...rest]: readonly string[]): void {
  if (name === undefined) return;
  if (view.kindOf({ directory: parent, name, shown: name }) === null) view.makeDirectory(parent, name);
  const next = view.enter(parent, name);
  if (next === null) throw inTheWay(parent, name);
  try {
    makeAlong(view, next, rest);
  } finally {
    view.leave(next);
  }
}

/** No link is followed: a mount must lie where the policy says. */
function isThere(view: View, parent: Directory, [name, ...rest]: readonly string[]): boolean {
  if (name === undefined) return true;
  const kind = view.kindOf({ directory: parent, name, shown: name });
  if (kind === null) return false;
  if (kind === "file" && rest.length === 0) return true;
  const next = kind === "directory" ? view.enter(parent, name) : null;
  if (next === null) throw inTheWay(parent, name);
  try {
    return isThere(view, next, rest);
  } finally {
    view.leave(next);
  }
}

function inTheWay({ at }: Directory, name: string): LaunchFailure {
  return new LaunchFailure("volume_error", `${join(at, name)} is no directory; nothing can be mounted there`);
}
