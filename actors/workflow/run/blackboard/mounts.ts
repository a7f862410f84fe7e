/** Where a run's volumes are mounted in what a state starts. */
import type { MountPlan } from "../../../execution/start/plan.ts";
import type { StateMount } from "../../definition/parts.ts";

/** As states name the volume that every one of them has. */
const workspaceName = "workspace";
const workspacePath = "/workspace";

/**
 * The workspace at `/workspace`, if the run has one, and what the state mounts besides, shortest paths first. Of
 * several volumes at one path the one that the state names last counts, before the workspace.
 * @param volumes of the run's header
 */
export function mountsOf(volumes: readonly MountPlan[], wanted: readonly StateMount[] = []): MountPlan[] {
  const workspace = volumes.find(({ mount_path }) => mount_path === workspacePath);
  const mounts = new Map<string, MountPlan>();
  if (workspace !== undefined) mounts.set(workspacePath, workspace);
  for (const { name, mount_path, read_only } of wanted) {
    const volume = name === workspaceName ? workspace : volumes.find((one) => one !== workspace && one.name === name);
    if (volume === undefined) continue;
    const access_mode = read_only ? "read-only" : volume.access_mode;
    mounts.set(mount_path, { ...volume, mount_path, access_mode });
  }
  return [...mounts.values()].sort((one, other) => one.mount_path.length - other.mount_path.length);
}
