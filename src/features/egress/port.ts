/** What other features may use of the egress proxy. */
export type { FurtherSubjects } from "./admission.ts";
