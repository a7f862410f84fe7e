/** The work of waiting calls: made once people have agreed, shown as the next may see them. */
import { execution } from "../../../actors/execution/execution.ts";
import { isOver } from "../../../actors/execution/state.ts";
import { keptArgumentBytes } from "../../../actors/tool/invocation.ts";
import { type CallOutcome, runCall, showCall } from "../../../actors/tool-call/messages.ts";
import { type ToolCallState, toolCall } from "../../../actors/tool-call/tool-call.ts";
import type { Starters } from "../../identity/callers/starters.ts";
import { type Activity, type ActivityContext, implement, type Runtime, Terminal } from "../../runtime/port.ts";
import type { InvocationWriter } from "../invocations/port.ts";
import type { Pipeline } from "../pipeline/port.ts";
import type { ToolRegistry } from "../tools/port.ts";
import { madeAgain } from "./kept.ts";
import { outcomeOf } from "./outcome.ts";
import type { ShowArguments } from "./service.ts";

export interface WaitingActivitiesOptions {
  readonly runtime: Pick<Runtime, "of">;
  readonly pipeline: Pick<Pipeline, "resume">;
  readonly registry: Pick<ToolRegistry, "of">;
  readonly invocations: Pick<InvocationWriter, "change">;
  readonly starters: Pick<Starters, "identityOf">;
  readonly show: ShowArguments;
  /** Whether the session of a call is at an end. */
  readonly isSessionOver: (tenant: string, sessionId: string) => Promise<boolean>;
}

export function waitingActivities(options: WaitingActivitiesOptions): readonly Activity[] {
  const { runtime, pipeline, registry, invocations, starters, show, isSessionOver } = options;

  async function stateOf({ tenant, key }: ActivityContext["actor"]): Promise<ToolCallState> {
    const state = await runtime.of(toolCall).at(tenant, key).read();
    if (state === null) throw new Terminal("not_found", "The call is gone");
    return state;
  }

  /** Whether the caller is gone for good: nothing is run for it any more. */
  async function isGone(tenant: string, { call }: ToolCallState): Promise<boolean> {
    if (call.execution !== null) {
      const state = await runtime.of(execution).at(tenant, call.execution.id).read();
      if (state === null || isOver(state)) return true;
    }
    return call.session_id !== null && isSessionOver(tenant, call.session_id);
  }

  /** Whether a call that may have been made may be made again. */
  async function mayRepeat(tenant: string, { call }: ToolCallState): Promise<boolean> {
    const tool = (await registry.of(tenant)).find(call.tool);
    return tool !== undefined && (tool.readOnly || tool.idempotent);
  }

  async function run(context: ActivityContext): Promise<CallOutcome> {
    const { actor, signal, resumed } = context;
    const { tenant, key: invocationId } = actor;
    const state = await stateOf(actor);
    const { call, edited } = state;
    if (await isGone(tenant, state)) {
      return { outcome: "withdrawn", result: { status: "error", isError: true, tool: call.tool, code: "withdrawn" } };
    }
    if (resumed && !(await mayRepeat(tenant, state))) {
      const message = `It is not known whether ${call.tool} was run: the node that ran it died`;
      invocations.change(invocationId, tenant, { outcome: "interrupted", code: "interrupted" });
      return outcomeOf(call.tool, { is: "failed", code: "interrupted", message, ran: true });
    }
    const made = await madeAgain(call, { tenant, invocationId, signal }, starters);
    if (edited !== null) {
      const { redacted } = await show(tenant, call.execution?.id ?? null, edited);
      const text = JSON.stringify(redacted);
      const isKept = Buffer.byteLength(text) <= keptArgumentBytes;
      invocations.change(invocationId, tenant, {
        outcome: "running",
        edited_arguments: isKept ? text : JSON.stringify({ truncated: true }),
      });
    }
    return outcomeOf(call.tool, await pipeline.resume(made, edited ?? undefined));
  }

  return [
    implement(runCall, { concurrency: 128, retry: { attempts: 3, firstDelayMs: 500 } }, (_, context) => run(context)),
    implement(showCall, { concurrency: 32, retry: { attempts: 20, firstDelayMs: 500 } }, async (_, { actor }) => {
      const { call, edited } = await stateOf(actor);
      return show(actor.tenant, call.execution?.id ?? null, edited ?? call.arguments);
    }),
  ];
}
