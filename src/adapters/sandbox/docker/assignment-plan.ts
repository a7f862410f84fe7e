/** From what the port is asked to the assignment a keeper gets, and the files beside it. */
import { join } from "node:path";
import { proxiedFlag } from "../../../programs/init/proxied.ts";
import { commandEnvironment } from "../command.ts";
import { type Command, type InstanceSpec, LaunchFailure } from "../instance.ts";
import { fitsArgument, instancePaths, sandboxEnvironment } from "../instance-environment.ts";
import { type Assignment, controlInside } from "./keeper/protocol.ts";
import { type ContainerPrograms, programOf } from "./programs.ts";

/** What is given nowhere else. */
export const defaults = {
  PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  LANG: "C.UTF-8",
} as const;

export interface PlannedAssignment {
  readonly assignment: Assignment;
  /** Files to write into the control directory: name → content. */
  readonly files: Readonly<Record<string, string>>;
  /** Variables that could not be handed over. */
  readonly leftOut: readonly string[];
}

/** @param imageEnvironment `NAME=value` that the image gives; the execution's own variables win */
export function planAssignment(
  spec: InstanceSpec,
  programs: ContainerPrograms,
  program: readonly string[] | undefined,
  imageEnvironment: readonly string[],
): PlannedAssignment {
  if (spec.command !== null) return planCommand(spec, spec.command, programs, readImageEnvironment(imageEnvironment));
  const asArgument = fitsArgument(spec.prompt);
  const files = {
    ...(asArgument ? {} : { prompt: spec.prompt }),
    ...(spec.startupScript === null ? {} : { startup: spec.startupScript }),
  };
  const at = (name: "prompt" | "startup") => (name in files ? join(controlInside, name) : null);
  const { environment, leftOut } = sandboxEnvironment(
    spec.environment,
    {
      workspace: instancePaths.workspace,
      gatewaySockets: instancePaths.gateway,
      egressSockets: spec.egress === null ? null : instancePaths.egress,
      promptFile: at("prompt"),
      startupFile: at("startup"),
      relay: true,
      egress: spec.egress,
    },
    { ...defaults, ...readImageEnvironment(imageEnvironment) },
  );
  const { argv, cwd } = programOf(spec, programs, program);
  return {
    assignment: {
      argv: asArgument ? [...argv, spec.prompt] : argv,
      environment,
      cwd,
      stdin: at("prompt"),
      isCommand: false,
    },
    files,
    leftOut,
  };
}

/** With a way out it runs behind the program that makes the proxy's address answer inside. */
function planCommand(
  spec: InstanceSpec,
  command: Command,
  { init }: ContainerPrograms,
  imageEnvironment: Readonly<Record<string, string>>,
): PlannedAssignment {
  if (command.streams !== undefined) {
    throw new LaunchFailure("sandbox_unavailable", "In a container no command gets streams of a node");
  }
  const environment = commandEnvironment(spec, imageEnvironment);
  const argv = spec.egress === null ? command.argv : [...init, proxiedFlag, instancePaths.egress, ...command.argv];
  return {
    assignment: { argv, environment, cwd: command.workdir, stdin: null, isCommand: true },
    files: {},
    leftOut: [],
  };
}

/** Without what would change our own programs, or pass for a variable of ours. */
export function readImageEnvironment(entries: readonly string[]): Record<string, string> {
  const pairs = entries.flatMap((entry) => {
    const at = entry.indexOf("=");
    const name = entry.slice(0, Math.max(0, at));
    return /^((SVC|AEGIS|BUN)_.*|LD_PRELOAD|LD_AUDIT|NODE_OPTIONS|HOME|)$/.test(name)
      ? []
      : [[name, entry.slice(at + 1)] as const];
  });
  return Object.fromEntries(pairs);
}
