/** Where the calls of a loop stand that people are asked about, and what people have granted for later ones. */
import type { AskedApproval } from "../../../policy/security/clearance.ts";
import type { DispatchPlaces } from "../../messages.ts";
import type { ExecutionState, Loop, PendingCall, Remembered } from "../../state.ts";

/** An approval of it is open. */
export const isWaiting = ({ wait }: PendingCall): boolean => wait !== undefined && wait.approval !== null;

/** Whether it keeps others from starting beside it: it runs, is judged, or is looked at before it waits or runs. */
export const isUnderWay = ({ started_at, panel, wait }: PendingCall): boolean =>
  started_at !== null || panel !== null || (wait !== undefined && wait.activity !== null);

/** The approval that has to be asked for next, as far as that is known; null: all have been given, or none is needed. */
export function nextAsk({ clearance, wait }: PendingCall): AskedApproval | null {
  return wait === undefined ? null : ((wait.asks ?? clearance?.approvals ?? [])[wait.agreed] ?? null);
}

/** Whether a person is to be asked, or it has to be found out whether one is. */
export const needsPeople = (call: PendingCall): boolean => call.wait?.stale === true || nextAsk(call) !== null;

/** Whether people have been asked about it and have agreed. */
export const isApproved = (call: PendingCall): boolean => wasAsked(call) && !needsPeople(call);

/** Whether people have said, or have granted before, that it may run with some arguments. */
export const wasAsked = ({ wait }: PendingCall): boolean =>
  wait !== undefined && (wait.agreed > 0 || wait.edited !== null);

/** What the gateway takes before it hands a command out; nothing where nothing counts it. */
export function placesOf(call: PendingCall): { readonly places?: DispatchPlaces } {
  const of = call.clearance?.places ?? [];
  return of.length === 0 ? {} : { places: { of, waits: isApproved(call) } };
}

/** Calls of one execution that wait at once. */
export const maxWaiting = 8;

/** Calls of a loop that wait, or are about to. */
export const waitsOf = (loop: Loop): number =>
  loop.calls.filter((call) => isWaiting(call) || (call.wait?.activity ?? null) !== null).length;

interface Found {
  /** The open approval that ends first. */
  readonly next: { readonly approval_id: string; readonly tool: string; readonly expires_at: number } | null;
  /** At least one call waits and none is under way; calls that have not begun wait for those. */
  readonly allWait: boolean;
}

export function callsWaiting({ iteration: { loop }, asked_outside: outside = [] }: ExecutionState, now: number): Found {
  const calls = loop?.phase === "running_tools" || loop?.phase === "awaiting_result" ? loop.calls : [];
  const open = calls.flatMap(({ tool, wait }) =>
    wait?.approval ? [{ approval_id: wait.approval.id, tool, expires_at: wait.approval.expires_at }] : [],
  );
  // The news that one has ended may be late.
  const others = outside.filter(({ expires_at }) => expires_at > now);
  const [next = null] = [...open, ...others].sort((one, other) => one.expires_at - other.expires_at);
  const first = next && { approval_id: next.approval_id, tool: next.tool, expires_at: next.expires_at };
  return { next: first, allWait: open.length > 0 && !calls.some(isUnderWay) };
}

/** Grants kept; where there are more, the oldest are asked about again. */
const maxRemembered = 256;

export function remember(state: ExecutionState, grant: Remembered): void {
  state.remembered = [...(state.remembered ?? []), grant].slice(-maxRemembered);
}
