/** The few shell lines between the supervisor and the instance: what a process can only do to itself. */

import type { InstanceLimits } from "../../instance.ts";
import { quoted } from "../start.ts";

/**
 * Enters the control groups, sets what per-process limits can bound, and becomes the command.
 * The text that starts the program itself comes by descriptor 3.
 */
export function startScript(groups: readonly string[], limits: InstanceLimits): string {
  const fileBlocks = Math.ceil(limits.diskBytes / 512);
  return [
    ...groups.map((group) => `echo $$ > ${quoted(`${group}/cgroup.procs`)} || exit 125`),
    "umask 022",
    "ulimit -c 0",
    `ulimit -f ${fileBlocks}`,
    'exec "$@"',
  ].join("\n");
}
