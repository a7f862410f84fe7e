/** The processes of a command: stopped gently, ended for certain, and found again after the daemon's own death. */
import { carrying, family, isAlive, processes, signal } from "../../../lib/processes/process-table.ts";

/** In the environment of every process of a command. */
export const commandVariable = "SVC_EDGE_COMMAND_ID";

/**
 * Asks the processes of a command to end.
 * @param leader of the process group that the daemon spawned @param isWrapped whether it is bubblewrap, which must
 *   outlive the command it waits for
 */
export function terminate(leader: number, isWrapped: boolean): void {
  if (!isWrapped) {
    signal(-leader, "SIGTERM");
    return;
  }
  // The first process of the namespace and the one that watches it are bubblewrap's own.
  for (const { pid, parent } of family(leader)) if (pid !== leader && parent !== leader) signal(pid, "SIGTERM");
}

/** Ends every process of a command that can be found: the group, and what has left it. */
export function kill(leader: number, commandId: string): void {
  signal(-leader, "SIGKILL");
  for (const pid of carrying(`${commandVariable}=${commandId}`)) signal(pid, "SIGKILL");
}

/** Whether something of the command's group still runs. */
export const hasProcesses = (leader: number): boolean =>
  signal(-leader, 0) && (process.platform !== "linux" || processes().some(({ group }) => group === leader));

/** Ends what is left of a command that an earlier daemon ran; a later process of the same number is left alone. */
export function killSurvivors(leader: number, born: string | null, commandId: string): void {
  if (born !== null && isAlive({ pid: leader, born })) signal(-leader, "SIGKILL");
  for (const pid of carrying(`${commandVariable}=${commandId}`)) signal(pid, "SIGKILL");
}
