/**
 * A whole node with a route of its own, `POST /starts`, that starts executions of routers as classification does, so that
 * tests need no stimuli for it.
 */
import { Type } from "@sinclair/typebox";
import { executions } from "../../../../src/features/executions/feature.ts";
import { Started } from "../../../../src/features/executions/schema.ts";
import { defineFeature } from "../../../../src/features/feature.ts";
import { definePublicRoute, jsonBody } from "../../../../src/http/route.ts";
import { loadConfig } from "../../../../src/node/config.ts";
import { startNode } from "../../../../src/node/node.ts";

const starts = defineFeature({
  name: "starts",
  needs: { executions },
  open: (_node, { executions }) => ({
    service: null,
    routes: [
      definePublicRoute({
        method: "POST",
        path: "/starts",
        summary: "Starts an execution of a router",
        hidden: true,
        body: jsonBody(Type.Object({ agentId: Type.String(), input: Type.String() })),
        responses: { 200: Started },
        handler: async ({ body }) => {
          const origin = {
            trigger: "stimulus",
            parent: null,
            workflow: null,
            initiatingUserSub: null,
            exempt: true,
          } as const;
          const asked = { tenant: "svc-system", ...body, origin, starter: null };
          return executions.startAs(Bun.randomUUIDv7(), true, asked);
        },
      }),
    ],
  }),
});

const node = await startNode(loadConfig(process.env), () => {}, { features: [starts] });
process.on("SIGTERM", () => void node.stop().then(() => process.exit(0)));
