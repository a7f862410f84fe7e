/** Where a node is reached: the public API, the gateway for agents, the egress proxy, the metrics. */
import { access } from "node:fs/promises";
import { join } from "node:path";
import { version } from "../../package.json";
import type { Config } from "../config/config.ts";
import { agentRoutes, catalogueRoutes } from "../features/agents/routes.ts";
import { approvalLinkRoutes } from "../features/approvals/links.ts";
import { approvalRoutes } from "../features/approvals/routes.ts";
import { startApprovalSweep } from "../features/approvals/sweep.ts";
import { developmentIssuerRoutes } from "../features/development-issuer/routes.ts";
import { openEgress } from "../features/egress/open.ts";
import { agentStreamRoutes } from "../features/executions/agent-stream/routes.ts";
import { executionFileRoutes } from "../features/executions/files.ts";
import { registerExecutionSeries } from "../features/executions/metrics.ts";
import { executionRoutes } from "../features/executions/routes.ts";
import { startSweeping } from "../features/executions/sweep.ts";
import { listenInternally, removeDeadSockets } from "../features/gateway/listener.ts";
import { gatewayRoute } from "../features/gateway/routes.ts";
import { createIncidents } from "../features/incidents/incidents.ts";
import { incidentRoutes } from "../features/incidents/routes.ts";
import { volumeRoutes } from "../features/volumes/routes.ts";
import { workflowRoutes } from "../features/workflows/definitions/routes.ts";
import { startSweepingCommands } from "../features/workflows/runs/commands/sweep.ts";
import { runLogRoutes } from "../features/workflows/runs/log-routes.ts";
import { registerRunSeries } from "../features/workflows/runs/metrics.ts";
import { runRoutes } from "../features/workflows/runs/routes.ts";
import { heldByRuns, startErasing } from "../features/workflows/runs/sweep.ts";
import { createApp } from "../http/app.ts";
import { sweepIdempotencyKeys } from "../http/idempotency.ts";
import { listen } from "../http/listen.ts";
import { documentRoutes } from "../http/openapi/document-routes.ts";
import { healthRoutes } from "../http/operations/health.ts";
import { createMetrics, serveMetrics } from "../http/operations/metrics.ts";
import { EventStreams } from "../http/streams/sse.ts";
import { openIdentity } from "../identity/open.ts";
import { openPort } from "../lib/start-failure.ts";
import type { Undo } from "./disposer.ts";
import type { Engine } from "./engine.ts";
import type { Settled } from "./settled.ts";
import { openSources } from "./stimuli.ts";
import type { Ground } from "./stores.ts";

/** The gateway's callers come again by themselves; they are not waited for longer than this, ms. */
const gatewayGraceMs = 500;
const sweepKeysEveryMs = 3600_000;

/**
 * Opens every listener; the public one last, when all that stands behind it is there.
 * @param draining whether the node is on its way out
 * @throws when a port cannot be had
 */
