/** What other features may use of storage violations. */
export type { Category } from "./records.ts";
export { violationOfCall } from "./refused-call.ts";
export { createStorageViolations, type StorageViolations, type Violation } from "./service.ts";
