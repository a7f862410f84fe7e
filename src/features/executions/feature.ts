/** Executions: agents at work, from a start to its output. */

import { wireEvent } from "../../../actors/execution/events.ts";
import { execution } from "../../../actors/execution/execution.ts";
import { createInlineSandbox } from "../../adapters/sandbox/port.ts";
import { integer } from "../../config/setting.ts";
import { roomOf } from "../../lib/files/disk-room.ts";
import type { LogEntry } from "../../runtime/port.ts";
import { agents } from "../agents/feature.ts";
import { approvals } from "../approvals/feature.ts";
import { audit } from "../audit/feature.ts";
import { executionTokens } from "../execution-tokens/feature.ts";
import { defineFeature, type InternalAddress } from "../feature.ts";
import { incidents } from "../incidents/feature.ts";
import { limits } from "../limits/feature.ts";
import { pipeline } from "../pipeline/feature.ts";
import { references } from "../references/feature.ts";
import { securityContexts } from "../security-contexts/feature.ts";
import { storageViolations } from "../storage-violations/feature.ts";
import { createCommandTool, tools } from "../tools/feature.ts";
import { fsTools } from "../tools/fs/feature.ts";
import { volumes } from "../volumes/feature.ts";
import { openAgentFeeds } from "./agent-stream/feeds.ts";
import { agentStreamRoutes } from "./agent-stream/routes.ts";
import { createCommitted } from "./committed.ts";
import { requireListed } from "./directory.ts";
import { exported } from "./exported.ts";
import { exportedExecutions } from "./exported-records.ts";
import { createExecutionFiles, executionFileRoutes } from "./files.ts";
import { createHands } from "./hands/hands.ts";
import { openHandsWire } from "./hands/wire.ts";
import { createAtWork } from "./iteration/at-work.ts";
import { contextTexts } from "./iteration/context/context.ts";
import { inlineRunActivity } from "./iteration/inline.ts";
import { iterationRunActivities, mostInstances } from "./iteration/iteration-run.ts";
import { callGatherActivity } from "./iteration/loop/call-activities.ts";
import { executionCallEditor } from "./iteration/loop/call-editor.ts";
import { callClearActivity, modelCallActivity, toolCallActivity } from "./iteration/loop/loop-activities.ts";
import { createModelMetrics } from "./iteration/loop/model-metrics.ts";
import { createParking } from "./iteration/parking.ts";
import { validateActivity } from "./iteration/validation/validation.ts";
import { workspaceRemoveActivity } from "./iteration/workspace.ts";
import { childStartActivity } from "./judging/children.ts";
import { judgesOutside } from "./judging/outside-judges.ts";
import { executionMetrics } from "./metrics.ts";
import { deliverySendActivity } from "./output/deliver.ts";
import { outputHandleActivity, outputRecallActivity } from "./output/output-handler.ts";
import { createPlans } from "./plans.ts";
import { executionsProjection } from "./projection.ts";
import { executionRecords } from "./records.ts";
import { hidingIn } from "./references/hiding.ts";
import { createExecutionReferences } from "./references/references.ts";
import { executionRoutes } from "./routes.ts";
import { named } from "./schema.ts";
import { createExecutions } from "./service.ts";
import { openConcurrency } from "./start/concurrency.ts";
import { endExecutions, eraseExecutions } from "./sweep/of-tenant.ts";
import { type HeldByRuns, startErasing, startSweeping } from "./sweep/sweep.ts";

export const executionSettings = {
  maxInstances: integer("SVC_MAX_INSTANCES", {
    meaning:
      "sandbox instances of a node at once, and a quarter more for each generation of children (three); more wait",
    unit: "instances",
    min: 1,
    max: 4096,
    default: 32,
  }),
  loopMaxRounds: integer("SVC_LOOP_MAX_ROUNDS", {
    meaning: "model turns of one inner loop",
    unit: "turns",
    min: 1,
    max: 200,
    default: 50,
  }),
  dispatchGraceSeconds: integer("SVC_DISPATCH_GRACE_SECONDS", {
    meaning: "how long an agent may take to answer a dispatch beyond the command's own timeout",
    unit: "s",
    min: 1,
    max: 3600,
    default: 120,
  }),
  toolParallelism: integer("SVC_TOOL_PARALLELISM", {
    meaning: "tool calls of one model turn that run at once",
    unit: "calls",
    min: 1,
    max: 128,
    default: 8,
  }),
  toolMessageMaxBytes: integer("SVC_TOOL_MESSAGE_MAX_BYTES", {
    meaning: "longest tool result a model is shown",
    unit: "bytes",
    min: 1024,
    max: 16_777_216,
    default: 65_536,
  }),
  toolWaitMaxSeconds: integer("SVC_TOOL_WAIT_MAX_SECONDS", {
    meaning: "how long the deadlines of an execution may stand still in all while its calls wait for a person",
    unit: "s",
    min: 60,
    max: 2_592_000,
    default: 604_800,
  }),
  toolWaitParkSeconds: integer("SVC_TOOL_WAIT_PARK_SECONDS", {
    meaning: "an instance all of whose calls wait for people for so long stands still, and its slot goes to others",
    unit: "s",
    min: 1,
    max: 604_800,
    default: 60,
  }),
  executionRetentionDays: integer("SVC_EXECUTION_RETENTION_DAYS", {
    meaning: "how long records and events of an ended execution are kept",
    unit: "days",
    min: 1,
    max: 3650,
    default: 90,
  }),
};

