/** Usage over time: storage is looked at, hours and days are summed up, what is old goes (docs/reference/usage.md). */
import { integer } from "../../../config/setting.ts";
import { repeatedly } from "../../../lib/timers.ts";
import { defineFeature } from "../../feature.ts";
import { volumes } from "../../volumes/feature.ts";
import { usageActivities } from "../activities/feature.ts";
import { eraseOldUsage } from "./retention.ts";
import { sampleStorage } from "./sampling.ts";
import { sumUp } from "./summing.ts";

const everyMs = 60_000;
const eraseEveryMs = 3_600_000;

export const usageUpkeep = defineFeature({
  name: "usage/upkeep",
  needs: { usageActivities, volumes },
  settings: {
    usageRetentionDays: integer("SVC_USAGE_RETENTION_DAYS", {
      meaning: "how long usage is kept, longer than the records behind it",
      unit: "days",
      min: 31,
      max: 3650,
      default: 400,
    }),
  },
  open({ settings, sql, now, info, warn }, { volumes }) {
    const failed = (error: unknown) => warn("usage_upkeep_failed", { error: String(error) });
    const round = async () => {
      await sampleStorage({ sql, held: volumes.heldByTenants });
      while (await sumUp(sql));
    };
    const erase = async () => {
      const count = await eraseOldUsage({ sql, retentionDays: settings.usageRetentionDays, now });
      if (count > 0) info("usage_erased", { count });
    };
    return {
      service: null,
      sweeps: [() => repeatedly(everyMs, round, failed), () => repeatedly(eraseEveryMs, erase, failed)],
    };
  },
});
