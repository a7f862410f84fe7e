/**
 * What does the work of a node: sandboxes, volumes and tools, the runtime with its actors and activities, and
 * what starts them: agents and executions.
 */
import { hostname } from "node:os";
import type { NodeOffer } from "../../actors/agent/manifest/spec.ts";
import { EXECUTION, execution } from "../../actors/execution/execution.ts";
import { agentQuota, executionQuota } from "../../actors/policy/quota.ts";
import { builtinTools } from "../../actors/tool/catalog.ts";
import { createInlineSandbox, defaultIsolation, openSandboxes, Sandboxes } from "../adapters/sandbox/port.ts";
import type { Config } from "../config/config.ts";
import { ConfigError } from "../config/load.ts";
import { agentEvents } from "../features/agents/events.ts";
import { loadRuntimes } from "../features/agents/registry.ts";
import { createAgents } from "../features/agents/service.ts";
import { openAgentFeeds } from "../features/executions/agent-stream/feeds.ts";
import { childStartActivity } from "../features/executions/children.ts";
import { openConcurrency } from "../features/executions/concurrency.ts";
import { contextTexts } from "../features/executions/iteration/context.ts";
import { inlineRunActivity } from "../features/executions/iteration/inline.ts";
import { iterationRunActivities } from "../features/executions/iteration/iteration-run.ts";
import { modelCallActivity, toolCallActivity } from "../features/executions/iteration/loop-activities.ts";
import { validateActivity } from "../features/executions/iteration/validation.ts";
import { workspaceRemoveActivity } from "../features/executions/iteration/workspace.ts";
import { outputActivities } from "../features/executions/output/activities.ts";
import { createPlans } from "../features/executions/plans.ts";
import { executionsProjection } from "../features/executions/projection.ts";
import { executionRecords } from "../features/executions/records.ts";
import { createExecutions, type Executions } from "../features/executions/service.ts";
import { createGatewayKeys } from "../features/gateway/keys.ts";
import { createExecutionTokens } from "../features/gateway/token.ts";
import { openSchedules } from "../features/schedules/schedules.ts";
import { createToolbox } from "../features/tools/toolbox.ts";
import { openVolumes } from "../features/volumes/open.ts";
import { createRunRecords } from "../features/workflows/runs/records.ts";
import type { Runs } from "../features/workflows/runs/service.ts";
import { createRuntime, type Runtime } from "../runtime/index.ts";
import type { Undo } from "./disposer.ts";
import type { NodeParts, Settled } from "./settled.ts";
import type { Ground } from "./stores.ts";
import { openWorkflows, workflowActivities, workflowActors, workflowProjections } from "./workflows.ts";

/** A host that stays away this long has its sandboxes given up, ms. */
const orphanAfterMs = 60_000;

export type Engine = Awaited<ReturnType<typeof openEngine>>;

