/** Directories of the host that an agent's manifest opens, mounted beside its volumes. */

import type { Plan } from "../../../../actors/execution/start/plan.ts";
import { mountPoints } from "../../../../actors/policy/filesystem/mounts.ts";
import {
  type HostPathRules,
  hostDirectory,
  type InstanceMount,
  LaunchFailure,
} from "../../../adapters/sandbox/port.ts";

type Opened = Pick<Plan, "host_mounts" | "filesystem">;

/**
 * As the plan and the policy have them; what the policy hides is not mounted.
 * @throws LaunchFailure `volume_error` for one that cannot be mounted now, or of which a policy would show parts
 */
export function hostMounts({ host_mounts = [], filesystem }: Opened, rules: HostPathRules): InstanceMount[] {
  return host_mounts.flatMap((mount): InstanceMount[] => {
    const { mount_path: target, host_path } = mount;
    const [point, ...parts] = mountPoints([mount], filesystem);
    if (parts.length > 0) {
      throw new LaunchFailure(
        "volume_error",
        `${target} is a directory of the host: it shows as a whole or not at all`,
      );
    }
    if (point === undefined || point.access === "hidden") return [];
    const source = hostDirectory(host_path, target, rules);
    return [{ source, target, readOnly: point.access === "read-only", isOfHost: true }];
  });
}

/** The volumes of a run with directories of the host among them, the shortest targets first. */
export function withHostMounts(volumes: readonly InstanceMount[], opened: readonly InstanceMount[]): InstanceMount[] {
  const isTaken = (target: string) => opened.some((mount) => mount.target === target);
  return [...volumes.filter(({ target }) => !isTaken(target)), ...opened].sort(
    (one, other) => one.target.length - other.target.length,
  );
}
