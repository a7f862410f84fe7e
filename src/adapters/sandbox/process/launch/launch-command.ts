/** A command's launch: bubblewrap or nothing. */

import { join } from "node:path";
import { agentUser } from "../../../../lib/files/agent-files.ts";
import { socketFolder } from "../../../../lib/sockets/tenant-sockets.ts";
import { proxiedFlag } from "../../../../programs/init/proxied.ts";
import { streamsFlag } from "../../../../programs/init/streams.ts";
import { checkCommand, commandEnvironment, measuredDirectory } from "../../command.ts";
import { type Command, type InstanceSpec, LaunchFailure } from "../../instance.ts";
import { instancePaths } from "../../instance-environment.ts";
import { agentOwner, type Bubblewrap, bubblewrapCommand, heldBy } from "../bubblewrap/bubblewrap.ts";
import { shownFiles } from "../bubblewrap/shown-files.ts";
import type { CgroupParents } from "../cgroup.ts";
import type { Layout, PlannedLaunch, ProgramFiles } from "../layout.ts";
import { commandText, startCommand } from "./start-text.ts";

/** @throws LaunchFailure for what this host cannot give the command */
export function planCommand(
  spec: InstanceSpec,
  command: Command,
  layout: Layout,
  programs: ProgramFiles,
  bubblewrap: Bubblewrap | null,
  cgroups: CgroupParents | null,
  own: readonly string[],
): PlannedLaunch {
  if (bubblewrap === null) {
    throw new LaunchFailure("sandbox_unavailable", "Nothing on this node can hold a command: bubblewrap does not work");
  }
  const environment = commandEnvironment(spec);
  checkCommand(command, environment);
  if (command.user !== null && command.user !== agentUser) {
    throw new LaunchFailure("runtime_error", `Without containers a command runs as user ${agentUser}`);
  }
  const { argv, files } = behindOurs(spec, command, programs, own);
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

/** Behind the program of ours that it needs, if any, and with what is shown to it. */
function behindOurs({ egress }: InstanceSpec, command: Command, { bun, init }: ProgramFiles, own: readonly string[]) {
  const { argv, streams } = command;
  if (egress === null && streams === undefined) return { argv, files: {} };
  const within = { bun: join(instancePaths.programs, "bun"), init: join(instancePaths.programs, "init.js") };
  const flags =
    streams === undefined
      ? [proxiedFlag, instancePaths.egress]
      : [streamsFlag, instancePaths.streams, egress === null ? "-" : instancePaths.egress];
  return {
    // Nothing in the workspace may configure our program.
    argv: [within.bun, "--no-env-file", "--config=/dev/null", within.init, ...flags, ...argv],
    files: {
      [within.bun]: bun,
      [within.init]: init,
      ...(streams === undefined
        ? {}
        : { ...shownFiles(streams.shown, own), [instancePaths.streams]: streams.directory }),
    },
  };
}
