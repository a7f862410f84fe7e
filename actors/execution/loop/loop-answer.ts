/** Answers the request that waits at the gateway for the next reply of a loop. */
import type { Life } from "../life.ts";
import type { GatewayAnswer } from "../messages.ts";
import type { Loop } from "../state.ts";

/** More callers than this never wait for one loop: the oldest are forgotten. */
const maxWaiters = 32;

/** Lets the caller of this turn's message wait for the loop's next answer. */
export function awaitAnswer(life: Life, loop: Loop): void {
  const { now, replyTo } = life.context;
  const waiting = loop.waiters.filter(({ until }) => until > now);
  loop.waiters = [...waiting, ...(replyTo === null ? [] : [{ ...replyTo }])].slice(-maxWaiters);
}

export function answer(life: Life, loop: Loop, value: GatewayAnswer): void {
  // Those of `dispatch_result` are answered alike.
  for (const waiter of loop.waiters) life.reply("generate", waiter, value);
  loop.waiters = [];
}

/** Answers with entry `seq` of the loop log, and remembers it for repeats of the same message. */
export function storedAnswer(life: Life, loop: Loop, seq: number, value: GatewayAnswer): void {
  const dispatch = life.iteration.dispatches.find(({ id }) => id === loop.answering);
  if (dispatch === undefined) loop.reply = seq;
  else dispatch.reply = seq;
  answer(life, loop, value);
}
