/** Where the calls of a loop stand that people are asked about. Pure reading of the state. */
import type { AskedApproval } from "../../policy/security/clearance.ts";
import type { ExecutionState, Loop, PendingCall } from "../state.ts";

/** An approval of it is open. */
export const isWaiting = ({ wait }: PendingCall): boolean => wait !== undefined && wait.approval !== null;

/** Whether it keeps others from starting beside it: it runs, is judged, or is looked at before it waits or runs. */
export const isUnderWay = ({ started_at, panel, wait }: PendingCall): boolean =>
  started_at !== null || panel !== null || (wait !== undefined && wait.activity !== null);

/** The approval that has to be asked for next; null: all have been given, or none is needed. */
export function nextAsk({ clearance, wait }: PendingCall): AskedApproval | null {
  return wait === undefined ? null : (clearance?.approvals[wait.agreed] ?? null);
}

/** Whether people have been asked about it and have agreed. */
export const isApproved = (call: PendingCall): boolean => call.wait !== undefined && nextAsk(call) === null;

/** Calls of a loop that wait, or are about to. */
export const waitsOf = (loop: Loop): number =>
  loop.calls.filter((call) => isWaiting(call) || (call.wait?.activity ?? null) !== null).length;

interface Found {
  /** The open approval that ends first. */
  readonly next: { readonly approval_id: string; readonly tool: string; readonly expires_at: number } | null;
  /** At least one call waits and none is under way; calls that have not begun wait for those. */
  readonly allWait: boolean;
}

export function callsWaiting({ iteration: { loop } }: ExecutionState): Found {
  const calls = loop?.phase === "running_tools" || loop?.phase === "awaiting_result" ? loop.calls : [];
  const open = calls.flatMap(({ tool, wait }) =>
    wait?.approval ? [{ approval_id: wait.approval.id, tool, expires_at: wait.approval.expires_at }] : [],
  );
  open.sort((one, other) => one.expires_at - other.expires_at);
  return { next: open[0] ?? null, allWait: open.length > 0 && !calls.some(isUnderWay) };
}
