/** Writes what turns state of usage, in the statement that commits the turns. */
import { type UsageFact, usageFact } from "../../../../actors/usage/activity.ts";
import type { FactWriter } from "../../../runtime/port.ts";
import { addActivities } from "./statements.ts";

export const usageFacts: FactWriter = {
  name: usageFact.name,
  // Actors make them by the definition alone.
  write: (facts) => [addActivities(facts.map(({ tenant, fact }) => ({ ...(fact as UsageFact), tenant })))],
};
