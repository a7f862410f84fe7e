/** The last checks of a start: a place among the tenant's executions, and a unit of the rates of its tenant and user. */
import type { StartRequest } from "../../../../actors/execution/start/request.ts";
import type { Quota } from "../../../../actors/policy/quota.ts";
import { demands } from "../../../../actors/policy/rates/limits.ts";
import type { Limiter } from "../../limits/port.ts";
import type { Concurrency } from "./concurrency.ts";

export interface StartAdmissionOptions {
  readonly concurrency: Pick<Concurrency, "reserve" | "release">;
  readonly rates: Pick<Limiter, "debit" | "refund">;
}

export interface StartAdmission {
  /** What the caller learns of its rates; nothing for a start that is free of them. */
  readonly headers: Readonly<Record<string, string>>;
  /** The start failed before it was accepted: it holds no place and costs nothing. Never throws. */
  giveBack(): Promise<void>;
}

/**
 * Both are asked for at once, and both or none are kept.
 * @throws Problem 429 `quota_exceeded`, `rate_limited`; 503 `limiter_unavailable`
 */
export async function admitStart(
  { concurrency, rates }: StartAdmissionOptions,
  executionId: string,
  { tenant, origin, countedFor = null }: Pick<StartRequest, "tenant" | "origin" | "countedFor">,
  quota: Quota,
): Promise<StartAdmission> {
  const release = () => concurrency.release(tenant, executionId);
  if (origin.exempt) {
    await concurrency.reserve(tenant, executionId, quota, true);
    return { headers: {}, giveBack: release };
  }
  const use = { tenant, user: countedFor, demands: [demands.of("agent_execution")] };
  const [place, debited] = await Promise.allSettled([
    concurrency.reserve(tenant, executionId, quota, false),
    rates.debit(use),
  ]);
  if (place.status === "rejected") {
    if (debited.status === "fulfilled") await rates.refund(use, debited.value.at);
    throw place.reason;
  }
  if (debited.status === "rejected") {
    await release();
    throw debited.reason;
  }
  const { headers, at } = debited.value;
  return { headers, giveBack: async () => void (await Promise.all([release(), rates.refund(use, at)])) };
}
