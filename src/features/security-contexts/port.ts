/** What other features may use of security contexts. */
export type { CallCounters, CallLease, CountedCall, CountedFor } from "./counters.ts";
export type { ContextCaller, ContextReader, KnownContext } from "./known.ts";
