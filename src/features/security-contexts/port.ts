/** What other features may use of security contexts. */
export type { CallCounters } from "./counters.ts";
export type { ContextReader } from "./known.ts";
