/** The whole way of a call outside of a loop, from the caller's wish to the record of what became of it. */
import { Problem } from "../../../actors/kernel/problem.ts";
import type { Incidents } from "../incidents/port.ts";
import type { InvocationWriter } from "../invocations/port.ts";
import { type Call, outcomeOf, ToolFailure, type ToolOutcome, ToolRefusal } from "../tools/port.ts";
import { beginOf, incidentOf, type RefusalFacts } from "./on-record.ts";
import {
  type AskPeople,
  CallWithdrawn,
  type Cleared,
  type Held,
  type HostRoute,
  type Invoked,
  type InvokeOptions,
  isCleared,
  type JudgeCall,
  type Judged,
  type JudgesSaid,
  type MaskerOf,
  type Pipeline,
  refusalOf,
  wholeArguments,
} from "./port.ts";

export interface InvokeParts {
  readonly clear: Pipeline["clear"];
  readonly run: Pipeline["run"];
  readonly judge: JudgeCall;
  readonly cancelOnHost: HostRoute["cancel"];
  readonly invocations: InvocationWriter;
  readonly incidents: Pick<Incidents, "report">;
  readonly maskerOf: MaskerOf;
  /** Unix ms. */
  readonly now: () => number;
}

interface Unfinished {
  readonly error: unknown;
  /** It waited for people, and is made by its own work. */
  readonly waits: boolean;
  readonly isReached: boolean;
  readonly duration_ms: number;
}

type HeldCall = { readonly is: "held" } & Held;

