/** From what the port is asked to what the supervisor is told. */
import { join } from "node:path";
import { socketFolder } from "../../../../lib/sockets/tenant-sockets.ts";
import { measuredDirectory } from "../../command.ts";
import { type InstanceMount, type InstanceSpec, LaunchFailure } from "../../instance.ts";
import { fitsArgument, instancePaths, sandboxEnvironment } from "../../instance-environment.ts";
import { agentOwner, type Bubblewrap, bubblewrapCommand, heldBy } from "../bubblewrap/bubblewrap.ts";
import { type HostProgramRules, hostProgram, isWithin } from "../bubblewrap/host-program.ts";
import type { CgroupParents } from "../cgroup.ts";
import type { Layout, PlannedLaunch, ProgramFiles } from "../layout.ts";
import { planCommand } from "./launch-command.ts";
import { startCommand, startText } from "./start-text.ts";

/** What is given nowhere else. */
export const defaults = {
  PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  LANG: "C.UTF-8",
} as const;

/**
 * @param rules for programs of the host in place of the bootstrap
 * @throws LaunchFailure for what this host cannot give the instance
 */
export function planLaunch(
  spec: InstanceSpec,
  layout: Layout,
  programs: ProgramFiles,
  bubblewrap: Bubblewrap | null,
  cgroups: CgroupParents | null,
  rules: HostProgramRules,
): PlannedLaunch {
  if (spec.command !== null) {
    return planCommand(spec, spec.command, layout, programs, bubblewrap, cgroups, rules.own);
  }
  const contained = bubblewrap !== null;
  const workspace = spec.mounts.find(({ target }) => target === instancePaths.workspace);
  if (workspace === undefined) throw new LaunchFailure("volume_error", "Nothing is mounted at /workspace");
  if (!contained) refuseUnsandboxed(spec);
  const directory = layout.instance(spec.instanceId);
  const asArgument = fitsArgument(spec.prompt);
  const files = {
    ...(asArgument ? {} : { prompt: spec.prompt }),
    ...(spec.startupScript === null ? {} : { startup: spec.startupScript }),
  };
  const at = (name: "prompt" | "startup") =>
    name in files ? (contained ? instancePaths[name] : join(directory, name)) : null;
  const workspaceAt = contained ? instancePaths.workspace : workspace.source;
  const { environment, leftOut } = sandboxEnvironment(
    spec.environment,
    {
      workspace: workspaceAt,
      gatewaySockets: contained ? instancePaths.gateway : socketFolder(layout.gateway, spec.tenant),
      egressSockets: spec.egress === null ? null : instancePaths.egress,
      promptFile: at("prompt"),
      startupFile: at("startup"),
      relay: contained,
      egress: spec.egress,
    },
    defaults,
  );
  const mark = contained ? null : `SVC_INSTANCE_ID=${spec.instanceId}`;
  if (!contained) environment.SVC_INSTANCE_ID = spec.instanceId;
  const { argv, own } = commandOf(spec, programs, contained);
  const hostPrograms = hostProgramMounts(spec.bootstrapPath, contained ? null : workspace.source, rules);
  return {
    plan: {
      instanceId: spec.instanceId,
      executionId: spec.executionId,
      measured: measuredDirectory([workspace], layout.dataDir, layout.workspace(spec.executionId)),
      limits: spec.limits,
      cgroups,
      contained,
      command: contained ? bubblewrapCommand(bubblewrap, { argv: startCommand }) : startCommand,
      ...(contained
        ? heldBy(bubblewrap, layout, {
            limits: spec.limits,
            mounts: [...spec.mounts, ...hostPrograms],
            readOnlyRoot: spec.readOnlyRoot,
            gateway: socketFolder(layout.gateway, spec.tenant),
            egress: spec.egress === null ? null : socketFolder(layout.egress, spec.tenant),
            sharedMemory: true,
            files: {
              ...own,
              ...Object.fromEntries(
                Object.keys(files).map((name) => [join(instancePaths.programs, name), join(directory, name)]),
              ),
            },
            argv: startCommand,
          })
        : { options: null, filter: null, dataDir: layout.dataDir, sources: [], mountsOpened: false }),
      start: startText(
        environment,
        asArgument ? [...argv, spec.prompt] : argv,
        programs.program === undefined ? "/" : workspaceAt,
      ),
      mark,
      owner: agentOwner(bubblewrap),
      stdin: asArgument ? null : join(directory, "prompt"),
    },
    files,
    leftOut,
  };
}

/**
 * Without bubblewrap there is the workspace and nothing else: a read-only or a second mount, or a network policy,
 * would be a promise that nothing keeps.
 */
function refuseUnsandboxed({ mounts, readOnlyRoot, egress }: InstanceSpec): void {
  if (mounts.length > 1 || mounts.some(({ readOnly }) => readOnly) || readOnlyRoot) {
    throw new LaunchFailure("volume_error", "Without a sandbox there are no volumes and nothing can be read-only");
  }
  if (egress !== null) throw new LaunchFailure("runtime_error", "Without a sandbox no network policy can be enforced");
}

/** What runs inside, without the prompt, and the read-only files it needs there: path inside → path on the host. */
function commandOf(
  spec: InstanceSpec,
  programs: ProgramFiles,
  contained: boolean,
): { readonly argv: readonly string[]; readonly own: Readonly<Record<string, string>> } {
  const replacement = spec.bootstrapPath === null ? programs.program : [spec.bootstrapPath];
  const needsInit = spec.bootstrapPath !== null || spec.startupScript !== null || spec.egress !== null;
  if (replacement !== undefined && !needsInit) return { argv: replacement, own: {} };
  const script = replacement === undefined ? programs.bootstrap : programs.init;
  const host = { bun: programs.bun, script };
  const within = contained
    ? {
        bun: join(instancePaths.programs, "bun"),
        script: join(instancePaths.programs, replacement === undefined ? "bootstrap.js" : "init.js"),
      }
    : host;
  return {
    // Nothing in the workspace or in the agent's home may configure our programs.
    argv: [within.bun, "--no-env-file", "--config=/dev/null", within.script, ...(replacement ?? [])],
    own: {
      [within.bun]: host.bun,
      [within.script]: host.script,
      ...(contained ? { [instancePaths.hand]: programs.hand } : {}),
    },
  };
}

/**
 * The program of the host that `bootstrap_path` names, in the place that it has there.
 * @param workspace without a sandbox: the directory that the program sees as its own
 * @throws LaunchFailure for what no agent may run or read
 */
function hostProgramMounts(path: string | null, workspace: string | null, rules: HostProgramRules): InstanceMount[] {
  if (path === null || (workspace !== null && isWithin(path, workspace))) return [];
  const found = hostProgram(path, rules);
  if (found.kind === "refused") throw new LaunchFailure("runtime_error", `bootstrap_path ${found.reason}`);
  return found.kind === "file" ? [{ source: found.source, target: path, readOnly: true }] : [];
}
