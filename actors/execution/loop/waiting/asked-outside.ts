/**
 * Calls of an execution that are made outside of its loop, signed by a program in its sandbox, while people are asked
 * about them: its stream tells of them, its record says what it waits for, and what is granted holds for its loop, too.
 */

import type { OutsideNews } from "../../messages.ts";
import type { ExecutionTurn } from "../../turn.ts";
import { keepClocks } from "./clocks.ts";
import { remember } from "./wait-state.ts";
import type { Decided } from "./waiting.ts";

const events = {
  waiting: "tool_call_waiting",
  approved: "tool_call_approved",
  rejected: "tool_call_rejected",
  withdrawn: "tool_call_withdrawn",
} as const;

/** Calls remembered as waiting at once: at most as many as may wait. */
const maxOutside = 16;

export function noteOutsideCall(turn: ExecutionTurn, message: OutsideNews): Decided {
  const { news, invocation_id, tool, approval_id, expires_at, code, grant, fails } = message;
  const { state } = turn;
  const others = (state.asked_outside ?? []).filter((one) => one.invocation_id !== invocation_id);
  const waits = news === "waiting" ? [{ invocation_id, approval_id, tool, expires_at }] : [];
  state.asked_outside = [...others, ...waits].slice(-maxOutside);
  turn.emit(events[news], {
    iteration_number: turn.iteration.number,
    tool_name: tool,
    call_id: invocation_id,
    approval_id,
    code,
    at: turn.at,
  });
  if (grant !== undefined) remember(state, { tool, ...grant });
  keepClocks(turn);
  return fails === true ? "fails" : "settled";
}
