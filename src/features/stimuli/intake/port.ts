/** What other features may use of stimuli/intake. */
export { firstIdOf } from "./ids.ts";
export type { Ingest, Ingested } from "./ingest.ts";
export { Received, Routed } from "./ingest-schema.ts";
export { keptMs } from "./intake.ts";
