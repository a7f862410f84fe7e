/** A command that the gateway did not hand out, because as many run as may. */
import type { BodyOf } from "../../kernel/message.ts";
import type { ExecutionMessages } from "../messages.ts";
import type { Loop, PendingCall } from "../state.ts";
import type { ExecutionTurn } from "../turn.ts";
import { answerCall, discourage, failure, noteViolation } from "./call-answers.ts";
import { dispatchTimer } from "./tool-calls.ts";

/** As the gateway tells it. */
export type NoPlace = Pick<BodyOf<ExecutionMessages["dispatch_refused"]>, "message" | "retry_after_seconds">;

/** Answers its call with 2008: it was not run. */
export function commandRefused(
  turn: ExecutionTurn,
  loop: Loop,
  call: PendingCall,
  { message, retry_after_seconds }: NoPlace,
): void {
  if (call.watched && call.dispatch_id !== null) turn.cancelTimer(dispatchTimer(call.dispatch_id));
  loop.executed -= 1;
  turn.state.usage.tool_calls -= 1;
  const [code, error_code, violation] = ["concurrency_exceeded", 2008, "concurrent_exec_limit_exceeded"] as const;
  noteViolation(turn, call.tool, violation, { code, error_code, attempted: call.tool });
  const result = { ...failure(call.tool, code, discourage(message)), error_code, retry_after_seconds };
  answerCall(turn, loop, call, "refused", result, { error: message, violation });
}
