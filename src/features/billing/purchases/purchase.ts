/** One purchase: who buys, for whom, by which piece of work, and what the audit log says of it. */
import { createHash } from "node:crypto";
import type { Json } from "../../../../actors/kernel/json.ts";
import type { Call } from "../../../http/route.ts";
import type { Sql } from "../../../store/postgres/pool.ts";
import { type Audit, auditedBy } from "../../audit/port.ts";
import type { Buyer } from "./customers.ts";

export interface Purchase {
  /** Who pays. */
  readonly subject: string;
  readonly buyer: Buyer;
  /** Id of the work: its repetitions share it. */
  readonly work: string;
  /** Puts it on record; called before something changes at the provider. */
  readonly began: () => Promise<void>;
}

export interface PurchaseOptions {
  readonly sql: Sql;
  readonly audit: Pick<Audit, "record">;
  readonly subject: string;
  readonly work: string;
  readonly action: "billing.checkout" | "billing.portal" | "billing.seats" | "billing.tier_changed";
  readonly details: Readonly<Record<string, Json>>;
}

/** Does a purchase for a caller, which is on record from before its effect on, and as failed where that did not come about. */
export async function purchasing<T>(
  call: Pick<Call, "identity" | "request" | "requestId" | "address">,
  { sql, audit, subject, work, action, details }: PurchaseOptions,
  does: (purchase: Purchase) => Promise<T>,
): Promise<T> {
  const by = auditedBy(call);
  const change = { tenant: subject, action, target: { type: "subscription", id: subject }, details };
  let isOnRecord = false;
  const began = async () => {
    if (!isOnRecord) await audit.record(sql, by, change);
    isOnRecord = true;
  };
  try {
    return await does({ subject, buyer: buyerOf(call.identity), work, began });
  } catch (error) {
    if (isOnRecord) await audit.record(sql, by, change, "failed");
    throw error;
  }
}

/** The provider writes to people, not to operators and machines that act for them. */
function buyerOf({ kind, email, userId }: Call["identity"]): Buyer {
  const isPerson = kind !== "operator" && kind !== "service_account";
  return { email: isPerson ? email : null, sub: userId };
}

/**
 * The key of one step of a piece of work. A repetition of the work that asks for the same finds what the first one did; one
 * that asks for something else, since something changed in between, has another key.
 */
export function stepKey(work: string, step: string, asked: unknown): string {
  const digest = createHash("sha256").update(JSON.stringify(asked)).digest("base64url");
  return `${work}.${step}.${digest}`;
}
