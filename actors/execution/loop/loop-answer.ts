/** Answers the request that waits at the gateway for the next reply of a loop. */

import type { GatewayAnswer } from "../messages.ts";
import type { Loop } from "../state.ts";
import type { ExecutionTurn } from "../turn.ts";

/** More callers than this never wait for one loop: the oldest are forgotten. */
const maxWaiters = 32;

/** Lets the caller of this turn's message wait for the next answer, of the loop or of what else keeps waiters. */
export function awaitAnswer(turn: ExecutionTurn, loop: Pick<Loop, "waiters">): void {
  const { now, replyTo } = turn.context;
  // A call that was not answered for a while is sent again: its caller waits once.
  const isSame = (waiter: { node: string; call: string }) =>
    waiter.node === replyTo?.node && waiter.call === replyTo?.call;
  const waiting = loop.waiters.filter((waiter) => waiter.until > now && !isSame(waiter));
  loop.waiters = [...waiting, ...(replyTo === null ? [] : [{ ...replyTo }])].slice(-maxWaiters);
}

export function answer(turn: ExecutionTurn, loop: Loop, value: GatewayAnswer): void {
  // Those of `dispatch_result` are answered alike.
  for (const waiter of loop.waiters) turn.reply("generate", waiter, value);
  loop.waiters = [];
}

/** Answers with entry `seq` of the loop log, and remembers it for repeats of the same message. */
export function storedAnswer(turn: ExecutionTurn, loop: Loop, seq: number, value: GatewayAnswer): void {
  const dispatch = turn.iteration.dispatches.find(({ id }) => id === loop.answering);
  if (dispatch === undefined) loop.reply = seq;
  else dispatch.reply = seq;
  answer(turn, loop, value);
}