export async function openFront(
  config: Config,
  ground: Ground,
  { identity: identitySettings, models, outside }: Settled,
  engine: Engine,
  draining: () => boolean,
  undo: Undo,
) {
  const { dataDir, logger, sql, now, newId } = ground;
  const { sandboxes, tokens, egressTokens, records, plans, volumes, runtime, runtimes, agents, executions } = engine;
  const { workflows, runs, runRecords, approvals, approvalRecords } = engine;
  const identity = await openIdentity(identitySettings, config, sql, now);
  const metrics = createMetrics({ id: runtime.nodeId, version });
  registerExecutionSeries(metrics.registry, records, runtime);
  registerRunSeries(metrics.registry, runRecords);
  const health = healthRoutes({
    database: async () => sql`select 1`,
    redis: async () => {
      if (!(await runtime.status()).redis) throw new Error("Redis does not answer");
    },
    runtime: () => runtime.status(),
    storage: () => access(dataDir),
    identityProvider: identity.probe,
    payment: null,
    draining,
    now,
  });
  const incidents = createIncidents({
    sql,
    now,
    newId,
    retentionDays: config.incidentRetentionDays,
    warn: (error) => logger.warn({ error: String(error) }, "incidents"),
  });
  undo.push(() => incidents.stop());
  const { tenants } = identity;
  const stimuli = await openSources(config, ground, { engine, tenants, incidents, registry: metrics.registry }, undo);
  const streams = new EventStreams();
  const routes = [
    ...health,
    ...(identity.issuer === null ? [] : developmentIssuerRoutes(identity.issuer)),
    ...agentRoutes(agents),
    ...catalogueRoutes(runtimes, models),
    ...agentStreamRoutes({ feeds: engine.agentFeeds, isVisible: agents.isVisible, streams }),
    ...executionRoutes({ executions, streams, runtime, sql }),
    ...workflowRoutes(workflows),
    ...runRoutes({ runs, approvals, sql }),
    ...runLogRoutes({ runs, streams, runtime }),
    ...approvalRoutes({ approvals, sql }),
    ...approvalLinkRoutes(approvals),
    ...incidentRoutes(sql),
    ...executionFileRoutes({ executions, plans, volumes, now }),
    ...volumeRoutes(sql, volumes),
    ...stimuli,
  ];
  const app = createApp({
    routes: [...routes, ...documentRoutes(routes, { version, publicUrl: config.publicUrl })],
    authenticator: identity.authenticator,
    logger,
    metrics,
    corsOrigins: config.corsOrigins,
  });
  const internalApp = createApp({
    routes: [
      gatewayRoute({
        runtime,
        tokens,
        servesModel: (alias) => models.serves(alias),
        maxBodyBytes: config.dispatchMaxBodyBytes,
        tokenRequired: config.dispatchAuth === "required",
        tenantOf: async (executionId) => (await records.known([executionId]))[0]?.tenant ?? null,
      }),
    ],
    authenticator: null,
    logger,
    metrics: null,
    corsOrigins: [],
  });

  const sockets = join(dataDir, "gateway");
  await removeDeadSockets(sockets);
  const internal = openPort("SVC_INTERNAL", config.internalHost, config.internalPort, () =>
    listenInternally(internalApp, {
      hostname: config.internalHost,
      port: config.internalPort,
      socket: join(sockets, `${runtime.nodeId}.sock`),
      tokens,
    }),
  );
  undo.push(() => internal.stop(gatewayGraceMs));
  const egress = await openEgress({
    hostname: config.egressHost,
    port: config.egressPort,
    socket: join(dataDir, "egress", `${runtime.nodeId}.sock`),
    outside,
    openEgress: config.openEgress,
    tokens: egressTokens,
    runtime,
    plans,
    incidents,
    registry: metrics.registry,
    log: (event, facts) => logger.info(facts, event),
  });
  undo.push(() => egress.stop());
  engine.gatewayAt(`http://${reachable(config.internalHost)}:${internal.port}`, internalApp.handle);
  const report = (event: string, facts: Record<string, unknown>) => logger.info(facts, event);
  const held = heldByRuns(runtime, runRecords);
  const stopSweeping = startSweeping({
    runtime,
    records,
    volumes,
    instances: sandboxes,
    runs: held,
    leftBehind: { agents, cancelOfAgent: executions.cancelOfAgent },
    retentionDays: config.executionRetentionDays,
    now,
    report,
  });
  undo.push(stopSweeping);
  undo.push(startSweepingCommands({ dataDir, runs: held, report }));
  const retentionDays = config.executionRetentionDays;
  undo.push(startErasing({ runtime, records: runRecords, volumes, retentionDays, now, report }));
  const approvalDays = config.approvalRetentionDays;
  undo.push(startApprovalSweep({ runtime, records: approvalRecords, retentionDays: approvalDays, now, report }));
  const keySweep = setInterval(() => void sweepIdempotencyKeys(sql).catch(() => {}), sweepKeysEveryMs);
  undo.push(() => clearInterval(keySweep));
  void agents.resumeDeletions().catch((error: unknown) => logger.warn({ error: String(error) }, "deletions"));
  if (config.metricsEnabled) {
    const { metricsHost, metricsPort } = config;
    const served = openPort("SVC_METRICS", metricsHost, metricsPort, () =>
      serveMetrics(metrics, metricsHost, metricsPort),
    );
    undo.push(() => served.stop());
  }
  const listening = openPort("SVC", config.host, config.port, () =>
    listen(app, { hostname: config.host, port: config.port }),
  );
  undo.push(() => listening.stop((config.drainSeconds * 1000) / 2));
  return { port: listening.port, internalPort: internal.port, egressPort: egress.port };
}

/** An address for callers on this machine. */
function reachable(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
}
