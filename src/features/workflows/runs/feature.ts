/** Workflow runs: started, observed, paused, cancelled; and what a run's states do outside its actor. */

import { demands } from "../../../../actors/policy/rates/limits.ts";
import { workflowRun } from "../../../../actors/workflow/run/run.ts";
import { integer, text } from "../../../config/setting.ts";
import type { Address } from "../../../runtime/port.ts";
import { agents } from "../../agents/feature.ts";
import { approvals } from "../../approvals/feature.ts";
import { audit } from "../../audit/feature.ts";
import { edgeFleet } from "../../edge/fleet/feature.ts";
import { executionTokens } from "../../execution-tokens/feature.ts";
import { executionSettings, executions } from "../../executions/feature.ts";
import { judgedFacts } from "../../executions/port.ts";
import { defineFeature } from "../../feature.ts";
import { incidents } from "../../incidents/feature.ts";
import { invocations } from "../../invocations/feature.ts";
import { limits } from "../../limits/feature.ts";
import { managementTools } from "../../management-tools/feature.ts";
import { pipeline } from "../../pipeline/feature.ts";
import { references } from "../../references/feature.ts";
import { securityContexts } from "../../security-contexts/feature.ts";
import { storageViolations } from "../../storage-violations/feature.ts";
import { tools } from "../../tools/feature.ts";
import { usageActivities } from "../../usage/activities/feature.ts";
import { volumes } from "../../volumes/feature.ts";
import { waitingCalls } from "../../waiting-calls/feature.ts";
import { definitions } from "../definitions/feature.ts";
import { waits } from "../waits/feature.ts";
import { cleanupActivity, webhookActivity } from "./activities.ts";
import { fleetResultsActivity } from "./calls/fleet-results.ts";
import { httpCallActivity } from "./calls/http-call.ts";
import { toolCallActivity } from "./calls/tool-call.ts";
import { commandActivity } from "./commands/commands.ts";
import { registryLogins } from "./commands/registry-logins.ts";
import { commandSecrets } from "./commands/secrets.ts";
import { startSweepingCommands } from "./commands/sweep.ts";
import { exported } from "./exported.ts";
import { exportedRuns } from "./exported-records.ts";
import { itemFacts } from "./items/facts.ts";
import { itemRecords } from "./items/records.ts";
import { mapResultsActivity } from "./items/results.ts";
import { itemRoutes } from "./items/routes.ts";
import { runOf } from "./items/run-of.ts";
import { runLogRoutes } from "./log/log-routes.ts";
import { runMetrics } from "./metrics.ts";
import { migrating } from "./migrating/migrating.ts";
import { migrateRoute } from "./migrating/route.ts";
import { endRuns, eraseRuns } from "./of-tenant.ts";
import { runsProjection } from "./projection.ts";
import { countEnded, countOpen, createRunRecords } from "./records.ts";
import { runRoutes } from "./routes.ts";
import { named } from "./schema.ts";
import { createRuns } from "./service.ts";
import { admissionActivity } from "./start/admission.ts";
import { agentStartActivity } from "./start/agents.ts";
import { subrunActivity } from "./start/subruns.ts";
import { heldByRuns, startErasing } from "./sweep.ts";
import { intentTools } from "./tools/intent-tools.ts";
import { reviewByExecutions } from "./tools/review.ts";
import { workflowTools } from "./tools/tools.ts";

export { isTerminal as isLastEvent } from "./log/log.ts";
export type { Runs } from "./service.ts";

