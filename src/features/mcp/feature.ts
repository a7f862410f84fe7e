/** The service as a tool server of the Model Context Protocol, for clients that people run (docs/reference/mcp.md). */
import { executions } from "../executions/feature.ts";
import { defineFeature } from "../feature.ts";
import { openFace } from "./face.ts";
import { originCheck } from "./origin.ts";
import { createResources } from "./resources.ts";
import { McpEvent, mcpRoutes } from "./routes.ts";
import { serverOf } from "./server.ts";

export const mcp = defineFeature({
  name: "mcp",
  needs: { executions },
  schemas: { McpEvent },
  open({ publicUrl, corsOrigins, development, openIssuers, info }, { executions }) {
    const resources = createResources({ executions, files: executions.files });
    const face = openFace({ serverOf: (caller) => serverOf(caller, { resources }), report: info });
    return {
      service: null,
      routes: mcpRoutes({
        face,
        publicUrl,
        issuers: openIssuers,
        admits: originCheck({ publicUrl, corsOrigins, development }),
      }),
      queues: [{ name: "mcp_requests", depth: face.open }],
      close: face.close,
    };
  },
});
