/** A node of the service: its parts wired together, started in order, stopped in the reverse one. */
import { readFileSync } from "node:fs";
import { access, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join, resolve } from "node:path";
import type { NodeOffer } from "../actors/agent/spec.ts";
import { execution } from "../actors/execution/execution.ts";
import { agentQuota } from "../actors/identity/quota.ts";
import { builtinTools } from "../actors/tool/catalog.ts";
import { createAgents } from "./agents/agents.ts";
import { loadRuntimes } from "./agents/registry.ts";
import { agentRoutes, catalogueRoutes } from "./agents/routes.ts";
import { type Config, ConfigError } from "./config.ts";
import { createExecutions } from "./executions/executions.ts";
import { iterationRunActivity } from "./executions/iteration-run.ts";
import { modelCallActivity, toolCallActivity } from "./executions/loop-activities.ts";
import { createPlans } from "./executions/plans.ts";
import { executionsProjection } from "./executions/projection.ts";
import { executionRecords } from "./executions/records.ts";
import { executionRoutes } from "./executions/routes.ts";
import { registerExecutionSeries } from "./executions/series.ts";
import { startSweeping } from "./executions/sweep.ts";
import { validateActivity } from "./executions/validation.ts";
import { workspaceRemoveActivity } from "./executions/workspace.ts";
import { createGatewayKeys } from "./gateway/keys.ts";
import { listenInternally, removeDeadSockets } from "./gateway/listener.ts";
import { gatewayRoute } from "./gateway/routes.ts";
import { createExecutionTokens } from "./gateway/token.ts";
import { createApp } from "./http/app.ts";
import { developmentIssuerRoutes } from "./http/development-issuer.ts";
import { documentRoutes } from "./http/document-routes.ts";
import { healthRoutes } from "./http/health.ts";
import { sweepIdempotencyKeys } from "./http/idempotency.ts";
import { listen } from "./http/listen.ts";
import { createLogger } from "./http/log.ts";
import { readableLines } from "./http/log-lines.ts";
import { createMetrics, serveMetrics } from "./http/metrics.ts";
import { EventStreams } from "./http/sse.ts";
import { openIdentity, readIdentity } from "./identity/open.ts";
import { openModels } from "./models/index.ts";
import type { Models } from "./models/port.ts";
import { type Runtime, startRuntime } from "./runtime/index.ts";
import type { Sandbox } from "./sandbox/port.ts";
import { createProcessSandbox } from "./sandbox/process/process-sandbox.ts";
import { openPort } from "./start-failure.ts";
import { joinStores } from "./store/embedded/stores.ts";
import { migrate } from "./store/migrate.ts";
import { openPostgres } from "./store/postgres.ts";
import { reachStores } from "./store/reach.ts";
import { createFsTools } from "./tools/fs/provider.ts";
import { createToolbox } from "./tools/toolbox.ts";

const version = "0.1.0";

/** A host that stays away this long has its sandboxes given up, ms. */
const orphanAfterMs = 60_000;
/** The gateway's callers come again by themselves; they are not waited for longer than this, ms. */
const gatewayGraceMs = 500;
/** How long a starting node waits for its stores, ms. */
const storePatienceMs = 10_000;
const sweepKeysEveryMs = 3600_000;

export interface Node {
  readonly id: string;
  readonly port: number;
  readonly internalPort: number;
  readonly models: Models;
  readonly sandbox: Sandbox;
  /** Takes no more work, finishes or hands over what is under way, leaves the stores. */
  stop(): Promise<void>;
}

/** Parts a caller may bring instead of what the configuration names. */
export interface NodeParts {
  readonly sandbox?: Sandbox;
}

/**
 * @param progress one line about what takes long
 * @throws ConfigError for settings that do not fit together; other errors when a part cannot start
 */
