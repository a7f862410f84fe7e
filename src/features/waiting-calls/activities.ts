/** The work of waiting calls: made once people have agreed, shown as the next may see them. */
import type { Static } from "@sinclair/typebox";
import { isForHost } from "../../../actors/edge/host-calls.ts";
import { execution } from "../../../actors/execution/execution.ts";
import { isOver } from "../../../actors/execution/state.ts";
import { isGranted } from "../../../actors/policy/security/asked.ts";
import { keptArgumentBytes } from "../../../actors/tool/invocation.ts";
import { type CallOutcome, runCall, showCall } from "../../../actors/tool-call/messages.ts";
import type { ToolCallState } from "../../../actors/tool-call/state.ts";
import { toolCall } from "../../../actors/tool-call/tool-call.ts";
import { isCalling } from "../../../actors/workflow/run/relevance.ts";
import { workflowRun } from "../../../actors/workflow/run/run.ts";
import type { Starters } from "../../identity/callers/starters.ts";
import { type Activity, type ActivityContext, implement, type Runtime, Terminal } from "../../runtime/port.ts";
import type { InvocationWriter } from "../invocations/port.ts";
import { CallWithdrawn, isCleared, type Pipeline, refusalOf } from "../pipeline/port.ts";
import type { ToolRegistry } from "../tools/port.ts";
import { madeAgain } from "./kept.ts";
import { outcomeOf } from "./outcome.ts";
import type { GrantsOf, ShowArguments } from "./service.ts";

export interface WaitingActivitiesOptions {
  readonly runtime: Pick<Runtime, "of">;
  readonly pipeline: Pick<Pipeline, "clear" | "resume">;
  readonly registry: Pick<ToolRegistry, "of">;
  readonly invocations: Pick<InvocationWriter, "change">;
  readonly starters: Pick<Starters, "identityOf">;
  readonly show: ShowArguments;
  readonly granted: GrantsOf;
  /** Whether the session of a call is at an end. */
  readonly isSessionOver: (tenant: string, sessionId: string) => Promise<boolean>;
}

export function waitingActivities(options: WaitingActivitiesOptions): readonly Activity[] {
  const { runtime, pipeline, registry, invocations, starters, show, granted, isSessionOver } = options;

  async function stateOf({ tenant, key }: ActivityContext["actor"]): Promise<ToolCallState> {
    const state = await runtime.of(toolCall).at(tenant, key).read();
    if (state === null) throw new Terminal("not_found", "The call is gone");
    return state;
  }

  /** Whether the caller is gone for good: nothing is run for it any more. */
  async function isGone(tenant: string, { call }: ToolCallState, invocationId: string): Promise<boolean> {
    if (call.run !== undefined) {
      const { key } = call.run.owner;
      const run = (await runtime.of(workflowRun).readListed(tenant, [key])).get(key);
      if (run === undefined || !isCalling(run, invocationId)) return true;
    }
    if (call.execution !== null) {
      const state = await runtime.of(execution).at(tenant, call.execution.id).read();
      if (state === null || isOver(state)) return true;
    }
    return call.session_id !== null && isSessionOver(tenant, call.session_id);
  }

  /** Whether a call that may have been made may be made again: one on a host joins the run that it has begun. */
  async function mayRepeat(tenant: string, { call }: ToolCallState): Promise<boolean> {
    const tool = (await registry.of(tenant)).find(call.tool);
    if (isForHost(tool, call.arguments)) return true;
    return tool !== undefined && (tool.readOnly || tool.idempotent);
  }

  async function run(context: ActivityContext): Promise<Static<typeof runCall.output>> {
    const { actor, signal, resumed } = context;
    const { tenant, key: invocationId } = actor;
    const state = await stateOf(actor);
    const { call, edited } = state;
    if (await isGone(tenant, state, invocationId)) return withdrawn(call.tool);
    if (resumed && !(await mayRepeat(tenant, state))) {
      const message = `It is not known whether ${call.tool} was run: the node that ran it died`;
      invocations.change(invocationId, tenant, { outcome: "interrupted", code: "interrupted", ran: true });
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
    // It may have waited for a place, and its caller gone meanwhile.
    const begins = async () => {
      if (await isGone(tenant, state, invocationId)) throw new CallWithdrawn("The caller is gone");
    };
    const invoked = await pipeline.resume({ ...made, begins }, edited ?? undefined);
    if (invoked.is === "held") {
      const { fleet_command_id, approval_id, expires_at } = invoked;
      return { outcome: "held", held: { fleet_command_id, approval_id, expires_at } };
    }
    const isWithdrawn = invoked.is === "failed" && !invoked.ran && invoked.code === "withdrawn";
    return isWithdrawn ? withdrawn(call.tool) : outcomeOf(call.tool, invoked);
  }

  /** Edited arguments, by today's policy: whom they concern may be others than those whom the former ones did. */
  async function seenAnew(context: ActivityContext): Promise<Static<typeof showCall.output>> {
    const { actor, signal } = context;
    const { tenant, key: invocationId } = actor;
    const { call, edited } = await stateOf(actor);
    const given = edited ?? call.arguments;
    const shown = await show(tenant, call.execution?.id ?? null, given);
    const made = await madeAgain(call, { tenant, invocationId, signal }, starters);
    const [judged] = await pipeline.clear([{ ...made, arguments: given }], true);
    if (judged === undefined) throw new Error("a call was not judged");
    if (!isCleared(judged)) return { ...shown, refused: outcomeOf(call.tool, refusalOf(judged.clearance)) };
    const grants = await granted(tenant, made.who);
    const asked = judged.clearance.approvals.filter((ask) => !isGranted(grants, call.tool, ask, shown.sha256));
    return { ...shown, asked: [...asked] };
  }

  return [
    implement(runCall, { concurrency: 128, retry: { attempts: 3, firstDelayMs: 500 } }, (_, context) => run(context)),
    implement(showCall, { concurrency: 32, retry: { attempts: 20, firstDelayMs: 500 } }, (_, context) =>
      seenAnew(context),
    ),
  ];
}

const withdrawn = (tool: string): CallOutcome => ({
  outcome: "withdrawn",
  result: { status: "error", isError: true, tool, code: "withdrawn" },
});