export const runs = defineFeature({
  name: "workflows/runs",
  exported,
  tenantTables: ["workflow_runs", "workflow_maps", "workflow_items", "workflow_batches"],
  schemas: named,
  needs: {
    agents,
    audit,
    definitions,
    executions,
    executionTokens,
    volumes,
    approvals,
    limits,
    usageActivities,
    tools,
    managementTools,
    incidents,
    references,
    securityContexts,
    storageViolations,
    edgeFleet,
    invocations,
    pipeline,
    waitingCalls,
    waits,
  },
  settings: {
    maxCommands: integer("SVC_MAX_COMMANDS", {
      meaning: "commands of workflows that a node runs at once; more wait",
      unit: "commands",
      min: 1,
      max: 4096,
      default: 32,
    }),
    systemImage: text("SVC_SYSTEM_IMAGE", {
      meaning: "image of System states that name none, where they run in containers",
      pattern: /^[A-Za-z0-9][A-Za-z0-9._:/@-]{0,511}$/,
      bounds: "an image reference",
      default: "docker.io/library/busybox:stable",
    }),
    executionRetentionDays: executionSettings.executionRetentionDays,
  },
  open(
    { settings, ...node },
    {
      agents,
      definitions,
      executions,
      executionTokens,
      volumes,
      approvals,
      limits,
      managementTools,
      incidents,
      references,
      securityContexts,
      storageViolations,
      usageActivities,
      edgeFleet,
      invocations,
      pipeline,
      tools,
      waitingCalls,
    },
  ) {
    const { sql, dataDir, runtime, sandboxes, outside, streams, now, info } = node;
    const records = createRunRecords(sql);
    const items = itemRecords(sql);
    const runs = createRuns({
      runtime,
      records,
      definitions,
      volumes,
      references,
      contexts: securityContexts,
      starters: node.starters,
      terms: node.tenants.terms,
      admit: async ({ tenant, countedFor }) => {
        const use = { tenant, user: countedFor ?? null, demands: [demands.of("workflow_execution")] };
        const { headers, at } = await limits.debit(use);
        return { headers, refund: () => limits.refund(use, at) };
      },
      now,
    });
    const headerOf = async ({ tenant, key }: Address) =>
      (await runtime.of(workflowRun).at(tenant, key).read())?.header ?? null;
    const runIdOf = async (actor: Address) => {
      const state = (await runtime.of(workflowRun).readListed(actor.tenant, [actor.key])).get(actor.key);
      return state === undefined ? actor.key : runOf(actor, state.header).executionId;
    };
    const held = heldByRuns(runtime, records);
    executions.heldBy(held);
    volumes.heldBy(records.known);
    definitions.usedBy({
      count: records.countByWorkflow,
      unfinished: runs.unfinishedOf,
      cancel: runs.cancelOfWorkflow,
    });
    const reviewers = reviewByExecutions(executions);
    const { runtimes } = agents.offer;
    const { publicUrl } = node;
    managementTools.offer([
      ...workflowTools({ runs, runtime, approvals, workflows: definitions, reviewers }).tools,
      ...intentTools({ runs, runtimes, publicUrl }),
    ]);
    const retentionDays = settings.executionRetentionDays;
    return {
      service: { ...runs, countEnded, countOpen },
      routes: [
        ...runRoutes({ runs, approvals, sql, rates: limits.tell("workflow_execution") }),
        ...runLogRoutes({ runs, streams, runtime }),
        migrateRoute(
          migrating({
            ...{ runtime, records, definitions, contexts: securityContexts },
            ...{ starters: node.starters, terms: node.tenants.terms },
          }),
        ),
        ...itemRoutes({ runs, runtime, records: items }),
      ],
      actors: [workflowRun],
      activities: () => [
        commandActivity({
          dataDir,
          maxCommands: settings.maxCommands,
          sandboxes,
          defaultIsolation: node.defaultIsolation,
          systemImage: settings.systemImage,
          imageRegistries: node.imageRegistries,
          localImages: node.localImages,
          openEgress: node.openEgress,
          rootAllowed: node.containerRoot,
          instanceMounts: volumes.instanceMounts,
          watchVolumes: volumes.watchLimits,
          instanceEnded: volumes.instanceEnded,
          recordViolation: storageViolations.recordViolation,
          secrets: commandSecrets({ references, headerOf }),
          registryLogin: registryLogins({ references, headerOf }),
          mintEgressToken: executionTokens.egress.mint,
          used: (tenant, { instanceId: id, workflow, ranMs: duration_ms }) =>
            usageActivities.add([
              { kind: "instance", tenant, id, agent_id: null, model: null, workflow, tool: null, duration_ms },
            ]),
          now,
        }),
        agentStartActivity({
          runtime,
          start: (id, request) => executions.startAs(id, false, request),
          judged: judgedFacts({ runtime, plans: executions.plans }),
          now,
        }),
        subrunActivity({ runtime, start: (id, request) => runs.startAs(id, false, request) }),
        admissionActivity({ runtime, admit: runs.admitFollower }),
        webhookActivity({ outside, incidents, runIdOf }),
        toolCallActivity({
          ...{ runtime, pipeline, invocations },
          waiting: waitingCalls,
          contexts: securityContexts,
          registry: tools,
        }),
        fleetResultsActivity(edgeFleet.reading),
        httpCallActivity({ outside, incidents, references, headerOf, now }),
        cleanupActivity(volumes),
        mapResultsActivity(items),
      ],
      facts: [itemFacts],
      projections: [runsProjection],
      sweeps: [
        () => startSweepingCommands({ dataDir, runs: held, report: info }),
        () => startErasing({ runtime, records, volumes, retentionDays, now, report: info }),
      ],
      endWork: (tenant) => endRuns({ runtime, records }, tenant),
      exportedRecords: [exportedRuns(records, runs)],
      erase: (tenant) => eraseRuns({ runtime, records, volumes }, tenant),
      metrics: runMetrics(records),
    };
  },
});
