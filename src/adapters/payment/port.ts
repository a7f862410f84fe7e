/** The payment provider, by its official client. */
export { openPayment, type Page, type Payment, type PaymentClient, type PaymentOptions } from "./client.ts";
export { type FailureKind, PaymentFailure } from "./failure.ts";
export { apiBaseFault, paymentSettings } from "./settings.ts";
