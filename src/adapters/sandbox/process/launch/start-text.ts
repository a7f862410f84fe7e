/**
 * The shell text between the supervisor and the program. The part that holds the environment reaches the shell by
 * descriptor 3, so the token is in no file that the agent can open and in no argument list that another user of the host
 * could read.
 */
import type { InstanceLimits } from "../../instance.ts";

/** Reads the start text from descriptor 3 and becomes what it says. */
export const startCommand = ["/bin/sh", "-c", 'eval "$(cat <&3)"'] as const;

/** @param cwd directory the program starts in; a command's own directory is the bootstrap's business */
export function startText(environment: Readonly<Record<string, string>>, argv: readonly string[], cwd: string): string {
  const assignments = Object.entries(environment).map(([name, value]) => quoted(`${name}=${value}`));
  return [
    "exec 3<&-",
    `cd ${quoted(cwd)}`,
    `exec /usr/bin/env -i -- ${[...assignments, ...argv.map(quoted)].join(" ")}`,
  ].join("\n");
}

/**
 * Likewise for a command, which starts in its own directory. Exit code 126 when it cannot be entered, or when `argv[0]`
 * cannot be run; 127 when there is no such program.
 */
export function commandText(
  environment: Readonly<Record<string, string>>,
  argv: readonly string[],
  cwd: string,
): string {
  const assignments = Object.entries(environment).map(([name, value]) => quoted(`${name}=${value}`));
  // A program with such a name would pass for one more variable.
  const named = argv[0]?.includes("=") ? ["/bin/sh", "-c", 'exec "$@"', "sh", ...argv] : argv;
  return [
    "exec 3<&-",
    `cd ${quoted(cwd)} || exit 126`,
    `exec /usr/bin/env -i -- ${[...assignments, ...named.map(quoted)].join(" ")}`,
  ].join("\n");
}

/** One word of a shell command. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/**
 * What a process may have for itself beyond the instance's limit where that is only watched: our own programs reserve
 * some 2.2 GiB at least that they never touch (with less they do not start), and each thread of a program its stack.
 */
const reservedBytes = 3_072 * 1_024 * 1_024;
/** Descriptors of a process there: each pipe and socket keeps memory that is not counted. */
const watchedDescriptors = 1_024;

/**
 * What a process can only do to itself: enters the control groups, sets what per-process limits can bound, and becomes the command.
 * The text that starts the program itself comes by descriptor 3.
 * @param keepsMemory whether a control group keeps the memory limit
 */
export function supervisorScript(groups: readonly string[], limits: InstanceLimits, keepsMemory: boolean): string {
  const fileBlocks = Math.ceil(limits.diskBytes / 512);
  return [
    ...groups.map((group) => `echo $$ > ${quoted(`${group}/cgroup.procs`)} || exit 125`),
    "umask 022",
    "ulimit -c 0",
    `ulimit -f ${fileBlocks}`,
    ...(keepsMemory
      ? []
      : [`ulimit -d ${Math.ceil((limits.memoryBytes + reservedBytes) / 1_024)}`, `ulimit -n ${watchedDescriptors}`]),
    'exec "$@"',
  ].join("\n");
}
