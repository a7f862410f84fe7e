/** What policy says of the calls of a model's reply, and of a call that is about to run. */
import { setTimeout as sleep } from "node:timers/promises";
import type { ModelCallInput, ToolAnswer, ToolCall } from "../../../../../actors/execution/activities.ts";
import { readCommand } from "../../../../../actors/execution/loop/command.ts";
import type { Plan } from "../../../../../actors/execution/start/plan.ts";
import type { Json } from "../../../../../actors/kernel/json.ts";
import { Problem } from "../../../../../actors/kernel/problem.ts";
import type { RateWarning } from "../../../../../actors/policy/rates/standing.ts";
import type { CallClearance, FailedCall, RefusedCall } from "../../../../../actors/policy/security/clearance.ts";
import { CMD_RUN, canonicalName } from "../../../../../actors/tool/catalog.ts";
import { isServiceAway } from "../../../../runtime/port.ts";
import { type Call, isCleared, type Judged, type Pipeline } from "../../../pipeline/port.ts";
import { callerOf } from "./loop-caller.ts";

/** Between attempts to read the rules while PostgreSQL is away, ms. */
const againMs = 500;

export interface LoopWork {
  readonly execution_id: string;
  readonly iteration: number;
  readonly counted_for?: NonNullable<ModelCallInput["counted_for"]>;
}

/** A call in a loop. @param invocationId also tells its attempts from other calls */
export function loopCall(
  tenant: string,
  work: LoopWork,
  plan: Plan,
  {
    tool,
    given,
    invocationId,
    signal,
  }: {
    readonly tool: string;
    readonly given: Call["arguments"];
    readonly invocationId: string;
    readonly signal: AbortSignal;
  },
): Call {
  return {
    tenant,
    entry: "dispatch",
    tool,
    arguments: given,
    idempotencyKey: invocationId,
    invocationId,
    ...callerOf(work, plan),
    requestId: null,
    signal,
  };
}

interface JudgedReply {
  /** Of each call, in their order. */
  readonly clearances: readonly CallClearance[];
  readonly warnings: readonly RateWarning[];
}

/**
 * Judges all calls of a reply at once. The reply is paid for and never given up: while rates cannot be counted its calls
 * wait, as for a rate that is used up.
 * @param toCall of a tool by its name
 */
export async function judgeReply(
  pipeline: Pick<Pipeline, "clear">,
  calls: readonly ToolCall[],
  toCall: (tool: string, given: Call["arguments"]) => Call,
  signal: AbortSignal,
): Promise<JudgedReply> {
  if (calls.length === 0) return { clearances: [], warnings: [] };
  const asked = calls.map((call) => ({ call, wanted: toCall(call.name, call.arguments), runs: canRun(call) }));
  const wanted = (runs: boolean) => asked.filter((one) => one.runs === runs).map((one) => one.wanted);
  // What can never run is judged by its name, and counts nowhere.
  const [counted, others] = await Promise.all([
    cleared(pipeline, wanted(true), false, signal),
    cleared(pipeline, wanted(false), true, signal),
  ]);
  const left = { counted: [...counted], others: [...others] };
  const clearances = asked.map(({ call, runs }): CallClearance => {
    const judged = (runs ? left.counted : left.others).shift();
    if (judged === undefined) throw new Error("a call of the reply was not judged");
    const { clearance } = judged;
    return call.malformed !== undefined && clearance.is !== "refused" ? malformed(clearance) : clearance;
  });
  return { clearances, warnings: counted.flatMap((one) => (isCleared(one) ? (one.warnings ?? []) : [])) };
}

function canRun({ name, arguments: given, malformed }: ToolCall): boolean {
  // What a host takes is another matter.
  if (malformed === undefined && (given.target ?? null) !== null) return true;
  return malformed === undefined && !(canonicalName(name) === CMD_RUN && "issues" in readCommand(given));
}

async function cleared(
  pipeline: Pick<Pipeline, "clear">,
  calls: readonly Call[],
  again: boolean,
  signal: AbortSignal,
): Promise<readonly Judged[]> {
  for (;;) {
    try {
      return await pipeline.clear(calls, again);
    } catch (error) {
      if (error instanceof Problem && error.status === 503) return calls.map(held);
      if (!isServiceAway(error)) throw error;
      await sleep(againMs, undefined, { signal });
    }
  }
}

const common = ({ invocationId, tool, policy }: Call) => ({
  invocation_id: invocationId,
  tool,
  context: policy.context,
  context_version: null,
  capability_index: null,
});

function held(call: Call): Judged {
  const { tool } = call;
  const clearance: RefusedCall = {
    is: "refused",
    ...common(call),
    error_code: 2005,
    code: "rate_limited",
    violation_type: "rate_limit_exceeded",
    message: `The rates of ${tool} cannot be checked now; it may be called again in 1 s`,
    attempted: tool,
    details: { tool, violation_type: "rate_limit_exceeded", limit_source: "account", retry_after_seconds: 1 },
  };
  return { clearance };
}

function malformed({ invocation_id, tool, context, context_version, capability_index }: CallClearance): FailedCall {
  const message = `${tool}: the arguments must be one JSON object`;
  const code = "invalid_arguments";
  return { is: "failed", invocation_id, tool, context, context_version, capability_index, code, message };
}

/** What the actor is told of a call that policy does not let run any more. */
export function answerOf(clearance: RefusedCall | FailedCall): ToolAnswer {
  if (clearance.is === "failed") {
    const { code, message, issues } = clearance;
    return { status: "failed", code, message, ...(issues === undefined ? {} : { details: { issues } as Json }) };
  }
  const { error_code, code, violation_type, message, attempted, details } = clearance;
  const seconds = details.retry_after_seconds;
  return {
    status: "refused",
    error_code,
    code,
    violation_type,
    message,
    attempted,
    ...(typeof seconds === "number" ? { retry_after_seconds: seconds } : {}),
  };
}
