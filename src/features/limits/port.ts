/** What other features may use of rate limits. */
export type { Debited, Limiter, RateUse } from "./limiter.ts";
