/** What agents may do with edge hosts: run tools on one of them, and fleet runs on many. */
import { audit } from "../../audit/feature.ts";
import { defineFeature } from "../../feature.ts";
import { managementTools } from "../../management-tools/feature.ts";
import { pipeline } from "../../pipeline/feature.ts";
import { tools } from "../../tools/feature.ts";
import { edgeFleet } from "../fleet/feature.ts";
import { createHostRoute } from "./route.ts";
import { fleetTools } from "./tools.ts";

export const edgeAgentCalls = defineFeature({
  name: "edge/agent-calls",
  needs: { audit, edgeFleet, managementTools, pipeline, tools },
  open({ runtime }, { edgeFleet: { runs, hostCalls }, managementTools, pipeline }) {
    managementTools.offer(fleetTools({ fleet: runs }));
    pipeline.hostsBy(createHostRoute({ runtime, hostCalls, actingFor: managementTools.actingFor }));
    return { service: null };
  },
});
