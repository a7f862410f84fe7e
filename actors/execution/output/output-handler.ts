/**
 * The output handler: what an accepted output goes through before the execution completes.
 *
 *   accepted ─▶ handling ─┬─ handled ───────────────────▶ completed, with what the handler gave
 *                         └─ failed ─┬─ required ───────▶ failed, `output_handler_failed`
 *                                    └─ optional ─▶ recalling ─▶ completed, with the accepted output
 *
 * The output lies in a log meanwhile: an agent or a webhook gets it from there, and so does the actor when the
 * handler fails. The execution's deadline and a cancellation end the handling like everything else.
 */

import { lessonFact, passedLesson } from "../../cortex/lesson.ts";
import type { OutputHandled, OutputRecalled } from "../activities.ts";
import { outputHandle, outputRecall } from "../activities.ts";
import { dismissChildren, type Ended, startChild } from "../children.ts";
import { complete, fail } from "../ending.ts";
import { outputLog } from "../start/plan.ts";
import type { HandlerRule } from "../state.ts";
import { trimText } from "../trim.ts";
import type { ExecutionTurn } from "../turn.ts";
import { handleId, handlerTimer, recallId } from "./handling.ts";

/** Whom the end of the handler's child concerns. */
const concern = "output-handler";
/** The child's own timeout ends it; the timer is for news that never comes. */
const overdueMarginMs = 30_000;
const maxErrorBytes = 4096;
/** Of the event; the whole output is in the terminal one. */
const maxResultBytes = 65_536;

/** An output was accepted: it is handled, if there is a handler, and then the execution's. */
export function accept(turn: ExecutionTurn, output: string): void {
  const { number } = turn.iteration;
  if (number > 1) {
    const of = { execution_id: turn.executionId, iteration_number: number };
    turn.fact(lessonFact, passedLesson({ ...of, answer: output }));
  }
  const { handler } = turn.state;
  if (handler === null) {
    complete(turn, output);
    return;
  }
  turn.iteration.phase = "over";
  turn.state.handling = "handling";
  turn.append(outputLog, { output });
  turn.emit("output_handler_started", { handler_type: handler.type, timestamp: turn.at });
  const { agent, timeout_ms } = handler;
  if (agent === null) {
    turn.perform(outputHandle, {}, { id: handleId(turn.executionId), then: "output_handled" });
    return;
  }
  startChild(turn, "output_handler", concern, { agent, timeout_ms, input: { of: "output" } });
  turn.schedule(handlerTimer, turn.context.now + timeout_ms + overdueMarginMs, "handler_overdue", {});
}

/** A webhook has answered, or has not. */
export function outputHandled(turn: ExecutionTurn, outcome: OutputHandled): void {
  const { handler } = turn.state;
  if (handler === null || !isHandling(turn)) return;
  if (!outcome.ok) {
    failed(turn, handler, outcome.message);
    return;
  }
  const { output, truncated } = outcome.value;
  if (truncated) turn.warnOnce("output_truncated", "The output handler's answer was longer than 1 MiB and was cut");
  handled(turn, handler, output);
}

/** The agent that handles the output is over. */
export function handlerEnded(turn: ExecutionTurn, ended: Ended): void {
  const { handler } = turn.state;
  if (handler === null || !isHandling(turn) || ended.child.concern !== concern) return;
  turn.cancelTimer(handlerTimer);
  if (ended.status === "completed") {
    handled(turn, handler, ended.output ?? "");
    return;
  }
  const why = ended.error_code === null ? "" : ` (${ended.error_code})`;
  const how = ended.status === "refused" ? "could not be started" : `ended as ${ended.status}`;
  failed(turn, handler, `The agent ${handler.agent} ${how}${why}`);
}

/** The agent that handles the output did not end in time. */
export function handlerOverdue(turn: ExecutionTurn): void {
  const { handler } = turn.state;
  if (handler === null || !isHandling(turn)) return;
  dismissChildren(turn, concern, "handler_timeout");
  failed(turn, handler, `The agent ${handler.agent} took longer than ${handler.timeout_ms / 1000} s`);
}

/** After an optional handler failed: the output as it was accepted. */
export function outputRecalled(turn: ExecutionTurn, outcome: OutputRecalled): void {
  if (turn.state.handling !== "recalling") return;
  turn.state.handling = null;
  if (outcome.ok) complete(turn, outcome.value.output);
  else fail(turn, "runtime_error", "The accepted output could not be read back");
}

const isHandling = ({ state }: ExecutionTurn): boolean => state.handling === "handling";

function handled(turn: ExecutionTurn, { type }: HandlerRule, output: string): void {
  turn.state.handling = null;
  turn.emit("output_handler_completed", {
    handler_type: type,
    timestamp: turn.at,
    result: trimText(output, maxResultBytes),
  });
  complete(turn, output);
}

function failed(turn: ExecutionTurn, { type, required }: HandlerRule, reason: string): void {
  const error = trimText(reason, maxErrorBytes);
  turn.emit("output_handler_failed", { handler_type: type, timestamp: turn.at, error });
  if (required) {
    turn.state.handling = null;
    fail(turn, "output_handler_failed", error);
    return;
  }
  turn.warnOnce("output_handler_failed", error);
  turn.state.handling = "recalling";
  turn.perform(outputRecall, {}, { id: recallId(turn.executionId), then: "output_recalled" });
}
