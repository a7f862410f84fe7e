/** The payment provider, by its official client. */
export { openPayment, type Payment } from "./client.ts";
export { PaymentFailure } from "./failure.ts";
export { apiBaseFault, paymentSettings } from "./settings.ts";
