/** The whole way of a call outside of a loop, from the caller's wish to the record of what became of it. */
import type { Incidents } from "../incidents/port.ts";
import type { InvocationWriter } from "../invocations/port.ts";
import { type Call, outcomeOf, ToolFailure, type ToolOutcome, ToolRefusal } from "../tools/port.ts";
import { beginOf, incidentOf, type RefusalFacts } from "./on-record.ts";
import {
  type AskPeople,
  type Cleared,
  type Invoked,
  type InvokeOptions,
  isCleared,
  type JudgeCall,
  type Judged,
  type JudgedAgainst,
  type MaskerOf,
  type Pipeline,
} from "./port.ts";

export interface InvokeParts {
  readonly clear: Pipeline["clear"];
  readonly run: Pipeline["run"];
  readonly judge: JudgeCall;
  readonly invocations: InvocationWriter;
  readonly incidents: Pick<Incidents, "report">;
  readonly maskerOf: MaskerOf;
  /** Unix ms. */
  readonly now: () => number;
}

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
    return answerOf(clearance);
  }

  /** Of a call that is on record already. */
  function refusedLate(call: Call, tool: string, refusal: RefusalFacts): void {
    incidents.report(incidentOf(call, tool, refusal));
  }

  async function runOnRecord(call: Call, one: Cleared, waits: boolean): Promise<Invoked> {
    const begun = now();
    const { invocationId, tenant } = call;
    let outcome: ToolOutcome;
    try {
      outcome = await run(call, one, waits);
    } catch (error) {
      const duration_ms = Math.round(now() - begun);
      if (call.signal.aborted) {
        invocations.change(invocationId, tenant, { outcome: "interrupted", code: "interrupted", duration_ms });
        throw error;
      }
      invocations.change(invocationId, tenant, { outcome: "failed", code: "internal_error", duration_ms });
      // What a tool throws by mistake tells no caller how the host looks inside.
      return answerTo(outcomeOf(new ToolFailure("internal_error", "The tool failed inside the service")));
    }
    const duration_ms = Math.round(now() - begun);
    if (outcome.status === "succeeded") {
      const result = JSON.stringify(outcome.result);
      invocations.change(invocationId, tenant, {
        outcome: "success",
        duration_ms,
        result_bytes: Buffer.byteLength(result),
        result,
      });
      return answerTo(outcome);
    }
    const { code, message } = outcome;
    const violation =
      outcome.status === "refused" ? { violation_type: outcome.violation_type, decision: "deny" as const } : {};
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

  /** Has people asked; where as many calls wait as may, the call is refused. */
  async function asked(call: Call, one: Cleared, ask: AskPeople): Promise<Invoked> {
    try {
      return { is: "waiting", ...(await ask(call, one)) };
    } catch (error) {
      const refused = error instanceof ToolRefusal ? outcomeOf(error) : null;
      const { invocationId, tenant } = call;
      if (refused?.status !== "refused") {
        invocations.change(invocationId, tenant, { outcome: "failed", code: "service_unavailable" });
        throw error;
      }
      const { code, violation_type } = refused;
      invocations.change(invocationId, tenant, { outcome: "failed", code, violation_type });
      refusedLate(call, one.tool.name, refused);
      return answerTo({ ...refused, retry_after_seconds: fullRetrySeconds });
    }
  }

  return {
    async invoke(call, ask: AskPeople, { recorded = false }: InvokeOptions = {}) {
      const judged = await cleared(call, false);
      if (!isCleared(judged)) return notCleared(call, judged, recorded);
      const { clearance, tool } = judged;
      if (!recorded) {
        const begin = beginOf(call, clearance, await shown(call, judged.arguments));
        await invocations.begin({ id: call.invocationId, tenant: call.tenant, begin }, "running");
      }
      const against = clearance.entry.skip_judge === true ? null : await parts.judge(call, judged);
      if (against !== null) {
        const refused = rejectedBy(tool.name, against);
        const { code, violation_type } = refused;
        invocations.change(call.invocationId, call.tenant, {
          outcome: "failed",
          code,
          violation_type,
          decision: "deny",
        });
        refusedLate(call, tool.name, { ...refused, attempted: tool.name });
        return { is: "refused", ...refused };
      }
      if (clearance.approvals.length > 0) return asked(call, judged, ask);
      return runOnRecord(call, judged, false);
    },

    async resume(call, edited) {
      const wanted = edited === undefined ? call : { ...call, arguments: edited };
      const judged = await cleared(wanted, true);
      if (isCleared(judged)) {
        const invoked = await runOnRecord(wanted, judged, true);
        return invoked.is === "succeeded" && edited !== undefined ? { ...invoked, edited: true } : invoked;
      }
      const { clearance } = judged;
      const violation =
        clearance.is === "refused" ? { violation_type: clearance.violation_type, decision: "deny" as const } : {};
      const { code } = clearance;
      invocations.change(call.invocationId, call.tenant, { outcome: "failed", code, ...violation });
      if (clearance.is === "refused") refusedLate(call, clearance.tool, clearance);
      return answerOf(clearance);
    },
  };
}

/** Until which a place of a waiting call may have become free. */
const fullRetrySeconds = 60;
const longestReason = 1024;

function rejectedBy(tool: string, { judge, score, reason }: JudgedAgainst) {
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

function answerOf(clearance: Judged["clearance"]): Invoked {
  switch (clearance.is) {
    case "refused": {
      const { error_code, code, violation_type, message, details } = clearance;
      return { is: "refused", error_code, code, violation_type, message, details };
    }
    case "failed": {
      const { code, message, issues } = clearance;
      return { is: "failed", code, message, ran: false, ...(issues === undefined ? {} : { issues }) };
    }
    case "cleared":
      throw new Error("the call is cleared");
  }
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
