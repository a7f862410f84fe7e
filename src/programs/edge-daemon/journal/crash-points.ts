/**
 * Named moments at which the daemon can be made to die, as by a power cut, so that tests show what is left: the variable
 * `SVC_EDGE_CRASH_AT` names one. Nothing else reads it, and it is not handed to commands.
 */
export const crashPoints = [
  "started-unwritten",
  "started-torn",
  "started-unsynced",
  "started-synced",
  "released",
  "ended",
  "finished-torn",
  "finished-unsynced",
  "finished-synced",
  "sent",
  "acknowledged",
  "compaction-unsynced",
  "compaction-synced",
  "compaction-renamed",
] as const;
export type CrashPoint = (typeof crashPoints)[number];

const wanted = process.env.SVC_EDGE_CRASH_AT;

export const isCrashWanted = (point: CrashPoint): boolean => wanted === point;

export function crashPoint(point: CrashPoint): void {
  if (isCrashWanted(point)) process.kill(process.pid, "SIGKILL");
}
