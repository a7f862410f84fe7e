/** The activity `delivery.send`: tells one destination of an execution's end. */

import type { Delivery } from "../../../../actors/agent/manifest/execution/results.ts";
import type { NetworkSpec } from "../../../../actors/agent/manifest/spec.ts";
import { deliverySend } from "../../../../actors/execution/activities.ts";
import { execution } from "../../../../actors/execution/execution.ts";
import { deliveryBody } from "../../../../actors/execution/output/delivery.ts";
import { type GuardedOptions, guardedFetch } from "../../../adapters/egress/port.ts";
import { signatureHeader, signatureOf } from "../../../lib/digest.ts";
import {
  type Activity,
  type ActivityContext,
  type Address,
  implement,
  isServiceAway,
  Retryable,
  type Runtime,
  Terminal,
} from "../../../runtime/port.ts";
import { type Incidents, reportRefusedCall } from "../../incidents/port.ts";
import type { Plans } from "../plans.ts";
import { networkOf, outputOf, requestHeaders } from "./output.ts";
import { failureOf, NotTaken } from "./webhook-call.ts";

export interface DeliveryOptions {
  readonly runtime: Pick<Runtime, "of">;
  readonly plans: Plans;
  readonly outside: GuardedOptions;
  readonly incidents: Pick<Incidents, "report">;
  /** Pause before the second attempt; it doubles. 10 s when left out. */
  readonly firstDelayMs?: number;
  /** Told when a destination is given up. */
  log(event: string, facts: Readonly<Record<string, unknown>>): void;
}

const maxAttempts = 5;
const timeoutMs = 30_000;
/** What a destination answers is read no further. */
const maxAnswerBytes = 4096;

export function deliverySendActivity(options: DeliveryOptions): Activity {
  const { outside, incidents, firstDelayMs = 10_000, log } = options;
  return implement(
    deliverySend,
    {
      // A destination that does not answer keeps its place for minutes; tenants get theirs in turn.
      concurrency: 256,
      retry: { attempts: maxAttempts, firstDelayMs },
    },
    async ({ delivery }, context) => {
      const { actor, attempt, signal } = context;
      try {
        const { destination, body, network } = await addressedDelivery(options, actor, delivery);
        return { status: await post(destination, body, network, context, outside) };
      } catch (error) {
        if (signal.aborted || error instanceof Terminal || isServiceAway(error)) throw error;
        reportRefusedCall(incidents, { tenant: actor.tenant, agentId: null, executionId: actor.key }, error);
        const { message } = failureOf(error);
        if (attempt < maxAttempts) throw new Retryable(message, firstDelayMs * 2 ** (attempt - 1));
        log("delivery_failed", { execution_id: actor.key, tenant: actor.tenant, delivery, message });
        throw new Terminal("delivery_failed", message);
      }
    },
  );
}

/** @throws Terminal when the execution was erased */
async function addressedDelivery(
  { runtime, plans }: DeliveryOptions,
  actor: Address,
  index: number,
): Promise<{ readonly destination: Delivery; readonly body: string; readonly network: NetworkSpec | null }> {
  const state = await runtime.of(execution).at(actor.tenant, actor.key).read();
  const plan = state === null ? undefined : await plans.of(actor);
  const destination = plan?.deliveries[index];
  if (state === null || plan === undefined || destination === undefined) {
    throw new Terminal("execution_not_found", "The execution was removed");
  }
  const output = state.status === "completed" ? await outputOf(runtime, actor) : null;
  return { destination, body: JSON.stringify(deliveryBody(actor.key, state, output)), network: networkOf(plan) };
}

/** @returns the status of a success. @throws NotTaken, EgressRefused, EgressFailed */
async function post(
  { url, method, headers, secret }: Delivery,
  body: string,
  network: NetworkSpec | null,
  { id, signal }: ActivityContext,
  outside: GuardedOptions,
): Promise<number> {
  const defaults = { "Content-Type": "application/json", "User-Agent": "svc" };
  const signed = secret === null ? {} : { [signatureHeader]: signatureOf(secret, body) };
  const { status } = await guardedFetch(
    {
      url,
      method,
      headers: requestHeaders(defaults, headers, { ...signed, "Idempotency-Key": id }),
      body,
      timeoutMs,
      maxBytes: maxAnswerBytes,
      network,
      reach: "public",
      signal,
    },
    outside,
  );
  if (status < 200 || status > 299) throw new NotTaken(status);
  return status;
}
