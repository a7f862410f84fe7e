/** What other features may use of stimuli/intake. */

export { keptMs } from "./acceptance.ts";
export type { Intake, IntakeAnswer } from "./intake.ts";
export { firstIdOf } from "./records.ts";
export { Received, Routed } from "./schema.ts";
