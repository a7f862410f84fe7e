/** The service as a tool server of the Model Context Protocol, for clients that people run (docs/reference/mcp.md). */
import { agents } from "../agents/feature.ts";
import { approvals } from "../approvals/feature.ts";
import { encryption } from "../encryption/feature.ts";
import { executions } from "../executions/feature.ts";
import { defineFeature } from "../feature.ts";
import { managementTools } from "../management-tools/feature.ts";
import { pipeline } from "../pipeline/feature.ts";
import { seal } from "../seal/feature.ts";
import { securityContexts } from "../security-contexts/feature.ts";
import { tools } from "../tools/feature.ts";
import { volumes } from "../volumes/feature.ts";
import { waitingCalls } from "../waiting-calls/feature.ts";
import { invocationGet } from "../waiting-calls/port.ts";
import { definitions } from "../workflows/definitions/feature.ts";
import { isLastEvent, runs } from "../workflows/runs/feature.ts";
import { createAsking } from "./asking.ts";
import { createToolCalls } from "./calls.ts";
import { openFace } from "./face.ts";
import { agentWork, runWork } from "./following.ts";
import { originCheck } from "./origin.ts";
import { requestStates } from "./request-state.ts";
import { createResources } from "./resources.ts";
import { McpEvent, mcpRoutes } from "./routes.ts";
import { serverOf } from "./server.ts";
import { createTools } from "./tools.ts";

export const mcp = defineFeature({
  name: "mcp",
  needs: {
    agents,
    approvals,
    encryption,
    executions,
    definitions,
    runs,
    managementTools,
    pipeline,
    seal,
    securityContexts,
    tools,
    volumes,
    waitingCalls,
  },
  schemas: { McpEvent },
  open({ runtime, tenants, publicUrl, corsOrigins, development, openIssuers, now, newId, info, warn }, needs) {
    const { agents, executions, definitions, runs, managementTools, pipeline, seal, securityContexts } = needs;
    const { waitingCalls, approvals, encryption } = needs;
    const calls = createToolCalls({
      pipeline,
      contexts: securityContexts,
      attempts: seal.attempts,
      tenants,
      askPeople: waitingCalls.open,
      newId,
    });
    const asking = createAsking({
      calls,
      waiting: waitingCalls,
      approvals,
      states: requestStates(encryption, now),
      newId,
    });
    const offered = createTools({
      calls,
      asking,
      mayCall: ({ identity }, name) => name === invocationGet || managementTools.mayCall(identity, name),
      kinds: {
        agent: {
          prefix: "run_",
          starts: "svc.task.execute",
          offered: agents.offered,
          work: agentWork({ runtime, executions }),
          argumentsOf: (name, input) => ({ agent_id: name, input }),
        },
        workflow: {
          prefix: "run_workflow_",
          starts: "svc.workflow.run",
          offered: definitions.offered,
          work: runWork({ runtime, runs, isLast: isLastEvent }),
          argumentsOf: (name, input) => ({ name, input }),
        },
      },
      warn,
    });
    const resources = createResources({ executions, files: executions.files });
    const face = openFace({
      serverOf: (caller) => serverOf(caller, { resources, tools: offered, asking, newId }),
      report: info,
    });
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
