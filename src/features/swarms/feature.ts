/** Swarms: executions that go on together hold resources alone and send each other messages. */
import { repeatedly } from "../../lib/timers.ts";
import { executions } from "../executions/feature.ts";
import { defineFeature } from "../feature.ts";
import { managementTools } from "../management-tools/feature.ts";
import { tools } from "../tools/feature.ts";
import { swarmRecords } from "./records.ts";
import { swarmTools } from "./tools.ts";

const sweepMs = 60_000;
/** Rows that one round takes away. */
const sweptAtOnce = 1_000;

export const swarms = defineFeature({
  name: "swarms",
  tenantTables: ["swarm_messages", "swarm_locks"],
  needs: { executions, managementTools, tools },
  open({ sql, warn }, { executions, managementTools }) {
    const records = swarmRecords(sql);
    const hasChildren = async (tenant: string, executionId: string) => {
      const page = { limit: 1, offset: 0, after: null };
      return (await executions.list(tenant, { parent_execution_id: executionId }, page)).count > 0;
    };
    managementTools.offer(swarmTools({ records, executions, hasChildren }));
    return {
      service: null,
      sweeps: [
        () =>
          repeatedly(
            sweepMs,
            () => records.sweep(sweptAtOnce),
            (error) => warn("swarms_unswept", { error: String(error) }),
          ),
      ],
    };
  },
});
