/** What other features may use of storage violations. */
export type { Category } from "./records.ts";
export { violationOfCall } from "./refused-call.ts";
export type { StorageViolations, Violation } from "./service.ts";
export { writtenTooMuch } from "./written.ts";
