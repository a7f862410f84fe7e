/** Pages of the provider on which a customer may still pay. */
import { type Payment, PaymentFailure } from "../../../adapters/payment/port.ts";

/** Expires a customer's open ones. @returns their ids @throws PaymentFailure */
export async function expireOpenSessions(payment: Payment, customer: string): Promise<readonly string[]> {
  const open = await payment.list("list open checkouts", (client, page, options) =>
    client.checkout.sessions.list({ ...page, customer, status: "open" }, options),
  );
  for (const { id } of open) {
    // Expiring one twice does no harm, so that each call may have a key of its own.
    await payment
      .write("expire checkout", `expire.${crypto.randomUUID()}`, (client, options) =>
        client.checkout.sessions.expire(id, {}, options),
      )
      .catch((error: unknown) => {
        // It was completed or expired meanwhile.
        if (!(error instanceof PaymentFailure) || error.kind !== "refused") throw error;
      });
  }
  return open.map(({ id }) => id);
}
