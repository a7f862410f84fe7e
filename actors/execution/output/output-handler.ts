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

import type { OutputHandled, OutputRecalled } from "../activities.ts";
import { outputHandle, outputRecall } from "../activities.ts";
import { dismissChildren, type Ended, startChild } from "../children.ts";
import { complete, fail } from "../ending.ts";
import type { Life } from "../life.ts";
import { outputLog } from "../start/plan.ts";
import type { HandlerRule } from "../state.ts";
import { trimText } from "../trim.ts";
import { handleId, handlerTimer, recallId } from "./handling.ts";

/** Whom the end of the handler's child concerns. */
const concern = "output-handler";
/** The child's own timeout ends it; the timer is for news that never comes. */
const overdueMarginMs = 30_000;
const maxErrorBytes = 4096;
/** Of the event; the whole output is in the terminal one. */
const maxResultBytes = 65_536;

/** An output was accepted: it is handled, if there is a handler, and then the execution's. */
export function accept(life: Life, output: string): void {
  const { handler } = life.state;
  if (handler === null) {
    complete(life, output);
    return;
  }
  life.iteration.phase = "over";
  life.state.handling = "handling";
  life.append(outputLog, { output });
  life.emit("output_handler_started", { handler_type: handler.type, timestamp: life.at });
  const { agent, timeout_ms } = handler;
  if (agent === null) {
    life.perform(outputHandle, {}, { id: handleId(life.executionId), then: "output_handled" });
    return;
  }
  startChild(life, "output_handler", concern, { agent, timeout_ms, input: { of: "output" } });
  life.schedule(handlerTimer, life.context.now + timeout_ms + overdueMarginMs, "handler_overdue", {});
}

/** A webhook has answered, or has not. */
export function outputHandled(life: Life, outcome: OutputHandled): void {
  const { handler } = life.state;
  if (handler === null || !isHandling(life)) return;
  if (!outcome.ok) {
    failed(life, handler, outcome.message);
    return;
  }
  const { output, truncated } = outcome.value;
  if (truncated) life.warnOnce("output_truncated", "The output handler's answer was longer than 1 MiB and was cut");
  handled(life, handler, output);
}

/** The agent that handles the output is over. */
export function handlerEnded(life: Life, ended: Ended): void {
  const { handler } = life.state;
  if (handler === null || !isHandling(life) || ended.child.concern !== concern) return;
  life.cancelTimer(handlerTimer);
  if (ended.status === "completed") {
    handled(life, handler, ended.output ?? "");
    return;
  }
  const why = ended.error_code === null ? "" : ` (${ended.error_code})`;
  const how = ended.status === "refused" ? "could not be started" : `ended as ${ended.status}`;
  failed(life, handler, `The agent ${handler.agent} ${how}${why}`);
}

/** Nothing was heard of the agent that handles the output. */
export function handlerOverdue(life: Life): void {
  const { handler } = life.state;
  if (handler === null || !isHandling(life)) return;
  dismissChildren(life, concern, "handler_timeout");
  failed(life, handler, `The agent ${handler.agent} took longer than ${handler.timeout_ms / 1000} s`);
}

/** After an optional handler failed: the output as it was accepted. */
export function outputRecalled(life: Life, outcome: OutputRecalled): void {
  if (life.state.handling !== "recalling") return;
  life.state.handling = null;
  if (outcome.ok) complete(life, outcome.value.output);
  else fail(life, "runtime_error", "The accepted output could not be read back");
}

const isHandling = ({ state }: Life): boolean => state.handling === "handling";

function handled(life: Life, { type }: HandlerRule, output: string): void {
  life.state.handling = null;
  life.emit("output_handler_completed", {
    handler_type: type,
    timestamp: life.at,
    result: trimText(output, maxResultBytes),
  });
  complete(life, output);
}

function failed(life: Life, { type, required }: HandlerRule, reason: string): void {
  const error = trimText(reason, maxErrorBytes);
  life.emit("output_handler_failed", { handler_type: type, timestamp: life.at, error });
  if (required) {
    life.state.handling = null;
    fail(life, "output_handler_failed", error);
    return;
  }
  life.warnOnce("output_handler_failed", error);
  life.state.handling = "recalling";
  life.perform(outputRecall, {}, { id: recallId(life.executionId), then: "output_recalled" });
}
