/** What other features may use of billing. */
export { customersAtProvider } from "./metered.ts";
