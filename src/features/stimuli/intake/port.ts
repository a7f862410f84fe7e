/** What other features may use of stimuli/intake. */

export { keptMs } from "./acceptance.ts";
export { firstIdOf } from "./ids.ts";
export type { Intake, IntakeAnswer } from "./intake.ts";
export { Received, Routed } from "./schema.ts";
