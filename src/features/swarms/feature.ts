/** Swarms: executions that go on together hold resources alone and send each other messages. */
import { swarm } from "../../../actors/swarm/swarm.ts";
import { repeatedly } from "../../lib/timers.ts";
import { audit } from "../audit/feature.ts";
import { executions } from "../executions/feature.ts";
import { defineFeature } from "../feature.ts";
import { managementTools } from "../management-tools/feature.ts";
import { tools } from "../tools/feature.ts";
import { exported } from "./exported.ts";
import { swarmsProjection } from "./projection.ts";
import { swarmReading } from "./reading.ts";
import { swarmRecords } from "./records.ts";
import { swarmRoutes } from "./routes.ts";
import { Swarm, SwarmDetail } from "./schema.ts";
import { createSwarms, eraseSwarms } from "./service.ts";
import { swarmTools } from "./tools.ts";

const sweepMs = 60_000;
/** Rows of a kind that one statement takes away; there are as many statements as it takes. */
const sweptAtOnce = 1_000;

export const swarms = defineFeature({
  name: "swarms",
  exported,
  schemas: { Swarm, SwarmDetail },
  tenantTables: ["swarm_messages", "swarm_locks", "swarms"],
  needs: { audit, executions, managementTools, tools },
  open({ sql, runtime, newId, warn }, { executions, managementTools }) {
    const records = swarmRecords(sql);
    const reading = swarmReading(sql);
    const { swarmOf, isDissolved } = createSwarms({ runtime, executions });
    const sweep = async (isStopping: () => boolean) => {
      while ((await records.sweep(sweptAtOnce)) && !isStopping());
    };
    const hasChildren = async (tenant: string, executionId: string) => {
      const page = { limit: 1, offset: 0, after: null };
      return (await executions.list(tenant, { parent_execution_id: executionId }, page)).count > 0;
    };
    managementTools.offer(swarmTools({ records, executions, hasChildren, isDissolved }));
    return {
      service: { countActive: reading.countActive },
      routes: swarmRoutes({ sql, runtime, reading, swarmOf, newId }),
      actors: [swarm],
      projections: [swarmsProjection],
      erase: (tenant) => eraseSwarms({ runtime, reading }, tenant),
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
