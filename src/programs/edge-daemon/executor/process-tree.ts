/** The processes of a command: stopped gently, ended for certain, and found again after the daemon's own death. */
import { family, isAlive, processesCarrying, signal } from "../../../lib/processes/process-table.ts";

/** In the environment of every process of a command. */
export const commandVariable = "SVC_EDGE_COMMAND_ID";

/**
 * Asks the processes of a command to end.
 * @param leader of the process group that the daemon spawned @param isIsolated whether it is bubblewrap, which must
 *   outlive the command it waits for
 */
export function terminate(leader: number, isIsolated: boolean): void {
  if (!isIsolated) {
    signal(-leader, "SIGTERM");
    return;
  }
  // The first process of the namespace and the one that watches it are bubblewrap's own.
  for (const { pid, parent } of family(leader)) if (pid !== leader && parent !== leader) signal(pid, "SIGTERM");
}

/**
 * Ends every process of a command that can be found: the group at once, what has left it soon after.
 * @param isIsolated whether all of them end with the group
 */
export function kill(leader: number, commandId: string, isIsolated: boolean): void {
  signal(-leader, "SIGKILL");
  if (!isIsolated) sweep(commandId);
}

export const hasProcesses = (leader: number): boolean => signal(-leader, 0);

/** Ends what is left of a command that an earlier daemon ran; a later process of the same number is left alone. */
export function killSurvivors(leader: number, born: string | null, commandId: string): void {
  if (born !== null && isAlive({ pid: leader, born })) signal(-leader, "SIGKILL");
  killCarrying(new Set([commandId]));
}

const waiting = new Set<string>();

/** To look at all processes of a machine takes long: once for all commands that end at the same time. */
function sweep(commandId: string): void {
  waiting.add(commandId);
  if (waiting.size > 1) return;
  setTimeout(() => {
    const ids = new Set(waiting);
    waiting.clear();
    killCarrying(ids);
  }, 10);
}

function killCarrying(ids: ReadonlySet<string>): void {
  for (const pid of processesCarrying(commandVariable, (id) => ids.has(id))) signal(pid, "SIGKILL");
}