/** @throws ConfigError for an isolation this host cannot give; other errors when a part cannot start */
export async function openEngine(
  config: Config,
  ground: Ground,
  { models, outside }: Settled,
  parts: NodeParts,
  undo: Undo,
) {
  const { dataDir, logger, sql, redisUrl, now, newId } = ground;
  const development = config.mode === "development";
  const sandboxes = parts.sandbox
    ? new Sandboxes([parts.sandbox])
    : await openSandboxes({
        dataDir,
        development,
        dockerSocket: config.dockerSocket,
        warmPoolCap: config.warmPoolCap,
        warn: (message) => logger.warn({ reason: message }, "sandbox"),
      });
  undo.push(() => sandboxes.drain());
  const isolation = defaultIsolation(sandboxes, config.runtimeDefault);
  if (isolation === null) throw new ConfigError([`SVC_RUNTIME_DEFAULT ${config.runtimeDefault} is not offered here`]);
  const keys = createGatewayKeys(sql, now);
  const tokens = createExecutionTokens(keys, now);
  const egressTokens = createExecutionTokens(keys, now, "svc-egress");
  const records = executionRecords(sql);

  // Activities may resume before the runtime and the gateway are quite there: they wait for them.
  const running = Promise.withResolvers<Runtime>();
  const gatewayUrl = Promise.withResolvers<string>();
  const gateway = Promise.withResolvers<(request: Request) => Promise<Response>>();
  const starting = Promise.withResolvers<Executions>();
  const startingRuns = Promise.withResolvers<Runs>();
  const logs: Pick<Runtime, "read" | "readListed" | "tell" | "log" | "logPoints" | "logEntries"> = {
    read: async (at) => (await running.promise).read(at),
    readListed: async (...request) => (await running.promise).readListed(...request),
    tell: async (...message) => (await running.promise).tell(...message),
    log: async (...request) => (await running.promise).log(...request),
    logPoints: async (...request) => (await running.promise).logPoints(...request),
    logEntries: async (...request) => (await running.promise).logEntries(...request),
  };
  const plans = createPlans(logs);
  const runsKnown = createRunRecords(sql).known;
  const executionsAndRuns = async (ids: readonly string[]) => [
    ...(await records.known(ids)),
    ...(await runsKnown(ids)),
  ];
  const volumes = openVolumes({ sql, dataDir, executions: executionsAndRuns, now, newId });
  const planOf = (tenant: string, key: string) => plans.of({ kind: EXECUTION, key, tenant });
  const tools = createToolbox(volumes.toolProviders(planOf));
  const { maxInstances } = config;
  const agentFeeds = openAgentFeeds({
    sql,
    redisUrl,
    prefix: config.redisPrefix,
    runtime: logs,
    isVisible: (tenant, agentId) => agents.isVisible(tenant, agentId),
    report: (event, facts) => logger.warn(facts, event),
  });
  undo.push(() => agentFeeds.close());
  const launchParts = {
    runtime: logs,
    plans,
    gatewayUrl: gatewayUrl.promise,
    mintToken: tokens.mint,
    mintEgressToken: egressTokens.mint,
    instanceMounts: volumes.instanceMounts,
    contextText: contextTexts({ runtime: logs, outside, view: (plan) => volumes.view(plan, false) }),
  };
  const runtime = createRuntime({
    sql,
    redisUrl,
    prefix: config.redisPrefix,
    host: `${hostname()}:${dataDir}`,
    partitions: config.partitions,
    leaseTtlMs: config.leaseTtlMs,
    mailboxLimit: config.mailboxLimit,
    residents: config.actorCache,
    idleMs: config.actorIdleSeconds * 1000,
    orphanAfterMs,
    clock: { now, newId },
    random: Math.random,
    log: (event, facts) => logger.warn(facts, event),
  });
  undo.push(() => runtime.drain());
  await runtime.start({
    actors: [execution, ...workflowActors],
    activities: [
      ...iterationRunActivities({ ...launchParts, sandboxes, watchVolumes: volumes.watchLimits, maxInstances }),
      inlineRunActivity({ ...launchParts, inline: createInlineSandbox({ gateway: gateway.promise }), now }),
      validateActivity(plans, logs),
      childStartActivity({
        runtime: logs,
        plans,
        start: async (id, request) => (await starting.promise).startAs(id, false, request),
      }),
      modelCallActivity({ runtime: logs, models, tools }),
      toolCallActivity({ runtime: logs, tools }),
      ...outputActivities({ runtime: logs, plans, outside, log: (event, facts) => logger.warn(facts, event) }),
      workspaceRemoveActivity(sandboxes, volumes),
      ...workflowActivities(
        config,
        ground,
        {
          reads: logs,
          plans,
          sandboxes,
          isolation,
          volumes,
          outside,
          mintEgressToken: egressTokens.mint,
          executions: starting.promise,
          runs: startingRuns.promise,
        },
        undo,
      ),
    ],
    projections: [executionsProjection, ...workflowProjections],
    announced: (news) => agentFeeds.announced(news),
  });
  running.resolve(runtime);

  const runtimes = loadRuntimes(config.runtimeRegistry === "" ? null : config.runtimeRegistry);
  const offer: NodeOffer = {
    runtimes,
    isolations: [...sandboxes.offered],
    defaultIsolation: isolation,
    imageRegistries: config.imageRegistries,
    maxExecutionSeconds: config.maxExecutionSeconds,
    tools: builtinTools.map(({ name }) => name),
    openEgress: config.openEgress,
    development,
    servesModel: (alias) => models.serves(alias),
  };
  const agents = createAgents({
    sql,
    offer,
    quota: agentQuota,
    countExecutions: records.countByAgent,
    cancelExecutions: async (_tenant, agentId, reason) => {
      await executions.cancelOfAgent(agentId, reason);
      await volumes.removeOfAgent(agentId);
    },
    events: agentEvents,
    // What is kept ready for an agent belongs to what it was.
    watchers: [
      async ({ agentId }) => void sandboxes.drain(agentId).catch(() => {}),
      (change) => agentFeeds.watch(change),
      (change) => schedules.watch(change),
    ],
    now,
    newId,
  });
  const concurrency = openConcurrency({ redisUrl, prefix: config.redisPrefix, records });
  undo.push(() => concurrency.close());
  const executions = createExecutions({
    volumes,
    concurrency,
    quota: executionQuota,
    runtime,
    records,
    plans,
    agents,
    offer: { ...offer, enforcesNetwork: (name) => sandboxes.holds(name) },
    bounds: {
      max_rounds: config.loopMaxRounds,
      dispatch_grace_ms: config.dispatchGraceSeconds * 1000,
      tool_parallelism: config.toolParallelism,
      tool_message_bytes: config.toolMessageMaxBytes,
    },
  });

  starting.resolve(executions);
  const workflows = openWorkflows(
    config,
    ground,
    { runtime, agents, executions, volumes, isolations: offer.isolations, isolation },
    undo,
  );
  startingRuns.resolve(workflows.runs);
  const schedules = openSchedules({
    sql,
    redisUrl,
    prefix: config.redisPrefix,
    resolve: agents.resolveForExecution,
    start: (id, request) => executions.startAs(id, false, request),
    unfinished: async (ids) => {
      const open = (await records.known(ids)).filter(({ ended_at }) => ended_at === null);
      return new Set(open.map((row) => row.id));
    },
    now,
    log: (event, facts) => logger.warn(facts, event),
  });
  undo.push(() => schedules.stop());

  return {
    sandboxes,
    tokens,
    egressTokens,
    records,
    plans,
    volumes,
    runtime,
    runtimes,
    agents,
    agentFeeds,
    executions,
    ...workflows,
    /** Tells what waits for it where instances find the gateway, and who answers there. */
    gatewayAt: (url: string, handle: (request: Request) => Promise<Response>) => {
      gatewayUrl.resolve(url);
      gateway.resolve(handle);
    },
  };
}
