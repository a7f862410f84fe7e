/** What is the same for a command in every kind of sandbox. */
import { join, sep } from "node:path";
import { type Command, type InstanceMount, type InstanceSpec, LaunchFailure } from "./instance.ts";
import { instancePaths, longestString, proxyEnvironment } from "./instance-environment.ts";

/** Where a program is looked for when nothing else says so. */
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const defaults = { PATH: defaultPath, HOME: instancePaths.workspace } as const;
/** Of the end of each stream, in its result (docs/reference/workflows.md). */
export const commandOutputBytes = 1_024 * 1_024;
const largestUser = 2 ** 31 - 1;

/**
 * The whole environment of a command.
 * @param imageEnvironment what its image gives; its own variables win
 */
export function commandEnvironment(
  { environment, egress }: Pick<InstanceSpec, "environment" | "egress">,
  imageEnvironment: Readonly<Record<string, string>> = {},
): Record<string, string> {
  return { ...defaults, ...imageEnvironment, ...environment, ...(egress === null ? {} : proxyEnvironment(egress)) };
}

/**
 * @throws LaunchFailure `template_value_invalid` for what no program can be given, `runtime_error` for a user or a
 *   directory that is none
 */
export function checkCommand({ argv, workdir, user }: Command, environment: Readonly<Record<string, string>>): void {
  for (const [index, argument] of argv.entries()) checkString(argument, `argument ${index}`);
  for (const [name, value] of Object.entries(environment)) {
    if (name === "" || name.includes("=")) throw invalid("a variable has a name that is none");
    checkString(`${name}=${value}`, `variable ${name.slice(0, 64)}`);
  }
  if (argv.length === 0) throw invalid("there is no program");
  if (!workdir.startsWith("/") || workdir.includes("\0") || Buffer.byteLength(workdir) >= 4_096) {
    throw new LaunchFailure("runtime_error", "The working directory is no absolute path");
  }
  if (user !== null && !(Number.isInteger(user) && user >= 0 && user < largestUser)) {
    throw new LaunchFailure("runtime_error", "There is no such user");
  }
}

function checkString(text: string, what: string): void {
  if (text.includes("\0")) throw invalid(`${what} holds NUL`);
  if (Buffer.byteLength(text) >= longestString) throw invalid(`${what} takes ${longestString} bytes or more`);
}

const invalid = (reason: string) => new LaunchFailure("template_value_invalid", `The command cannot be run: ${reason}`);

/** Where what goes with a command lies on the host, by the id of the command. */
export function commandsFolder(dataDir: string): string {
  return join(dataDir, "commands");
}

/**
 * The host directory that counts as an instance's disk: an execution's implicit workspace, or a command's own. Volumes
 * have bounds of their own.
 * @param implicit the execution's workspace
 */
export function measuredDirectory(mounts: readonly InstanceMount[], dataDir: string, implicit: string): string | null {
  const own = mounts.find(({ source }) => source === implicit || source.startsWith(`${commandsFolder(dataDir)}${sep}`));
  return own?.source ?? null;
}
