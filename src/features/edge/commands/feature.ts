/** Commands: attempts at running a tool on a host. Turns of hosts write them, and runs and people read them. */
import { defineFeature } from "../../feature.ts";
import { usageActivities } from "../../usage/activities/feature.ts";
import { exported } from "./exported.ts";
import { commandFacts, frameFacts, runArgsFacts } from "./facts.ts";
import { commandRecords } from "./records.ts";

export const edgeCommands = defineFeature({
  name: "edge/commands",
  exported,
  needs: { usageActivities },
  tenantTables: ["edge_frames", "edge_commands", "edge_run_args"],
  open: ({ sql }) => ({ service: commandRecords(sql), facts: [commandFacts, frameFacts, runArgsFacts] }),
});
