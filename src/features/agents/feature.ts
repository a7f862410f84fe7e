/** Agents: manifests, versions, status; what may be started and what not. */

import type { NodeOffer } from "../../../actors/agent/manifest/spec.ts";
import { builtinTools } from "../../../actors/tool/catalog.ts";
import { anyText, integer, text } from "../../config/setting.ts";
import { audit } from "../audit/feature.ts";
import { changes } from "../changes/feature.ts";
import { defineFeature } from "../feature.ts";
import { references } from "../references/feature.ts";
import { securityContexts } from "../security-contexts/feature.ts";
import { tools } from "../tools/feature.ts";
import { countDeployed } from "./deploy.ts";
import { agentEvents, eraseHistories, forgetOrigins } from "./events.ts";
import { exported } from "./exported.ts";
import { agentNames } from "./names.ts";
import type { AgentChange } from "./parts.ts";
import type { AgentUse } from "./port.ts";
import { nameContext } from "./records.ts";
import { loadRuntimes } from "./registry.ts";
import { agentRoutes, catalogueRoutes } from "./routes.ts";
import { named } from "./schema.ts";
import { createAgents } from "./service.ts";
import { tellOfAgent } from "./telling.ts";

export const agents = defineFeature({
  name: "agents",
  exported,
  tenantTables: ["agent_events", "agent_versions", "agents"],
  schemas: named,
  needs: { audit, changes, references, securityContexts, tools },
  settings: {
    runtimeRegistry: text("SVC_RUNTIME_REGISTRY", {
      meaning: "RuntimeRegistry document whose runtimes join the built-in ones or replace them",
      pattern: anyText.pattern,
      bounds: "a path",
      default: "",
    }),
    maxExecutionSeconds: integer("SVC_MAX_EXECUTION_SECONDS", {
      meaning: "longest an execution may take",
      unit: "s",
      min: 1,
      max: 604_800,
      default: 21_600,
    }),
  },
  open({ settings, sql, now, newId, warn, ...node }, { audit, changes, references, securityContexts, tools }) {
    const { runtimeRegistry, maxExecutionSeconds } = settings;
    const { models, sandboxes } = node;
    const runtimes = loadRuntimes(runtimeRegistry === "" ? null : runtimeRegistry);
    const offer: NodeOffer = {
      runtimes,
      isolations: [...sandboxes.offered],
      defaultIsolation: node.defaultIsolation,
      imageRegistries: node.imageRegistries,
      localImages: node.localImages,
      hostPaths: node.hostPaths,
      maxExecutionSeconds,
      tools: builtinTools.map(({ name }) => name),
      openEgress: node.openEgress,
      development: node.development,
      programFault: (isolation, path) => sandboxes.programFault(isolation, path),
      servesModel: (alias) => models.serves(alias),
    };
    securityContexts.namedBy((tenant, name) => nameContext(sql, tenant, name));
    audit.erases((before, limit) => eraseHistories(sql, before, limit));
    const uses: AgentUse[] = [];
    const watchers: ((change: AgentChange) => Promise<void>)[] = [
      // What is kept ready for an agent belongs to what it was.
      async ({ agentId }) => void sandboxes.drain(agentId).catch(() => {}),
      async (change) =>
        void tellOfAgent(sql, changes, change).catch((error) => warn("changes_not_told", { error: String(error) })),
    ];
    const agents = createAgents({
      sql,
      offer,
      toolNames: async (tenant) => (await tools.of(tenant)).listed.flatMap(({ name, aliases }) => [name, ...aliases]),
      terms: node.tenants.terms,
      async countExecutions(tenant, agentIds) {
        const counts = await Promise.all(uses.map((use) => use.count(tenant, agentIds)));
        return new Map(counts.flatMap((each) => [...each]));
      },
      async cancelExecutions(_tenant, agentId, reason) {
        for (const use of uses) await use.cancel(agentId, reason);
      },
      events: agentEvents,
      audit,
      references,
      contexts: securityContexts,
      watchers,
      now,
      newId,
    });
    return {
      service: {
        ...agents,
        /** How many the tenant has deployed, as its quota counts them. */
        deployed: (tenant: string): Promise<number> => countDeployed(sql, tenant),
        /** Names of agents of any tenant, of deleted ones too. @param ids texts; those that are none of an agent have no name */
        names: (ids: readonly string[]): Promise<ReadonlyMap<string, string>> => agentNames(sql, ids),
        /** What this node's manifests may ask for. */
        offer,
        /** Registers who runs agents: counted in what is shown of them, cancelled when they are deleted. */
        usedBy: (use: AgentUse): void => void uses.push(use),
        /** Registers who is told of every change; see `AgentsOptions.watchers`. */
        onChange: (watcher: (change: AgentChange) => Promise<void>): void => void watchers.push(watcher),
      },
      routes: [...agentRoutes(agents), ...catalogueRoutes(runtimes, models)],
      async erase(tenant) {
        await forgetOrigins(sql, tenant);
        return true;
      },
      jobs: [
        () => {
          void agents.resumeDeletions().catch((error: unknown) => warn("deletions", { error: String(error) }));
          return () => {};
        },
      ],
    };
  },
});
