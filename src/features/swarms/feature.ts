/** Swarms: executions that go on together hold resources alone and send each other messages. */
import { repeatedly } from "../../lib/timers.ts";
import { executions } from "../executions/feature.ts";
import { defineFeature } from "../feature.ts";
import { managementTools } from "../management-tools/feature.ts";
import { tools } from "../tools/feature.ts";
import { swarmRecords } from "./records.ts";
import { swarmTools } from "./tools.ts";

const sweepMs = 60_000;
/** Rows of a kind that one statement takes away; there are as many statements as it takes. */
const sweptAtOnce = 1_000;

export const swarms = defineFeature({
  name: "swarms",
  tenantTables: ["swarm_messages", "swarm_locks"],
  needs: { executions, managementTools, tools },
  open({ sql, warn }, { executions, managementTools }) {
    const records = swarmRecords(sql);
    const sweep = async (isStopping: () => boolean) => {
      while ((await records.sweep(sweptAtOnce)) && !isStopping());
    };
    const hasChildren = async (tenant: string, executionId: string) => {
      const page = { limit: 1, offset: 0, after: null };
      return (await executions.list(tenant, { parent_execution_id: executionId }, page)).count > 0;
    };
    managementTools.offer(swarmTools({ records, executions, hasChildren }));
    return {
      service: null,
      sweeps: [
        () => {
          let isStopping = false;
          const stop = repeatedly(
            sweepMs,
            () => sweep(() => isStopping),
            (error) => warn("swarms_unswept", { error: String(error) }),
          );
          return () => {
            isStopping = true;
            return stop();
          };
        },
      ],
    };
  },
});
