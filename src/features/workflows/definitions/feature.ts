/** Workflow definitions: manifests, their versions, who sees them. */

import { agents } from "../../agents/feature.ts";
import { audit } from "../../audit/feature.ts";
import { defineFeature } from "../../feature.ts";
import { references } from "../../references/feature.ts";
import { securityContexts } from "../../security-contexts/feature.ts";
import { workflowChoices } from "./choices.ts";
import { exported } from "./exported.ts";
import type { WorkflowFollower, WorkflowUse } from "./port.ts";
import { workflowRecords } from "./records.ts";
import { workflowRoutes } from "./routes.ts";
import { named } from "./schema.ts";
import { createWorkflows } from "./service.ts";

export type { ListedChoice, WorkflowChoice, WorkflowChoices } from "./choices.ts";
export type { Workflows } from "./service.ts";

export const definitions = defineFeature({
  name: "workflows/definitions",
  exported,
  tenantTables: ["workflows", "workflow_changes"],
  schemas: named,
  needs: { agents, audit, references, securityContexts },
  open(
    { sql, sandboxes, openEgress, defaultIsolation, containerRoot, imageRegistries, localImages, mail, now, ...node },
    { agents, audit, references, securityContexts },
  ) {
    audit.erases(workflowRecords(sql).eraseChanges);
    const uses: WorkflowUse[] = [];
    const followers: WorkflowFollower[] = [];
    const workflows = createWorkflows({
      sql,
      offer: {
        isolations: [...sandboxes.offered],
        openEgress,
        defaultIsolation,
        rootAllowed: containerRoot,
        email: mail !== null,
        imageRegistries,
        localImages,
      },
      visibleAgents: agents.known,
      async countRuns(tenant, workflowIds) {
        const counts = await Promise.all(uses.map((use) => use.count(tenant, workflowIds)));
        return new Map(counts.flatMap((each) => [...each]));
      },
      unfinishedRuns: async (ids, limit) => (await Promise.all(uses.map((use) => use.unfinished(ids, limit)))).flat(),
      async cancelRuns(ids, reason) {
        for (const use of uses) await use.cancel(ids, reason);
      },
      follower: {
        async changed(tx, change) {
          for (const one of followers) await one.changed(tx, change);
        },
        async committed(change) {
          await Promise.all(followers.map((one) => one.committed(change)));
        },
      },
      audit,
      references,
      contexts: securityContexts,
      terms: node.tenants.terms,
      now,
      newId: node.newId,
    });
    return {
      service: {
        ...workflows,
        choices: workflowChoices(sql),
        /** Registers who runs workflows: counted in what is shown of them, in the way of their removal. */
        usedBy: (use: WorkflowUse): void => void uses.push(use),
        /** Registers who keeps something in step with the latest versions. */
        followedBy: (one: WorkflowFollower): void => void followers.push(one),
      },
      routes: workflowRoutes(workflows),
    };
  },
});
