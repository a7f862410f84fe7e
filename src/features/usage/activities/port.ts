/** What features may use that store outcomes outside of turns. */
export { type Activity, addActivities, addSelected } from "./statements.ts";
