/** Runs a call that was cleared: within its concurrency, its time and its size, and without values that are secret. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Json } from "../../../actors/kernel/json.ts";
import { Problem } from "../../../actors/kernel/problem.ts";
import { bytesOf, fitted } from "../../../actors/tool/fitting.ts";
import type { CallCounters } from "../security-contexts/port.ts";
import {
  type Call,
  outcomeOf,
  ToolFailure,
  type ToolOutcome,
  type ToolRegistry,
  type ToolRequest,
} from "../tools/port.ts";
import { type Cleared, type Held, type HostRoute, isCleared, type Judged, type MaskerOf } from "./port.ts";

/** What became of a call, which may wait with its run on a host. */
type Ran = ToolOutcome | ({ readonly status: "waiting" } & Held);

export interface RunOptions {
  readonly registry: Pick<ToolRegistry, "call">;
  readonly hosts: HostRoute;
  readonly counters: Pick<CallCounters, "acquire">;
  readonly maskerOf: MaskerOf;
  /** Judges a call that was cleared before by the rules of now. */
  readonly judgeAgain: (call: Call) => Promise<Judged>;
  /** Unix ms. */
  readonly now: () => number;
  /** Told of what a tool throws that is none of its outcomes. */
  readonly warn: (tool: string, error: unknown) => void;
}

/** Pauses of a call that waits for a place, ms. */
const placeEveryMs = [50, 100, 200, 500];

/** A call that waits for a place waits for their store as well. @throws `error` otherwise */
function unlessAwaited(error: unknown, waits: boolean): "away" {
  if (waits && error instanceof Problem && error.status === 503) return "away";
  throw error;
}

export async function runCall(options: RunOptions, call: Call, cleared: Cleared, waits: boolean): Promise<Ran> {
  const { tool, governing } = cleared;
  const whose = { tenant: call.tenant, principal: call.who.principal };
  const counted = { tool: tool.name, governing };
  const seek = () => options.counters.acquire(whose, counted).catch((error: unknown) => unlessAwaited(error, waits));
  let place = governing.length === 0 ? null : await seek();
  for (let tries = 0; waits && (place === "away" || (place !== null && !("release" in place))); tries++) {
    await sleep(placeEveryMs[Math.min(tries, placeEveryMs.length - 1)], undefined, { signal: call.signal });
    place = await seek();
  }
  if (place === "away") throw new Error("only calls that wait do so for the store of places");
  if (place !== null && !("release" in place)) {
    const { error_code, code, violation_type, message, details } = place;
    return {
      status: "refused",
      error_code,
      code,
      violation_type,
      message,
      attempted: tool.name,
      retry_after_seconds: 1,
      details,
    };
  }
  try {
    return await runFresh(options, call, cleared);
  } finally {
    place?.release();
  }
}

/** A call that policy cleared some time ago is judged again: changes bind within 5 s, and rules are read up to 3 s old. */
const clearedForMs = 2_000;

/** What the rules of now say of a call that was held up, where that is not what they said before. */
class JudgedAnew extends Error {
  override readonly name = "JudgedAnew";
  constructor(readonly judged: Judged) {
    super("the rules have changed since the call was cleared");
  }
}

async function runFresh(options: RunOptions, call: Call, cleared: Cleared): Promise<Ran> {
  let current = cleared;
  for (;;) {
    try {
      await stillCleared(options, call, current);
      await call.begins?.();
      const outcome = await timed(options, call, current);
      if (outcome.status === "waiting") return outcome;
      const { tool, bounds } = current;
      const isCut = tool.truncates === true;
      return await hidden(options.maskerOf, call, sized(outcome, tool.name, isCut, bounds.maxResponseBytes));
    } catch (error) {
      if (!(error instanceof JudgedAnew)) throw error;
      const { judged } = error;
      if (!isCleared(judged)) return notRun(judged.clearance);
      current = judged;
    }
  }
}

