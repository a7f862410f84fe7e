/** What a model call uses of the rates of its tenant and user. */
import type { ModelAnswer, ModelCallInput } from "../../../../../actors/execution/activities.ts";
import { heldBack } from "../../../../../actors/execution/loop/own-limits.ts";
import type { Json } from "../../../../../actors/kernel/json.ts";
import { Problem } from "../../../../../actors/kernel/problem.ts";
import { rateUserIn } from "../../../../../actors/policy/rates/counted.ts";
import { demands } from "../../../../../actors/policy/rates/limits.ts";
import type { RateWarning } from "../../../../../actors/policy/rates/standing.ts";
import { Terminal } from "../../../../runtime/port.ts";
import type { Limiter } from "../../../limits/port.ts";

export type ModelRates = Pick<Limiter, "debit">;

/** A model call that was let through. */
export interface AdmittedCall {
  /** Debits what the reply says was used. Where that cannot be counted the reply is used all the same. */
  settle(reply: Pick<ModelAnswer, "usage">): Promise<readonly RateWarning[]>;
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
    async settle({ usage }) {
      const tokens = Math.max(0, Math.round(usage.input_tokens + usage.output_tokens));
      const [settled] = await Promise.allSettled([
        rates.debit({ ...use, demands: [demands.settled("llm_token", tokens)] }),
      ]);
      return [...admitted.warnings, ...(settled?.status === "fulfilled" ? settled.value.warnings : [])];
    },
  };
}

const waitOf = (error: unknown): { readonly retry_after_seconds: number } => {
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
