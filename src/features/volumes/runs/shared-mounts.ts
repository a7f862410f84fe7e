/**
 * Volumes that several executions mount at once.
 *
 * Where a policy makes only parts of a volume show, the parts are mounted by their paths on the host. An execution
 * that may write around such a part could put a link in its place at the very moment it is mounted. So executions
 * share a volume only if it shows alike in all of them, or as a whole in all of them.
 */
import type { MountPlan } from "../../../../actors/execution/start/plan.ts";
import { mountPoints } from "../../../../actors/policy/filesystem/mounts.ts";
import type { FilesystemRules } from "../../../../actors/policy/filesystem/policy.ts";
import { LaunchFailure } from "../../../adapters/sandbox/port.ts";
import type { VolumeRecords } from "../records.ts";

/** @param others executions of any tenant by id: whether they are still running */
export async function requireCompatible(
  records: Pick<VolumeRecords, "shape">,
  run: { readonly executionId: string; readonly mounts: readonly MountPlan[]; readonly rules: FilesystemRules },
  running: (executionIds: readonly string[]) => Promise<ReadonlySet<string>>,
): Promise<void> {
  const points = mountPoints(run.mounts, run.rules);
  for (const { storage_class, shared, volume_id, mount_path } of run.mounts) {
    if (storage_class !== "persistent" && shared !== true) continue;
    const mine = points.filter(({ volume }) => volume === mount_path);
    const parts = mine.filter(({ relative }) => relative !== "");
    // Said before looking at the others: of two that begin at once, at least one sees the other.
    const shape = parts.length === 0 ? whole : JSON.stringify(mine.map(({ relative, access }) => [relative, access]));
    const others = await records.shape(volume_id, run.executionId, shape);
    if (others.length === 0) continue;
    const alive = await running(others.map(({ execution_id }) => execution_id));
    if (!others.some(({ execution_id }) => alive.has(execution_id))) continue;
    throw new LaunchFailure("volume_error", `The volume at ${mount_path} is in use under another filesystem policy`);
  }
}

const whole = "whole";
