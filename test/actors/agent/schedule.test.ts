/** What starts an agent by itself (docs/reference/agents.md). */
import { expect, test } from "bun:test";
import type { Json } from "../../../actors/kernel/json.ts";
import { manifestWith, reading, specOf } from "./offer.ts";

const schedule = (value: Json) => manifestWith("spec.schedule", value);

test.each([
  [
    { type: "cron", cron: "*/5 * * * *" },
    { type: "cron", cron: "*/5 * * * *", timezone: "UTC" },
  ],
  [
    { type: "cron", cron: "  0 6  * * MON-FRI ", timezone: "Europe/Vienna" },
    { type: "cron", cron: "0 6 * * MON-FRI", timezone: "Europe/Vienna" },
  ],
  [
    { type: "cron", cron: "0 0 29 2 *" },
    { type: "cron", cron: "0 0 29 2 *", timezone: "UTC" },
  ],
  [
    { type: "cron", cron: "0 0 * MAR THU" },
    { type: "cron", cron: "0 0 * MAR THU", timezone: "UTC" },
  ],
  [
    { type: "interval", seconds: 60 },
    { type: "interval", every_ms: 60_000 },
  ],
  [
    { type: "interval", seconds: 60, enabled: true },
    { type: "interval", every_ms: 60_000 },
  ],
  [{ type: "interval", seconds: 60, enabled: false }, null],
  [{ type: "cron", cron: "* * * * *", enabled: false }, null],
  [{ type: "manual" }, null],
  [null, null],
])("%j", (value, expected) => {
  expect(specOf(schedule(value)).schedule).toEqual(expected as never);
});

test.each([
  ["daily", ""],
  [{}, "type"],
  [{ type: "lunar" }, "type"],
  [{ type: "cron" }, "cron"],
  [{ type: "cron", cron: "* * * *" }, "cron"],
  [{ type: "cron", cron: "0 * * * * *" }, "cron"],
  [{ type: "cron", cron: "@daily" }, "cron"],
  [{ type: "cron", cron: "60 * * * *" }, "cron"],
  [{ type: "cron", cron: "H * * * *" }, "cron"],
  [{ type: "cron", cron: "1,h 0 * * *" }, "cron"],
  [{ type: "cron", cron: "0 0 30 2 *" }, "cron"],
  [{ type: "cron", cron: "*/0 * * * *" }, "cron"],
  [{ type: "cron", cron: "a b c d e" }, "cron"],
  [{ type: "cron", cron: "1,".repeat(200) }, "cron"],
  [{ type: "cron", cron: "0 0 30 2 *", enabled: false }, "cron"],
  [{ type: "cron", cron: "* * * * *", timezone: "Mars/Olympus" }, "timezone"],
  [{ type: "cron", cron: "* * * * *", timezone: "+01:00" }, "timezone"],
  [{ type: "interval" }, "seconds"],
  [{ type: "interval", seconds: 59 }, "seconds"],
  [{ type: "interval", seconds: 60.5 }, "seconds"],
  [{ type: "interval", seconds: 1e9 }, "seconds"],
  [{ type: "manual", enabled: "no" }, "enabled"],
])("%j", (value, below) => {
  const path = below === "" ? "spec.schedule" : `spec.schedule.${below}`;
  expect(reading(schedule(value)).issues).toEqual([[path, "invalid"]]);
});
