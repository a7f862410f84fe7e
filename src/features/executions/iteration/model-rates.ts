/** What a model call and the tool calls of its reply use of the rates of their tenant and user. */
import type { HeldCall, ModelAnswer, ModelCallInput } from "../../../../actors/execution/activities.ts";
import { countedCalls, heldBack, rateWarning } from "../../../../actors/execution/loop/own-limits.ts";
import type { Json } from "../../../../actors/kernel/json.ts";
import { Problem } from "../../../../actors/kernel/problem.ts";
import { rateUserIn } from "../../../../actors/policy/rates/counted.ts";
import { demands } from "../../../../actors/policy/rates/limits.ts";
import { toolResource } from "../../../../actors/policy/rates/resources.ts";
import type { RateWarning } from "../../../../actors/policy/rates/standing.ts";
import { Terminal } from "../../../runtime/port.ts";
import type { Limiter, RateUse } from "../../limits/port.ts";

export type ModelRates = Pick<Limiter, "debit">;

type Warned = Pick<ModelAnswer, "rate_warnings" | "held_calls">;

/** A model call that was let through. */
export interface AdmittedCall {
  /**
   * Debits what the reply says was used, and the tool calls in it; one command to Redis. Where that cannot be had the
   * reply is used all the same, and its tools wait.
   */
  settle(reply: Pick<ModelAnswer, "usage" | "tool_calls">): Promise<Warned>;
}

/** @throws Terminal with a code of `heldBack` when the call may not be made now */
export async function admitCall(rates: ModelRates, tenant: string, work: ModelCallInput): Promise<AdmittedCall> {
  const use = { tenant, user: rateUserIn(work) };
  const admitted = await rates
    .debit({ ...use, demands: [demands.of("llm_call"), demands.balance("llm_token")] })
    .catch((error: unknown) => {
      throw heldBackBy(error);
    });
  return {
    async settle({ usage, tool_calls }) {
      const tokens = Math.max(0, Math.round(usage.input_tokens + usage.output_tokens));
      const places = countedCalls(work.tools, tool_calls);
      const [settled, ...calls] = await Promise.allSettled([
        rates.debit({ ...use, demands: [demands.settled("llm_token", tokens)] }),
        ...places.map((place) => rates.debit(toolUse(use, tool_calls[place]?.name ?? ""))),
      ]);
      const passed = [settled, ...calls].flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
      const warnings = [admitted, ...passed].flatMap(({ warnings }): readonly RateWarning[] => warnings);
      const held = calls.flatMap((call, index): HeldCall[] => {
        if (call.status === "fulfilled") return [];
        const place = places[index] as number;
        return [{ place, ...waitOf(call.reason), resource_type: toolResource(tool_calls[place]?.name ?? "") }];
      });
      return {
        ...(warnings.length === 0 ? {} : { rate_warnings: warnings.map(rateWarning) }),
        ...(held.length === 0 ? {} : { held_calls: held }),
      };
    },
  };
}

const toolUse = (use: Pick<RateUse, "tenant" | "user">, tool: string): RateUse => ({
  ...use,
  demands: [demands.of(toolResource(tool))],
});

const waitOf = (error: unknown): Pick<HeldCall, "retry_after_seconds"> => {
  const seconds = error instanceof Problem ? error.extras.retry_after_seconds : undefined;
  return { retry_after_seconds: typeof seconds === "number" ? seconds : 1 };
};

/** What a former version reads as a failure of the vendor that passes. */
const asUpstream = {
  error_class: "rate_limit",
  provider: "",
  model: "",
  attempts: 0,
  elapsed_ms: 0,
  fallback_attempted: false,
};

function heldBackBy(error: unknown): unknown {
  if (!(error instanceof Problem)) return error;
  const { message } = error;
  const isDry = error.code === "rate_limited";
  const code = isDry ? heldBack.dry : heldBack.unknown;
  // Made by the limiter, of texts and numbers.
  const refusal = isDry ? (error.extras as { readonly [member: string]: Json }) : {};
  return new Terminal(code, message, { ...asUpstream, ...waitOf(error), refusal });
}
