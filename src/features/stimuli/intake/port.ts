/** What other features may use of stimuli/intake. */

export { keptMs } from "./acceptance.ts";
export { type Intake, type IntakeAnswer, routedAnswer } from "./intake.ts";
export { Received, Routed } from "./schema.ts";
export { readContent, type WrittenContent } from "./written-content.ts";