export function createInvoke(parts: InvokeParts): Pick<Pipeline, "invoke" | "resume"> {
  const { clear, run, invocations, incidents, now } = parts;

  async function shown(call: Call, given: Call["arguments"]): Promise<Call["arguments"]> {
    const masker = call.who.execution === null ? null : await parts.maskerOf(call.tenant, call.who.execution.id);
    return masker === null ? given : masker.maskJson(given);
  }

  /** @returns the one clearance of a call */
  async function cleared(call: Call, again: boolean): Promise<Judged> {
    const [judged] = await clear([call], again);
    if (judged === undefined) throw new Error("a call was not judged");
    return judged;
  }

  async function notCleared(call: Call, { clearance }: Judged, recorded: boolean): Promise<Invoked> {
    if (clearance.is === "cleared") throw new Error("the call is cleared");
    const begin = beginOf(call, clearance, await shown(call, call.arguments));
    const { tool, code } = clearance;
    const violation = clearance.is === "refused" ? clearance.violation_type : null;
    invocations.refused({
      id: call.invocationId,
      tenant: call.tenant,
      begin,
      code,
      violation_type: violation,
      recorded,
    });
    if (clearance.is === "refused") incidents.report(incidentOf(call, tool, clearance));
    return refusalOf(clearance);
  }

  /** Of a call that is on record already. */
  function refusedLate(call: Call, tool: string, refusal: RefusalFacts): void {
    incidents.report(incidentOf(call, tool, refusal));
  }

  /** The call came to no outcome of its tool. @throws what its caller has to know, which may make it again */
  async function cameToNothing(
    call: Call,
    one: Cleared,
    { error, waits, isReached, duration_ms }: Unfinished,
  ): Promise<Invoked> {
    const { invocationId, tenant, signal } = call;
    // Of a call that waited, its work says what is told; any other may be made again, since its tool was not reached.
    if (!waits && !isReached && error instanceof Problem && error.status === 503 && !signal.aborted) {
      invocations.change(invocationId, tenant, { outcome: "failed", code: unavailable, duration_ms });
      throw error;
    }
    if (error instanceof CallWithdrawn) {
      invocations.change(invocationId, tenant, { outcome: "withdrawn", code: "withdrawn" });
      return { is: "failed", code: "withdrawn", message: error.message, ran: false };
    }
    if (signal.aborted) {
      // Of a call that waited, its work goes on on another node.
      if (one.target !== null && !waits) await parts.cancelOnHost(call, "caller_gone");
      const ran = isReached ? ({ ran: true } as const) : {};
      invocations.change(invocationId, tenant, { outcome: "interrupted", code: "interrupted", duration_ms, ...ran });
      throw error;
    }
    invocations.change(invocationId, tenant, { outcome: "failed", code: "internal_error", duration_ms, ran: true });
    // What a tool throws by mistake tells no caller how the host looks inside.
    return answerTo(outcomeOf(new ToolFailure("internal_error", "The tool failed inside the service")));
  }

  async function runOnRecord(call: Call, one: Cleared, waits: boolean): Promise<Invoked | HeldCall> {
    const begun = now();
    const { invocationId, tenant } = call;
    let outcome: Awaited<ReturnType<Pipeline["run"]>>;
    let isReached = false;
    const begins = async () => {
      await call.begins?.();
      isReached = true;
    };
    try {
      outcome = await run({ ...call, begins }, one, waits);
    } catch (error) {
      return cameToNothing(call, one, { error, waits, isReached, duration_ms: Math.round(now() - begun) });
    }
    if (outcome.status === "waiting") {
      const { status: _, ...held } = outcome;
      return { is: "held", ...held };
    }
    const duration_ms = Math.round(now() - begun);
    if (outcome.status === "succeeded") {
      const result = JSON.stringify(outcome.result);
      invocations.change(invocationId, tenant, {
        outcome: "success",
        ran: true,
        duration_ms,
        result_bytes: Buffer.byteLength(result),
        result,
      });
      return answerTo(outcome);
    }
    const { code, message } = outcome;
    const violation =
      outcome.status === "refused"
        ? { violation_type: outcome.violation_type, decision: "deny" as const }
        : { ran: true as const };
    const result = JSON.stringify({
      status: "error",
      isError: true,
      tool: one.tool.name,
      error: message,
      code,
      message,
    });
    invocations.change(invocationId, tenant, { outcome: "failed", code, ...violation, duration_ms, result });
    if (outcome.status === "refused") refusedLate(call, one.tool.name, outcome);
    return answerTo(outcome);
  }

  /** Has people asked; where as many calls wait as may, the call is refused. @returns null: none has to be asked */
  async function asked(call: Call, one: Cleared, ask: AskPeople): Promise<Invoked | null> {
    try {
      const opened = await ask(call, one);
      return opened === null ? null : { is: "waiting", ...opened };
    } catch (error) {
      return mayNotWait(call, one, error);
    }
  }

  /** @throws `error` where it says something else */
  function mayNotWait(call: Call, one: Cleared, error: unknown): Invoked {
    const refused = error instanceof ToolRefusal ? outcomeOf(error) : null;
    const { invocationId, tenant } = call;
    if (refused?.status !== "refused") {
      invocations.change(invocationId, tenant, { outcome: "failed", code: unavailable });
      throw error;
    }
    const { code, violation_type } = refused;
    invocations.change(invocationId, tenant, { outcome: "failed", code, violation_type });
    refusedLate(call, one.tool.name, refused);
    return answerTo({ ...refused, retry_after_seconds: fullRetrySeconds });
  }

  /** Its run on a host asks people: it waits with the run, or has no place to wait, and then neither has the run. */
  async function held(call: Call, one: Cleared, run: Held, hold: InvokeOptions["hold"]): Promise<Invoked> {
    try {
      if (hold === undefined) throw new Error("a call is held by a run whose caller cannot wait");
      return { is: "waiting", ...(await hold(call, one, run)) };
    } catch (error) {
      await parts.cancelOnHost(call, "too_many_waiting");
      return mayNotWait(call, one, error);
    }
  }

  /** Of a call that is on record and was cleared before: today's policy does not let it run any more. */
  function noLonger(call: Call, clearance: Exclude<Judged["clearance"], { is: "cleared" }>): Invoked {
    const violation =
      clearance.is === "refused" ? { violation_type: clearance.violation_type, decision: "deny" as const } : {};
    const { code } = clearance;
    invocations.change(call.invocationId, call.tenant, { outcome: "failed", code, ...violation });
    if (clearance.is === "refused") refusedLate(call, clearance.tool, clearance);
    return refusalOf(clearance);
  }

  /** Its caller has ended while it was judged. */
  function ended(call: Call, code: "execution_not_running" | "session_inactive"): Invoked {
    invocations.change(call.invocationId, call.tenant, { outcome: "failed", code });
    const whose = code === "session_inactive" ? "session" : "execution";
    return { is: "failed", code, message: `The ${whose} ended before the call was run`, ran: false };
  }

  /** @returns the call as policy clears it when its judges have cleared it, or what it is answered with */
  async function pastJudges(call: Call, one: Cleared, standing: InvokeOptions["standing"]): Promise<Cleared | Invoked> {
    const { invocationId, tenant } = call;
    let said: JudgesSaid;
    try {
      said = await parts.judge(call, one);
    } catch (error) {
      const isGone = call.signal.aborted;
      const [outcome, code] = isGone ? (["interrupted", "interrupted"] as const) : (["failed", unavailable] as const);
      invocations.change(invocationId, tenant, { outcome, code });
      throw error;
    }
    if (said.is === "unasked") return one;
    if (said.is === "over") return ended(call, "execution_not_running");
    if (said.is !== "cleared") {
      const refused = said.is === "full" ? tooManyJudged(one.tool.name, said.most) : rejectedBy(one.tool.name, said);
      const { code, violation_type } = refused;
      invocations.change(invocationId, tenant, { outcome: "failed", code, violation_type, decision: "deny" });
      refusedLate(call, one.tool.name, { ...refused, attempted: one.tool.name });
      return { is: "refused", ...refused };
    }
    // That took its time: what was allowed then may not be now.
    const stands = (await standing?.()) ?? "active";
    if (stands !== "active") return ended(call, stands);
    const again = await cleared(call, true);
    return isCleared(again) ? again : noLonger(call, again.clearance);
  }

  return {
    async invoke(call, ask: AskPeople, { recorded = false, standing, hold }: InvokeOptions = {}) {
      const judged = await cleared(call, false);
      if (!isCleared(judged)) return notCleared(call, judged, recorded);
      const { clearance } = judged;
      if (recorded) {
        invocations.judged(call.invocationId, call.tenant, {
          tool_name: clearance.tool,
          workflow_name: call.who.execution?.workflowName ?? null,
          security_context: clearance.context,
          context_version: clearance.context_version,
          capability_index: clearance.capability_index,
        });
      } else {
        const begin = beginOf(call, clearance, await shown(call, wholeArguments(judged)));
        await invocations.begin({ id: call.invocationId, tenant: call.tenant, begin }, "running");
      }
      const passed = clearance.entry.skip_judge === true ? judged : await pastJudges(call, judged, standing);
      if ("is" in passed) return passed;
      const waiting = passed.clearance.approvals.length > 0 ? await asked(call, passed, ask) : null;
      if (waiting !== null) return waiting;
      const invoked = await runOnRecord(call, passed, false);
      return invoked.is === "held" ? held(call, passed, invoked, hold) : invoked;
    },

    async resume(call, edited) {
      const wanted = edited === undefined ? call : { ...call, arguments: edited };
      const judged = await cleared(wanted, true);
      if (isCleared(judged)) {
        const invoked = await runOnRecord(wanted, judged, true);
        return invoked.is === "succeeded" && edited !== undefined ? { ...invoked, edited: true } : invoked;
      }
      return noLonger(call, judged.clearance);
    },
  };
}

