/** Where the payment provider's events come in: proven, stored, answered. They are worked through afterwards. */
import { Type } from "@sinclair/typebox";
import { readEvent } from "../../../../actors/billing/events.ts";
import { fields, idOf } from "../../../../actors/billing/read.ts";
import { Problem } from "../../../../actors/kernel/problem.ts";
import { definePublicRoute, type Route, rawBody } from "../../../http/route.ts";
import type { Secret } from "../../../lib/secret.ts";
import { inBatches } from "../../../store/batches.ts";
import type { Sql } from "../../../store/postgres/pool.ts";
import { type NewEvent, storeEvents } from "./records.ts";
import { readSignature, verifySignature } from "./signature.ts";

export interface IntakeOptions {
  readonly sql: Sql;
  /** Any of them; empty: the webhook is not configured. */
  readonly secrets: readonly Secret[];
  /** Unix ms. */
  readonly now: () => number;
  /** Told of each delivery that was proven. */
  readonly counted: (outcome: "received" | "duplicate" | "not_stored") => void;
  /** Called behind the commit of what is to be worked through. Must not throw. */
  readonly stored: () => void;
  readonly warn: (event: string, facts: Readonly<Record<string, unknown>>) => void;
}

const maxBodyBytes = 1_048_576;
/** A statement takes milliseconds: while a few are under way the next one fills. */
const batches = { rows: 200, statements: 2 };
/** Events that are about to be stored. */
const maxWaiting = 2_000;

const ProviderEventBody = Type.Object(
  { id: Type.String(), type: Type.String() },
  {
    description: "As the provider writes it; signed as bytes",
    additionalProperties: true,
    examples: [{ id: "evt_1Qb", type: "customer.subscription.updated", created: 1_933_000_000, data: { object: {} } }],
  },
);
const Received = Type.Object({ received: Type.Literal(true), duplicate: Type.Optional(Type.Literal(true)) });

export function intakeRoute({ sql, secrets, now, counted, stored, warn }: IntakeOptions): Route {
  const store = inBatches((events: readonly NewEvent[]) => storeEvents(sql, events), batches);

  let waiting = 0;

  async function isNew(event: NewEvent): Promise<boolean> {
    if (waiting >= maxWaiting) throw notStored();
    waiting += 1;
    try {
      return await store(event);
    } catch (error) {
      counted("not_stored");
      warn("billing_event_not_stored", { event: event.event.id, error: String(error) });
      throw notStored();
    } finally {
      waiting -= 1;
    }
  }

  return definePublicRoute({
    method: "POST",
    path: "/v1/webhooks/stripe",
    summary: "Deliver a signed event of the payment provider",
    headers: Type.Object({ "Stripe-Signature": Type.String() }),
    body: rawBody({ limit: maxBodyBytes, schema: ProviderEventBody, shown: ["application/json"] }),
    responses: { 200: Received },
    refusals: [
      "webhook_not_configured",
      "missing_signature",
      "malformed_signature",
      "invalid_signature",
      "signature_expired",
      "malformed_body",
      "body_too_large",
    ],
    prove({ request }) {
      if (secrets.length === 0)
        throw new Problem("webhook_not_configured", "The payment provider's webhook is not configured");
      if (Number(request.headers.get("content-length") ?? 0) > maxBodyBytes)
        throw new Problem("body_too_large", `The body has more than ${maxBodyBytes} bytes`);
      return readSignature(request.headers);
    },
    async handler({ proof, bytes, body }) {
      verifySignature(proof, bytes, secrets, now());
      const event = eventIn(body.text());
      const isFirst = await isNew(event);
      counted(isFirst ? "received" : "duplicate");
      if (!isFirst) return { received: true, duplicate: true };
      stored();
      return { received: true };
    },
  });
}

/** The provider delivers again what is answered so. */
const notStored = (): Problem => new Problem("internal_error", "The event could not be stored");

/** @throws Problem 400 `malformed_body` */
function eventIn(text: string): NewEvent {
  const event = readEvent(parsed(text));
  if (event === null) throw new Problem("malformed_body", "The body is no event");
  return { event, customer: customerIn(event), body: text };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function customerIn({ type, object }: NewEvent["event"]): string | null {
  return type.startsWith("customer.") && !type.startsWith("customer.subscription")
    ? idOf(object)
    : idOf(fields(object).customer);
}
