/**
 * The activity `workflow.tool`: a state's call, made by the pipeline that every call of a tool goes through. A call that
 * may have been made before is made again only where that does no harm; one that people are asked about is handed over to
 * its own actor.
 */
import { isForHost } from "../../../../../actors/edge/host-calls.ts";
import { isObject, type Json } from "../../../../../actors/kernel/json.ts";
import { Problem } from "../../../../../actors/kernel/problem.ts";
import { rateUserIn } from "../../../../../actors/policy/rates/counted.ts";
import type { CallOutcome } from "../../../../../actors/tool-call/messages.ts";
import { toolCall as waitingCall } from "../../../../../actors/tool-call/tool-call.ts";
import { type ToolCall, type ToolCalled, toolCall } from "../../../../../actors/workflow/run/activities/tool-call.ts";
import { storable } from "../../../../lib/storable.ts";
import { type Activity, type ActivityContext, implement, type Runtime } from "../../../../runtime/port.ts";
import type { InvocationReader, InvocationWriter } from "../../../invocations/port.ts";
import type { Call, Invoked, Pipeline } from "../../../pipeline/port.ts";
import type { ContextReader } from "../../../security-contexts/port.ts";
import type { ToolRegistry } from "../../../tools/port.ts";
import { outcomeOf, type WaitingCalls } from "../../../waiting-calls/port.ts";

export interface ToolCallOptions {
  readonly runtime: Pick<Runtime, "of">;
  readonly pipeline: Pick<Pipeline, "invoke">;
  readonly waiting: Pick<WaitingCalls, "open" | "hold">;
  readonly contexts: Pick<ContextReader, "defaultOf">;
  readonly registry: Pick<ToolRegistry, "of">;
  readonly invocations: Pick<InvocationReader, "one" | "resultOf"> & Pick<InvocationWriter, "change">;
}

type Answer = Extract<ToolCalled, { readonly ok: true }>["value"];

/** Refusals that pass: of a rate, of a number of calls. */
const passing: readonly number[] = [2005, 2008];
/** Pause behind a refusal that gives none, and behind an outage, ms. */
const usualPauseMs = 1000;

export function toolCallActivity(options: ToolCallOptions): Activity {
  const { runtime, pipeline, waiting, contexts, registry, invocations } = options;

  async function mayRepeat(tenant: string, { tool: name, arguments: given }: ToolCall): Promise<boolean> {
    const tool = (await registry.of(tenant)).find(name);
    // One on a host joins the run that it has begun.
    return isForHost(tool, given) || (tool !== undefined && (tool.readOnly || tool.idempotent));
  }

  /** What is known of a call that may have been made before; null: it is to be made. */
  async function known(tenant: string, call: ToolCall): Promise<Answer | null> {
    const { invocation_id: id, tool } = call;
    if ((await runtime.of(waitingCall).at(tenant, id).read()) !== null) return { is: "waiting" };
    const row = await invocations.one(tenant, id);
    if (row === null) return null;
    const { outcome, code } = row.record;
    const result = await invocations.resultOf(tenant, id);
    if (isObject(result)) return { is: "ended", outcome: outcome === "success" ? succeeded(result) : failed(result) };
    const isUncertain = outcome === "running" || outcome === "interrupted";
    if (!isUncertain) return { is: "ended", outcome: notMade(tool, code ?? "failed", `The call of ${tool} failed`) };
    if (await mayRepeat(tenant, call)) return null;
    invocations.change(id, tenant, { outcome: "interrupted", code: "interrupted", ran: true });
    const message = `It is not known whether ${tool} was run: the node that ran it died`;
    return { is: "ended", outcome: notMade(tool, "interrupted", message) };
  }

  async function callOf(input: ToolCall, { actor, signal }: ActivityContext): Promise<Call> {
    const { tenant } = actor;
    const { invocation_id, key, tool, arguments: given, run, ceilings, starter, counted_for } = input;
    const context = input.context ?? (await contexts.defaultOf(tenant));
    return {
      ...{ tenant, entry: "workflow", tool, arguments: given, idempotencyKey: key, invocationId: invocation_id },
      who: {
        execution: null,
        run,
        sessionId: null,
        principal: run.id,
        starter,
        opener: null,
        user: rateUserIn(counted_for === null ? {} : { counted_for }),
      },
      policy: { context, ceilings, tools: null, patterns: null },
      requestId: null,
      signal,
    };
  }

  async function make(input: ToolCall, context: ActivityContext): Promise<Answer> {
    const { tenant } = context.actor;
    const { tool, invocation_id } = input;
    const before = context.attempt > 1 || context.resumed ? await known(tenant, input) : null;
    if (before !== null) return before;
    let invoked: Invoked;
    try {
      invoked = await pipeline.invoke(await callOf(input, context), waiting.open, { hold: waiting.hold });
    } catch (error) {
      // It was not begun: a store was away, or the node leaves.
      if (!(error instanceof Problem) || error.status !== 503 || context.signal.aborted) throw error;
      return { is: "later", after_ms: usualPauseMs, outcome: notMade(tool, error.code, error.message) };
    }
    if (invoked.is !== "waiting") return answered(tool, invoked);
    // The state was left while people were being asked.
    if (context.signal.aborted) {
      await runtime.of(waitingCall).at(tenant, invocation_id).tell("withdraw", { reason: "The state was left" });
    }
    return { is: "waiting" };
  }

  // Most of a call is waiting for others, which costs a node next to nothing.
  return implement(toolCall, { concurrency: 256, retry: { attempts: 20, firstDelayMs: 500 } }, make);
}

function answered(tool: string, invoked: Exclude<Invoked, { readonly is: "waiting" }>): Answer {
  const outcome = outcomeOf(tool, invoked);
  const kept: CallOutcome = { ...outcome, result: storable(outcome.result) };
  if (invoked.is !== "refused" || !passing.includes(invoked.error_code)) return { is: "ended", outcome: kept };
  const { retry_after_seconds: seconds } = invoked.details;
  return { is: "later", after_ms: typeof seconds === "number" ? seconds * 1000 : usualPauseMs, outcome: kept };
}

type Members = { readonly [member: string]: Json };

const succeeded = (result: Members): CallOutcome => ({ outcome: "success", result: { status: "success", ...result } });
const failed = (result: Members): CallOutcome => ({ outcome: "failed", result: { ...result } });
const notMade = (tool: string, code: string, message: string): CallOutcome =>
  failed({ status: "error", isError: true, tool, error: message, code, message });
