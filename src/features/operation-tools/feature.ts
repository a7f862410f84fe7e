/** Management tools over agents, their executions, and what a node offers. Those of workflows come with their runs. */
import { version } from "../../../package.json";
import { agents } from "../agents/feature.ts";
import { audit } from "../audit/feature.ts";
import { executions } from "../executions/feature.ts";
import { defineFeature } from "../feature.ts";
import { managementTools } from "../management-tools/feature.ts";
import { tools } from "../tools/feature.ts";
import { fsTools } from "../tools/fs/feature.ts";
import { definitions } from "../workflows/definitions/feature.ts";
import { agentTools } from "./agent-tools.ts";
import { briefly, catalogueTools, openedTools } from "./catalogue-tools.ts";
import { generateTool } from "./generate-tool.ts";
import { systemTools } from "./system-tools.ts";
import { taskTools } from "./task-tools.ts";

/** Tools that the writer of manifests is told of. */
const maxToolsShown = 200;

export const operationTools = defineFeature({
  name: "operation-tools",
  needs: { managementTools, tools, fsTools, agents, audit, executions, definitions },
  open(node, { managementTools, tools, agents, executions, definitions }) {
    const { development, publicUrl, models, now } = node;
    const startedAt = now();
    managementTools.offer([
      ...agentTools({ agents, events: executions.agentEvents }),
      ...taskTools({ executions }),
      ...catalogueTools({ agents, workflows: definitions, registry: tools, files: executions.files }),
      generateTool({
        agents,
        executions,
        choicesOf: async (caller) => ({
          runtimes: agents.offer.runtimes
            .filter(({ deprecated }) => !deprecated)
            .map(({ language, version }) => `${language} ${version}`),
          tools: (await openedTools(tools, caller)).slice(0, maxToolsShown).map(briefly),
          models: models.aliases().map(({ alias }) => alias),
        }),
      }),
      ...systemTools({
        configured: node.configured,
        info: () => ({
          version,
          mode: development ? "development" : "production",
          public_url: publicUrl,
          uptime_seconds: Math.floor((now() - startedAt) / 1000),
          isolations: [...agents.offer.isolations],
          models: models.aliases().map(({ alias }) => alias),
        }),
      }),
    ]);
    return { service: null };
  },
});