export const executions = defineFeature({
  name: "executions",
  exported,
  tenantTables: ["agent_stream_entries", "agent_stream_executions", "agent_streams", "execution_labels", "executions"],
  schemas: named,
  needs: {
    agents,
    approvals,
    audit,
    volumes,
    tools,
    fsTools,
    executionTokens,
    incidents,
    limits,
    pipeline,
    references,
    securityContexts,
    storageViolations,
  },
  settings: executionSettings,
  open(
    { settings, ...node },
    {
      agents,
      approvals,
      volumes,
      tools,
      executionTokens,
      incidents,
      limits,
      pipeline,
      references,
      securityContexts,
      storageViolations,
    },
  ) {
    const { sql, redisServers, prefix, runtime, sandboxes, models, outside, streams, now, info, warn } = node;
    const records = executionRecords(sql);
    const plans = createPlans(runtime);
    const planOf = (tenant: string, key: string) => plans.of({ kind: execution.kind, key, tenant });
    const modelMetrics = createModelMetrics();
    const committed = createCommitted({ incidents, tools });
    const { isVisible } = agents;
    const feeds = openAgentFeeds({ sql, redisServers, prefix, runtime, isVisible, report: warn });
    const hasRoom = roomOf(node.dataDir);
    const concurrency = openConcurrency({ redisServers, prefix, records });
    const executions = createExecutions({
      now,
      volumes,
      concurrency,
      rates: limits,
      hasRoom,
      terms: node.tenants.terms,
      runtime,
      records,
      plans,
      agents,
      references,
      contexts: securityContexts,
      tools,
      offer: { ...agents.offer, enforcesNetwork: (name) => sandboxes.holds(name) },
      bounds: {
        max_rounds: settings.loopMaxRounds,
        dispatch_grace_ms: settings.dispatchGraceSeconds * 1000,
        tool_parallelism: settings.toolParallelism,
        tool_message_bytes: settings.toolMessageMaxBytes,
        tool_wait_max_ms: settings.toolWaitMaxSeconds * 1000,
      },
    });
    const files = createExecutionFiles({ executions, plans, volumes, now });
    const referred = createExecutionReferences({
      references,
      plans,
      async headerOf({ tenant, key }) {
        return (await runtime.of(execution).at(tenant, key).read())?.header ?? null;
      },
    });
    const { maskerOf } = referred;
    approvals.editedBy(execution.kind, executionCallEditor({ runtime, plans, pipeline, maskerOf }));
    pipeline.hiddenBy((tenant, key) => maskerOf({ kind: execution.kind, key, tenant }));
    pipeline.judgedBy(judgesOutside({ runtime, plans, maskerOf }));
    const { startAs, cancelOfAgent } = executions;
    const hostPaths = { allowed: node.hostPaths, own: [node.dataDir] };
    let gatewayUrl = "";
    const wire = openHandsWire(redisServers, prefix, runtime.nodeId);
    const listed = requireListed({ plans, view: (plan) => volumes.view(plan, null) });
    const hands = createHands({
      runtime,
      plans,
      sandboxes,
      references: referred,
      maskerOf,
      mintEgressToken: executionTokens.egress.mint,
      requireListed: listed,
      gatewayUrl: () => gatewayUrl,
      wire,
      now,
      databaseNow: node.databaseNow,
    });
    volumes.heldBy(records.known);
    securityContexts.ceilingsFrom(async (tenant, executionId) => {
      const state = await runtime.of(execution).at(tenant, executionId.toLowerCase()).read();
      return state === null ? null : (state.header.context_ceilings ?? []);
    });
    agents.onChange((change) => feeds.watch(change));
    agents.usedBy({
      count: records.countByAgent,
      async cancel(agentId, reason) {
        await cancelOfAgent(agentId, reason);
        await volumes.removeOfAgent(agentId);
      },
    });

    function activities({ url, handle }: InternalAddress) {
      gatewayUrl = url;
      const launch = {
        runtime,
        plans,
        gatewayUrl: url,
        mintToken: executionTokens.gateway.mint,
        tokenSeconds: agents.offer.maxExecutionSeconds + settings.toolWaitMaxSeconds,
        mintEgressToken: executionTokens.egress.mint,
        instanceMounts: volumes.instanceMounts,
        references: referred,
        hostPaths,
        contextText: contextTexts({ runtime, outside, view: (plan) => volumes.view(plan, null), maskerOf }),
      };
      const { maxInstances } = settings;
      const parking = createParking({ runtime, afterMs: settings.toolWaitParkSeconds * 1000, now });
      return [
        ...iterationRunActivities({
          ...launch,
          parking,
          sandboxes,
          watchVolumes: volumes.watchLimits,
          instanceEnded: volumes.instanceEnded,
          recordViolation: storageViolations.recordViolation,
          maxInstances,
          hasRoom,
        }).map(atWork.counting),
        inlineRunActivity({ ...launch, inline: createInlineSandbox({ gateway: handle }), now }),
        validateActivity(plans, runtime),
        childStartActivity({ runtime, plans, start: (id, request) => startAs(id, false, request) }),
        modelCallActivity({
          runtime,
          plans,
          models,
          pipeline,
          metrics: modelMetrics,
          rates: limits,
          newId: node.newId,
        }),
        toolCallActivity({ runtime, plans, pipeline }),
        callClearActivity({ runtime, plans, pipeline, requireListed: listed }),
        callGatherActivity({
          runtime,
          plans,
          pipeline,
          approvals,
          starters: node.starters,
          mails: node.mail !== null,
        }),
        outputHandleActivity({ runtime, plans, outside, incidents }),
        outputRecallActivity(runtime),
        deliverySendActivity({ runtime, plans, outside, incidents, log: warn }),
        workspaceRemoveActivity(sandboxes, volumes),
      ].map(hidingIn(maskerOf));
    }

    const atWork = createAtWork();
    const holders: HeldByRuns[] = [];
    const runs: HeldByRuns = {
      known: async (ids) => (await Promise.all(holders.map(({ known }) => known(ids)))).flat(),
      async wantedInstances(tenant, ids) {
        const wanted = await Promise.all(holders.map((holder) => holder.wantedInstances(tenant, ids)));
        return new Set(wanted.flatMap((each) => [...each]));
      },
    };
    return {
      service: {
        ...executions,
        files,
        /** Of an agent and its executions in a tenant, behind the `offset`-th event, oldest first. */
        async agentEvents(tenant: string, agentId: string, limit: number, offset: number) {
          const key = { tenant, agentId };
          const last = await feeds.settle(key);
          const entries: LogEntry[] = [];
          let after = offset;
          while (entries.length < limit && after < last) {
            const page = await feeds.read(key, after);
            entries.push(...page.entries);
            if (page.last === after) break;
            after = page.last;
          }
          const items = entries.slice(0, limit).map(({ seq, entry }) => ({ id: seq, event: wireEvent(entry, false) }));
          return { agent_id: agentId, items, count: items.length, has_more: (items.at(-1)?.id ?? offset) < last };
        },
        records,
        plans,
        maskerOf,
        /** Executions with an instance on this node: how many may be, and are. */
        capacity: { most: mostInstances(settings.maxInstances), running: atWork.running },
        /** Registers what else holds sandboxes and volumes under ids of its own. */
        heldBy: (holder: HeldByRuns): void => void holders.push(holder),
      },
      routes: [
        ...agentStreamRoutes({ feeds, isVisible, streams }),
        ...executionRoutes({ executions, streams, runtime, sql, rates: limits.tell("agent_execution") }),
        ...executionFileRoutes(files),
      ],
      actors: [execution],
      toolProviders: [createCommandTool(hands.exec), ...volumes.toolProviders(planOf)],
      activities,
      projections: [executionsProjection],
      announced(news) {
        feeds.announced(news);
        committed.announced(news);
      },
      redisLost: concurrency.redisLost,
      sweeps: [
        () =>
          startSweeping({
            runtime,
            records,
            volumes,
            instances: sandboxes,
            runs,
            deletedAgents: { agents, cancelOfAgent },
            retentionDays: settings.executionRetentionDays,
            now,
            report: info,
          }),
        () =>
          startErasing({
            runtime,
            records,
            volumes,
            retentionDays: settings.executionRetentionDays,
            now,
            report: info,
          }),
      ],
      exportedRecords: [exportedExecutions(records, executions)],
      endWork: (tenant) => endExecutions({ runtime, records }, tenant),
      erase: (tenant) => eraseExecutions({ runtime, records, volumes }, tenant),
      metrics: [...executionMetrics(records, runtime), ...modelMetrics.metrics, ...committed.metrics],
      async close() {
        wire.close();
        await feeds.close();
        await concurrency.close();
      },
    };
  },
});
