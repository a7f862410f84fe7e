/** What other features may use of rate limits. */
export type { Limiter, RateUse } from "./limiter.ts";