/** Until which a place of a waiting call may have become free. */
const fullRetrySeconds = 60;
/** Until which judges may have come to a verdict. */
const judgedRetrySeconds = 5;
const longestReason = 1024;
const unavailable = "service_unavailable";

function tooManyJudged(tool: string, most: number) {
  const violation_type = "concurrent_exec_limit_exceeded";
  const message = `${tool} cannot be judged now: as many calls of the execution are being judged as may (${most})`;
  const details = {
    ...{ tool, violation_type, constraint: "tool_validation", attempted: tool, allowed: most },
    retry_after_seconds: judgedRetrySeconds,
  };
  return { error_code: 2008, code: "concurrency_exceeded", violation_type, message, details };
}

function rejectedBy(tool: string, { judge, score, reason }: Extract<JudgesSaid, { is: "rejected" }>) {
  const message = `${tool} was rejected by ${judge}: ${reason.slice(0, longestReason).toWellFormed()}`;
  const details = {
    tool,
    violation_type: "judge_rejected",
    constraint: "tool_validation",
    attempted: tool,
    judge,
    score,
  };
  return { error_code: 2009, code: "judge_rejected", violation_type: "judge_rejected", message, details };
}

function answerTo(outcome: ToolOutcome): Invoked {
  switch (outcome.status) {
    case "succeeded":
      return { is: "succeeded", result: outcome.result };
    case "failed": {
      const { code, message, details } = outcome;
      return { is: "failed", code, message, ran: true, ...(details === undefined ? {} : { details }) };
    }
    case "refused": {
      const { error_code, code, violation_type, message, attempted, retry_after_seconds, details = {} } = outcome;
      const wait = retry_after_seconds === undefined ? {} : { retry_after_seconds };
      return { is: "refused", error_code, code, violation_type, message, details: { attempted, ...details, ...wait } };
    }
  }
}
