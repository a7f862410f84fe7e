/**
 * Calls that run on edge hosts and whose runs ask people before they begin. The run has its own approval; the call waits
 * with it, as for one of its own, and is made again when it was given: then it joins the run.
 */
import { approvalProtocol, ownerOf } from "../../../approval/messages.ts";
import type { HeldRun } from "../../activities.ts";
import { executionProtocol } from "../../messages.ts";
import type { Loop, PendingCall } from "../../state.ts";
import type { ExecutionTurn } from "../../turn.ts";
import { cancelRun } from "./run-of-call.ts";
import { maxWaiting, waitsOf } from "./wait-state.ts";
import { note, refuseFull, unasked } from "./waiting.ts";

/** The call has begun, and its run waits for people. */
export function heldByRun(turn: ExecutionTurn, loop: Loop, call: PendingCall, held: HeldRun): void {
  const { fleet_command_id: run, approval_id: id, expires_at } = held;
  call.started_at = null;
  call.begun = true;
  // What is done when it goes on is another piece of work.
  call.activity = `${call.activity}:on`;
  if (waitsOf(loop) >= maxWaiting) {
    cancelRun(turn, call, "too_many_waiting");
    refuseFull(turn, loop, call, "execution");
    return;
  }
  call.wait = { ...(call.wait ?? { ...unasked, given: [] }), approval: { id, expires_at, on_timeout: "reject", run } };
  turn.tell(approvalProtocol, id, "watch", { owner: ownerOf(executionProtocol, turn.executionId) });
  note(turn, "tool_call_waiting", call, id, null);
}