/** @throws JudgedAnew */
async function stillCleared({ judgeAgain }: RunOptions, call: Call, one: Cleared): Promise<void> {
  if (performance.now() - one.at <= clearedForMs) return;
  const judged = await judgeAgain(call);
  const isSame = isCleared(judged) && JSON.stringify(judged.bounds) === JSON.stringify(one.bounds);
  if (!isSame) throw new JudgedAnew(judged);
}

function notRun(clearance: Exclude<Judged["clearance"], { is: "cleared" }>): ToolOutcome {
  const { code, message } = clearance;
  if (clearance.is === "failed") {
    const { issues } = clearance;
    return { status: "failed", code, message, ...(issues === undefined ? {} : { details: { issues: [...issues] } }) };
  }
  const { error_code, violation_type, attempted, details } = clearance;
  return { status: "refused", error_code, code, violation_type, message, attempted, details: { ...details } };
}

/** What runs too long is told to stop, and answered as a failure of its own. */
async function timed(options: RunOptions, call: Call, cleared: Cleared): Promise<Ran> {
  const { tool, bounds } = cleared;
  const left = (call.who.execution?.deadlineAt ?? Number.POSITIVE_INFINITY) - options.now();
  const ms = Math.max(1, Math.min(bounds.maxTimeoutSecs * 1000, left));
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(), ms);
  const request: ToolRequest = {
    name: tool.name,
    arguments: cleared.arguments,
    tenant: call.tenant,
    entry: call.entry,
    executionId: call.who.execution?.id ?? null,
    invocationId: call.invocationId,
    idempotencyKey: call.idempotencyKey,
    who: call.who,
    policy: call.policy,
    bounds: { ...bounds, maxTimeoutSecs: Math.max(1, Math.floor(ms / 1000)) },
    signal: AbortSignal.any([call.signal, timeout.signal]),
    still: () => stillCleared(options, call, cleared),
  };
  const { target } = cleared;
  try {
    return target === null ? await options.registry.call(request) : await options.hosts.call(request, target);
  } catch (error) {
    if (call.signal.aborted || error instanceof JudgedAnew) throw error;
    if (timeout.signal.aborted) {
      if (target !== null) await options.hosts.cancel(request, "timeout");
      const message = `${tool.name} took longer than the ${Math.ceil(ms / 1000)} s that it may take`;
      return outcomeOf(new ToolFailure("timeout", message));
    }
    options.warn(tool.name, error);
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** Tools that only look are cut; of all others a result that is too large is withheld (2007). */
function sized(outcome: ToolOutcome, tool: string, isCut: boolean, most: number): ToolOutcome {
  if (outcome.status !== "succeeded") return outcome;
  if (isCut) return { status: "succeeded", result: fitted(outcome.result, most) };
  const size = bytesOf(outcome.result);
  if (size <= most) return outcome;
  return {
    status: "refused",
    error_code: 2007,
    code: "output_size_exceeded",
    violation_type: "output_size_limit_exceeded",
    message: `The result of ${tool} is larger than the ${most} bytes that are allowed`,
    attempted: `${size} bytes`,
    details: {
      tool,
      violation_type: "output_size_limit_exceeded",
      constraint: "max_response_size",
      attempted: size,
      allowed: most,
    },
  };
}

async function hidden(maskerOf: MaskerOf, { tenant, who }: Call, outcome: ToolOutcome): Promise<ToolOutcome> {
  const masker = who.execution === null ? null : await maskerOf(tenant, who.execution.id);
  if (masker === null) return outcome;
  if (outcome.status === "succeeded") return { status: "succeeded", result: masker.maskJson(outcome.result) };
  const message = masker.mask(outcome.message);
  const details: { details?: { readonly [member: string]: Json } } =
    outcome.details === undefined ? {} : { details: masker.maskJson(outcome.details) as { [member: string]: Json } };
  return { ...outcome, message, ...details };
}
