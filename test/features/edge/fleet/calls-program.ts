/** A whole node with a route of its own, by which a test makes tool calls on hosts as agents do. */
import { Type } from "@sinclair/typebox";
import { AnyJson } from "../../../../actors/kernel/json.ts";
import { auditedBy } from "../../../../src/features/audit/port.ts";
import { edgeFleet } from "../../../../src/features/edge/fleet/feature.ts";
import type { FleetCaller, HostCall, HostCallOutcome } from "../../../../src/features/edge/fleet/port.ts";
import { defineFeature } from "../../../../src/features/feature.ts";
import { defineRoute, jsonBody } from "../../../../src/http/route.ts";
import { loadConfig } from "../../../../src/node/config.ts";
import { startNode } from "../../../../src/node/node.ts";

const calls = defineFeature({
  name: "host-calls",
  needs: { edgeFleet },
  open: (_, { edgeFleet }) => ({
    service: null,
    routes: [
      defineRoute({
        method: "POST",
        path: "/calls/:id",
        summary: "Makes a tool call on a host",
        hidden: true,
        params: Type.Object({ id: Type.String() }),
        body: jsonBody(AnyJson),
        refusals: ["multiple_targets", "host_not_found", "agent_runs_denied"],
        responses: { 200: Type.Any() },
        handler: async (call) => {
          const { identity, tenant, params } = call;
          const agent: FleetCaller = {
            ...{ tenant, identity, by: auditedBy(call), entry: "mcp", isAgent: true, executionId: "e1", trace: null },
          };
          await edgeFleet.hostCalls.begin(agent, params.id, call.body as unknown as HostCall);
          const outcome: HostCallOutcome = await edgeFleet.hostCalls.settled(
            tenant,
            params.id,
            AbortSignal.timeout(5000),
          );
          return outcome;
        },
      }),
    ],
  }),
});

const node = await startNode(loadConfig(process.env), () => {}, { features: [calls] });
process.on("SIGTERM", () => void node.stop().then(() => process.exit(0)));
