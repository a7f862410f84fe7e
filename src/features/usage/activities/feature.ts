/** What tenants have used: one row an activity, written with its outcome (docs/reference/usage.md). */
import type { Sql } from "../../../store/postgres/pool.ts";
import { defineFeature } from "../../feature.ts";
import { exported } from "./exported.ts";
import { usageFacts } from "./facts.ts";
import { type Activity, addActivities } from "./statements.ts";

export const usageActivities = defineFeature({
  name: "usage/activities",
  exported,
  tenantTables: ["usage_activities", "usage_sums", "usage_storage"],
  open: ({ sql }) => ({ service: { add: adding(sql) }, facts: [usageFacts] }),
});

/** Adds activities that no turn and no other statement stores. Repeatable. @throws what the store throws */
const adding =
  (sql: Sql) =>
  async (activities: readonly Activity[]): Promise<void> => {
    const { text, parameters } = addActivities(activities);
    await sql.unsafe(text, parameters as string[], { prepare: true });
  };
