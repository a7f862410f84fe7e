/** What other features may use of incidents. */
export { reportRefusedCall } from "./refused-call.ts";
export type { Category, Incident, Incidents } from "./service.ts";
