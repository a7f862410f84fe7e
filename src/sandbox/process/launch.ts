/** From what the port is asked to what the supervisor is told. */
import { join } from "node:path";
import type { InstanceSpec } from "../port.ts";
import { agentOwner, type Bubblewrap, bubblewrapArguments, inside } from "./bubblewrap.ts";
import type { CgroupParents } from "./cgroup.ts";
import type { LaunchPlan, Layout } from "./layout.ts";
import { fitsArgument, instanceEnvironment, startCommand, startText } from "./start.ts";

/** Host paths of what instances run. */
export interface ProgramFiles {
  readonly bun: string;
  readonly bootstrap: string;
  /** Run instead of the bootstrap. */
  readonly program?: readonly string[];
}

export interface PlannedLaunch {
  readonly plan: LaunchPlan;
  /** True when the prompt has to be written to the instance's file `prompt`. */
  readonly promptFile: boolean;
  /** Variables that could not be handed over. */
  readonly leftOut: readonly string[];
}

export function planLaunch(
  spec: InstanceSpec,
  layout: Layout,
  programs: ProgramFiles,
  bubblewrap: Bubblewrap | null,
  cgroups: CgroupParents | null,
): PlannedLaunch {
  const workspace = layout.workspace(spec.executionId);
  const prompt = join(layout.instance(spec.instanceId), "prompt");
  const asArgument = fitsArgument(spec.prompt);
  const contained = bubblewrap !== null;
  const { environment, leftOut } = instanceEnvironment(spec.environment, {
    workspace: contained ? inside.workspace : workspace,
    gatewaySockets: contained ? inside.gateway : layout.gateway,
    promptFile: asArgument ? null : contained ? inside.prompt : prompt,
    relay: contained,
  });
  const [bun, bootstrap] = contained
    ? [join(inside.programs, "bun"), join(inside.programs, "bootstrap.js")]
    : [programs.bun, programs.bootstrap];
  // Nothing in the workspace or in the agent's home may configure the bootstrap.
  const program = programs.program ?? [bun, "--no-env-file", "--config=/dev/null", bootstrap];
  const argv = asArgument ? [...program, spec.prompt] : program;
  const files = {
    [join(inside.programs, "bun")]: programs.bun,
    [join(inside.programs, "bootstrap.js")]: programs.bootstrap,
    ...(asArgument ? {} : { [inside.prompt]: prompt }),
  };
  return {
    plan: {
      instanceId: spec.instanceId,
      executionId: spec.executionId,
      workspace,
      limits: spec.limits,
      cgroups,
      contained,
      command: contained
        ? [
            bubblewrap.path,
            ...bubblewrapArguments(bubblewrap, layout, { limits: spec.limits, workspace, files, argv: startCommand }),
          ]
        : startCommand,
      start: startText(
        environment,
        argv,
        programs.program === undefined ? "/" : contained ? inside.workspace : workspace,
      ),
      mark: contained ? null : `SVC_WORKSPACE=${workspace}`,
      owner: agentOwner(bubblewrap),
      stdin: asArgument ? null : prompt,
    },
    promptFile: !asArgument,
    leftOut,
  };
}
