/** A command's launch: bubblewrap or nothing. */

import { join } from "node:path";
import { agentUser } from "../../../lib/files/agent-files.ts";
import { socketFolder } from "../../../lib/sockets/tenant-sockets.ts";
import { proxiedFlag } from "../../../programs/init/proxied.ts";
import { checkCommand, commandEnvironment, measuredDirectory } from "../command.ts";
import { type Command, type InstanceSpec, LaunchFailure } from "../instance.ts";
import { instancePaths } from "../instance-environment.ts";
import { agentOwner, type Bubblewrap, bubblewrapCommand, heldBy } from "./bubblewrap.ts";
import type { CgroupParents } from "./cgroup.ts";
import type { Layout, PlannedLaunch, ProgramFiles } from "./layout.ts";
import { commandText, startCommand } from "./start-text.ts";

/** @throws LaunchFailure for what this host cannot give the command */
export function planCommand(
  spec: InstanceSpec,
  command: Command,
  layout: Layout,
  programs: ProgramFiles,
  bubblewrap: Bubblewrap | null,
  cgroups: CgroupParents | null,
): PlannedLaunch {
  if (bubblewrap === null) {
    throw new LaunchFailure("sandbox_unavailable", "Nothing on this node can hold a command: bubblewrap does not work");
  }
  const environment = commandEnvironment(spec);
  checkCommand(command, environment);
  if (command.user !== null && command.user !== agentUser) {
    throw new LaunchFailure("runtime_error", `Without containers a command runs as user ${agentUser}`);
  }
  const { argv, files } = spec.egress === null ? { argv: command.argv, files: {} } : proxied(command, programs);
  return {
    plan: {
      instanceId: spec.instanceId,
      executionId: spec.executionId,
      measured: measuredDirectory(spec.mounts, layout.dataDir, layout.workspace(spec.executionId)),
      limits: spec.limits,
      cgroups,
      contained: true,
      isCommand: true,
      command: bubblewrapCommand(bubblewrap, { argv: startCommand }),
      ...heldBy(bubblewrap, layout, {
        limits: spec.limits,
        mounts: spec.mounts,
        readOnlyRoot: spec.readOnlyRoot,
        gateway: null,
        egress: spec.egress === null ? null : socketFolder(layout.egress, spec.tenant),
        // The root is read-only for every command here.
        sharedMemory: false,
        files,
        argv: startCommand,
      }),
      start: commandText(environment, argv, command.workdir),
      mark: null,
      owner: agentOwner(bubblewrap),
      stdin: null,
    },
    files: {},
    leftOut: [],
  };
}

/** Behind the program that makes the proxy's address answer inside. */
function proxied({ argv }: Command, { bun, init }: ProgramFiles) {
  const within = { bun: join(instancePaths.programs, "bun"), init: join(instancePaths.programs, "init.js") };
  return {
    // Nothing in the workspace may configure our program.
    argv: [within.bun, "--no-env-file", "--config=/dev/null", within.init, proxiedFlag, instancePaths.egress, ...argv],
    files: { [within.bun]: bun, [within.init]: init },
  };
}
