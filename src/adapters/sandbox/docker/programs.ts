/** Our programs as containers get them: bundled and gathered once at boot, named by their content. */
import { chmodSync, existsSync } from "node:fs";
import { basename, join } from "node:path";
import { writeAtomically } from "../../../lib/files/json-file.ts";
import { bundleProgram } from "../../../programs/bundle.ts";
import { type InstanceSpec, LaunchFailure } from "../instance.ts";
import { instancePaths } from "../instance-environment.ts";
import { quoted } from "../process/launch/start-text.ts";
import { programInside } from "./container-options.ts";
import type { ContainerPaths } from "./paths.ts";
import { gatherRuntime, interpreterOf, runtimeCommand } from "./runtime-files.ts";

// Nothing in the workspace or in the image may configure our programs.
const flags = ["--no-env-file", "--config=/dev/null"];

export interface ContainerPrograms {
  /** Command of a container's first process. */
  readonly keeper: readonly string[];
  readonly bootstrap: readonly string[];
  readonly init: readonly string[];
  readonly hand: readonly string[];
  /** Host path of the shell script that calls the bootstrap. */
  readonly bootstrapScript: string;
}

/** @throws when a program does not build, or this process's own executable cannot be read */
export async function gatherPrograms(paths: ContainerPaths): Promise<ContainerPrograms> {
  const [runtime, ...scripts] = await Promise.all([
    gatherRuntime(paths.programs),
    bundleProgram(paths.dataDir, "keeper"),
    bundleProgram(paths.dataDir, "bootstrap"),
    bundleProgram(paths.dataDir, "init"),
    bundleProgram(paths.dataDir, "hand"),
  ]);
  const bun = runtimeCommand(programInside(runtime), interpreterOf(process.execPath) !== null);
  const [keeper = "", bootstrap = "", init = "", hand = ""] = scripts.map((path) => programInside(basename(path)));
  const bootstrapCommand = [...bun, ...flags, bootstrap];
  const text = `#!/bin/sh\nexec ${bootstrapCommand.map(quoted).join(" ")} "$@"\n`;
  const hash = new Bun.CryptoHasher("sha256").update(text).digest("hex").slice(0, 16);
  const bootstrapScript = join(paths.programs, `svc-bootstrap-${hash}`);
  if (!existsSync(bootstrapScript)) await writeAtomically(bootstrapScript, text);
  // Not at its writing: the service's own umask may be stricter.
  chmodSync(bootstrapScript, 0o755);
  return {
    keeper: [...bun, "--smol", ...flags, keeper],
    bootstrap: bootstrapCommand,
    init: [...bun, ...flags, init],
    hand: [...bun, ...flags, hand],
    bootstrapScript,
  };
}

/**
 * What runs in the container, without the prompt.
 * @param program replaces the bootstrap
 */
export function programOf(
  spec: Pick<InstanceSpec, "bootstrapPath" | "startupScript" | "egress">,
  programs: ContainerPrograms,
  program: readonly string[] | undefined,
): { readonly argv: readonly string[]; readonly cwd: string } {
  const { bootstrapPath } = spec;
  if (bootstrapPath?.includes("\0")) throw new LaunchFailure("runtime_error", "bootstrap_path is no path");
  const replacement = bootstrapPath === null ? program : [bootstrapPath];
  if (replacement === undefined) return { argv: programs.bootstrap, cwd: "/" };
  const needsInit = bootstrapPath !== null || spec.startupScript !== null || spec.egress !== null;
  return { argv: needsInit ? [...programs.init, ...replacement] : replacement, cwd: instancePaths.workspace };
}