export async function startNode(
  config: Config,
  progress: (line: string) => void,
  parts: NodeParts = {},
): Promise<Node> {
  const development = config.mode === "development";
  const now = Date.now;
  const dataDir = resolve(config.dataDir);
  const undo: (() => Promise<unknown> | unknown)[] = [];
  try {
    // What can be wrong with the configuration is told before anything is started.
    const { settings: identitySettings, problems } = readIdentity(config);
    if (identitySettings === null) throw new ConfigError(problems);
    const opened = await openModels({
      document: config.file,
      development,
      environment: config.environment,
      readFile: (path) => readFileSync(path, "utf8"),
      ollama: config.ollamaUrl,
    });
    if (!opened.ok) throw new ConfigError(opened.issues.map(({ path, message }) => `${path}: ${message}`));
    const { models } = opened;

    const logger = createLogger(
      config.logLevel,
      development ? readableLines((text) => process.stdout.write(text)) : undefined,
    );
    if (opened.warning) logger.warn({ reason: opened.warning }, "models");
    await mkdir(dataDir, { recursive: true });
    const stores = await joinStores({
      dataDir,
      want: { postgres: config.databaseUrl === null, redis: config.redisUrl === null },
      log: progress,
    });
    undo.push(() => stores.leave());
    const databaseUrl = config.databaseUrl ?? stores.databaseUrl;
    const redisUrl = config.redisUrl ?? stores.redisUrl;
    if (databaseUrl === null || redisUrl === null) throw new Error("unreachable: both stores are given or joined");
    const sql = openPostgres({ url: databaseUrl, schema: config.databaseSchema, poolSize: config.databasePool });
    undo.push(() => sql.end({ timeout: 5 }));
    await reachStores({ sql, databaseUrl, redisUrl, patienceMs: storePatienceMs });
    await migrate(sql, config.databaseSchema);

    const sandbox =
      parts.sandbox ??
      (await createProcessSandbox({
        dataDir,
        bubblewrap: true,
        allowUnsandboxed: development,
        warn: (message) => logger.warn({ reason: message }, "sandbox"),
      }));
    const tools = createToolbox([createFsTools((executionId) => sandbox.workspace(executionId))]);
    const tokens = createExecutionTokens(createGatewayKeys(sql, now), now);
    const records = executionRecords(sql);

    // Activities may resume before the runtime and the gateway are quite there: they wait for them.
    const running = Promise.withResolvers<Runtime>();
    const gatewayUrl = Promise.withResolvers<string>();
    const logs: Pick<Runtime, "read" | "log"> = {
      read: async (at) => (await running.promise).read(at),
      log: async (...request) => (await running.promise).log(...request),
    };
    const plans = createPlans(logs);
    const { maxInstances } = config;
    const runtime = await startRuntime({
      sql,
      redisUrl,
      prefix: config.redisPrefix,
      host: `${hostname()}:${dataDir}`,
      actors: [execution],
      activities: [
        iterationRunActivity({
          runtime: logs,
          plans,
          sandbox,
          gatewayUrl: gatewayUrl.promise,
          mintToken: tokens.mint,
          maxInstances,
        }),
        validateActivity(plans),
        modelCallActivity({ runtime: logs, models, tools }),
        toolCallActivity({ runtime: logs, tools }),
        workspaceRemoveActivity(sandbox),
      ],
      projections: [executionsProjection],
      partitions: config.partitions,
      leaseTtlMs: config.leaseTtlMs,
      mailboxLimit: config.mailboxLimit,
      residents: config.actorCache,
      idleMs: config.actorIdleSeconds * 1000,
      orphanAfterMs,
      clock: { now, newId: () => Bun.randomUUIDv7() },
      random: Math.random,
      log: (event, facts) => logger.warn(facts, event),
    });
    undo.push(() => runtime.drain());
    running.resolve(runtime);

    const runtimes = loadRuntimes(config.runtimeRegistry === "" ? null : config.runtimeRegistry);
    const offer: NodeOffer = {
      runtimes,
      isolations: ["process"],
      defaultIsolation: "process",
      imageRegistries: null,
      maxExecutionSeconds: config.maxExecutionSeconds,
      tools: builtinTools.map(({ name }) => name),
      servesModel: (alias) => models.serves(alias),
    };
    const agents = createAgents({
      sql,
      offer,
      quota: agentQuota,
      countExecutions: records.countByAgent,
      cancelExecutions: (_tenant, agentId, reason) => executions.cancelOfAgent(agentId, reason),
      now,
      newId: () => Bun.randomUUIDv7(),
    });
    const executions = createExecutions({
      runtime,
      records,
      plans,
      agents,
      servesModel: (alias) => models.serves(alias),
      isolations: offer.isolations,
      defaultIsolation: offer.defaultIsolation,
      bounds: {
        max_rounds: config.loopMaxRounds,
        dispatch_grace_ms: config.dispatchGraceSeconds * 1000,
        tool_parallelism: config.toolParallelism,
        tool_message_bytes: config.toolMessageMaxBytes,
      },
    });

    const identity = await openIdentity(identitySettings, config, sql, now);
    const metrics = createMetrics({ id: runtime.nodeId, version });
    registerExecutionSeries(metrics.registry, records, runtime);
    let draining = false;
    const health = healthRoutes({
      database: async () => sql`select 1`,
      redis: async () => {
        if (!(await runtime.status()).redis) throw new Error("Redis does not answer");
      },
      runtime: () => runtime.status(),
      storage: () => access(dataDir),
      identityProvider: identity.probe,
      payment: null,
      draining: () => draining,
      now,
    });
    const streams = new EventStreams();
    const routes = [
      ...health,
      ...(identity.issuer === null ? [] : developmentIssuerRoutes(identity.issuer)),
      ...agentRoutes(agents),
      ...catalogueRoutes(runtimes, models),
      ...executionRoutes({ executions, streams, runtime, sql }),
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
      }),
    );
    undo.push(() => internal.stop(gatewayGraceMs));
    gatewayUrl.resolve(`http://${reachable(config.internalHost)}:${internal.port}`);
    const stopSweeping = startSweeping({
      runtime,
      records,
      sandbox,
      leftBehind: { agents, cancelOfAgent: executions.cancelOfAgent },
      retentionDays: config.executionRetentionDays,
      now,
      report: (event, facts) => logger.info(facts, event),
    });
    undo.push(stopSweeping);
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
    const card = await leaveCard(dataDir, { node: runtime.nodeId, port: listening.port, internal_port: internal.port });
    undo.push(() => rm(card, { force: true }));
    logger.info({ node_id: runtime.nodeId, port: listening.port, internal_port: internal.port }, "ready");

    let stopped: Promise<void> | null = null;
    return {
      id: runtime.nodeId,
      port: listening.port,
      internalPort: internal.port,
      models,
      sandbox,
      stop: () => {
        draining = true;
        stopped ??= unwind(undo, (error) => logger.warn({ error: String(error) }, "stop"));
        return stopped;
      },
    };
  } catch (error) {
    await unwind(undo, () => {});
    throw error;
  }
}

/** Last in, first out; what fails to stop does not keep the rest from stopping. */
async function unwind(
  undo: readonly (() => Promise<unknown> | unknown)[],
  report: (error: unknown) => void,
): Promise<void> {
  for (const step of [...undo].reverse()) {
    try {
      await step();
    } catch (error) {
      report(error);
    }
  }
}

/** An address for callers on this machine. */
function reachable(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
}

/** Says in a file where this process listens, for whoever started it with ports of 0. */
async function leaveCard(dataDir: string, facts: Record<string, string | number>): Promise<string> {
  const path = join(dataDir, `node-${process.pid}.json`);
  await writeFile(`${path}.new`, JSON.stringify({ pid: process.pid, ...facts }));
  await rename(`${path}.new`, path);
  return path;
}
