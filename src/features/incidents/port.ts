/** What other features may use of incidents. */
export type { Incidents } from "./service.ts";
