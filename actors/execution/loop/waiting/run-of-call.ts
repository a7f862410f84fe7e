/** The run of a call on an edge host: it has the id of the call's record. */
import { fleetRunProtocol } from "../../../fleet-run/messages.ts";
import type { PendingCall } from "../../state.ts";
import type { ExecutionTurn } from "../../turn.ts";

/** Nothing of what the call does on a host is wanted any more. */
export function cancelRun(turn: ExecutionTurn, { clearance }: PendingCall, reason: string): void {
  if (clearance?.on_host !== true) return;
  turn.tell(fleetRunProtocol, clearance.invocation_id, "cancel", { by: null, reason });
}
