/** Where a node is reached: the public API, the inner listeners of its features, the metrics. */
import { access } from "node:fs/promises";
import { version } from "../../package.json";
import type { AnyFeature, FeatureListener, InternalAddress, NodeContext, Opened, Stop } from "../features/feature.ts";
import { type App, createApp } from "../http/app.ts";
import { sweepIdempotencyKeys } from "../http/idempotency.ts";
import { listen } from "../http/listen.ts";
import type { NamedSchemas } from "../http/openapi/components.ts";
import { documentRoutes } from "../http/openapi/document-routes.ts";
import { watchEventLoop } from "../http/operations/event-loop.ts";
import { healthRoutes, NotReady } from "../http/operations/health.ts";
import { createMetrics, type Metrics, serveMetrics } from "../http/operations/metrics.ts";
import { type Queue, queueMetrics } from "../http/operations/queues.ts";
import type { EventStreams } from "../http/streams/sse.ts";
import type { Identification } from "../identity/open.ts";
import { roomOf } from "../lib/files/disk-room.ts";
import { guardedWaiting } from "../lib/guarded/guarded.ts";
import { openPort } from "../lib/start-failure.ts";
import type { NodeRuntime } from "../runtime/index.ts";
import { reasonOf } from "../store/reason.ts";
import type { Config } from "./config.ts";
import type { Disposer } from "./disposer.ts";
import { features as declared } from "./features.ts";
import type { Stores } from "./stores.ts";

/** A batch that takes this long while both stores answer does not end any more, ms. */
const laneBoundMs = 60_000;
const sweepKeysEveryMs = 3600_000;

type OpenedFeatures = readonly Opened<unknown>[];

export interface Apps {
  readonly public: App;
  readonly internal: App;
  readonly metrics: Metrics;
}

export interface AppOptions {
  readonly features: OpenedFeatures;
  readonly runtime: NodeRuntime;
  readonly identity: Identification;
  readonly sandboxes: NodeContext["sandboxes"];
  readonly streams: EventStreams;
  readonly draining: () => boolean;
}

/** Mounts the routes, metrics and health checks of all features. */
export function createApps(
  config: Config,
  stores: Stores,
  { features, runtime, identity, sandboxes, streams, draining }: AppOptions,
): Apps {
  const { database, redisWatch, dataDir, logger, now } = stores;
  const hasRoom = roomOf(dataDir);
  const metrics = createMetrics({ id: runtime.nodeId, version });
  for (const metric of features.flatMap((feature) => feature.metrics ?? [])) metrics.registry.registerMetric(metric);
  const health = healthRoutes({
    database: async () => {
      const reason = database.watch.reason ?? database.watch.full;
      if (reason !== null) throw new NotReady(reason);
      await database.beside`select 1`.catch((error: unknown) => {
        throw new NotReady(reasonOf(error));
      });
    },
    redis: async () => {
      if (redisWatch.reason !== null) throw new NotReady(redisWatch.reason);
      if (!(await runtime.redisAnswers())) throw new NotReady("it does not answer");
    },
    runtime: () => runtime.status(),
    stuck: () => {
      if (runtime.isOutdated()) return "the number of partitions was changed since this node started";
      const stuckMs = Math.min(runtime.busyMs(), database.watch.upMs, redisWatch.upMs);
      return stuckMs > laneBoundMs ? "the lane does not get on although both stores answer" : null;
    },
    storage: async () => {
      await access(dataDir);
      if (!hasRoom()) throw new NotReady("its disk is full");
    },
    identityProvider: identity.probe,
    // The readiness answer names it; no feature takes payments, so it is `disabled`.
    payment: null,
    others: Object.assign({}, ...features.map((feature) => feature.health ?? {})),
    weaknesses: () => [...stores.weaknesses, ...sandboxes.weaknesses],
    draining,
    now,
  });
  const routes = [...health, ...features.flatMap((feature) => feature.routes ?? [])];
  const publicApp = createApp({
    routes: [
      ...routes,
      ...documentRoutes(
        routes,
        { version, publicUrl: config.publicUrl, schemas: schemasOf(declared) },
        config.mode === "development" ? "console/" : "docs/",
      ),
    ],
    authenticator: identity.authenticator,
    audit: features.find(({ requestAudit }) => requestAudit !== undefined)?.requestAudit ?? null,
    logger,
    metrics,
    corsOrigins: config.corsOrigins,
    trustedProxies: config.trustedProxies,
    served:
      config.mode === "development"
        ? { publicHost: new URL(config.publicUrl).hostname, origins: config.corsOrigins }
        : null,
  });
  const queues: Queue[] = [
    ...runtimeQueues(runtime),
    { name: "bodies", bytes: publicApp.heldBytes },
    { name: "event_streams", depth: () => streams.size },
    { name: "checks", depth: guardedWaiting },
    ...features.flatMap((feature) => feature.queues ?? []),
  ];
  for (const metric of queueMetrics(queues)) metrics.registry.registerMetric(metric);
  return {
    public: publicApp,
    internal: createApp({
      // Agents ask for the health of a node that does not answer them; nodes behind one port are told apart here.
      routes: [
        ...health.filter(({ path }) => path !== "/health"),
        ...features.flatMap((feature) => feature.internalRoutes ?? []),
      ],
      // Of routes that people and machines reach there as well.
      authenticator: identity.authenticator,
      logger,
      metrics: null,
      corsOrigins: [],
    }),
    metrics,
  };
}

function runtimeQueues(runtime: Pick<NodeRuntime, "counts">): Queue[] {
  const { counts } = runtime;
  return [
    { name: "mailbox", depth: () => counts().backlog, bytes: () => counts().backlogBytes },
    { name: "activities", depth: () => counts().activitiesWaiting, bytes: () => counts().activitiesWaitingBytes },
    { name: "calls", depth: () => counts().calls },
    { name: "timers", depth: () => counts().timers },
    { name: "actors", bytes: () => counts().cachedBytes },
  ];
}

/** Names are the features' own; two that give one name to two shapes do not fit together. */
function schemasOf(features: readonly Pick<AnyFeature, "schemas">[]): NamedSchemas {
  const all: Record<string, unknown> = {};
  for (const [name, schema] of features.flatMap(({ schemas = {} }) => Object.entries(schemas))) {
    if (all[name] !== undefined) throw new Error(`two features name a schema ${name}`);
    all[name] = schema;
  }
  return all;
}

/**
 * Opens the features' own listeners.
 * @param host of the internal one
 * @throws StartFailure when a port is taken; then none is left open
 */
export async function listenInside(app: App, features: OpenedFeatures, host: string) {
  const ports: Record<FeatureListener["name"], number> = { internal: 0, egress: 0 };
  const stops: Stop[] = [];
  const stop = async () => {
    for (const end of stops.splice(0).reverse()) await end();
  };
  try {
    for (const { name, open } of features.flatMap(({ listener }) => listener ?? [])) {
      const opened = await open(app);
      ports[name] = opened.port;
      stops.push(opened.stop);
    }
  } catch (error) {
    await stop();
    throw error;
  }
  const address: InternalAddress = { url: `http://${reachable(host)}:${ports.internal}`, handle: app.handle };
  return { ports, address, stop };
}

/**
 * Opens the metrics and, last of all, the public listener.
 * @param shared whether further nodes of this machine listen at the public port
 * @returns the ports @throws StartFailure when a port is taken
 */
export function listenOutside(
  config: Config,
  apps: Apps,
  { sql, drainMs }: NodeContext,
  disposer: Disposer,
  shared: boolean,
) {
  const keySweep = setInterval(() => void sweepIdempotencyKeys(sql).catch(() => {}), sweepKeysEveryMs);
  disposer.push(() => clearInterval(keySweep));
  let metricsAt: number | null = null;
  if (config.metricsEnabled) {
    const { metricsHost, metricsPort } = config;
    watchEventLoop(apps.metrics.registry);
    const served = openPort("SVC_METRICS", metricsHost, metricsPort, () =>
      serveMetrics(apps.metrics, metricsHost, metricsPort),
    );
    metricsAt = served.port;
    disposer.push(() => served.stop());
  }
  const listening = openPort("SVC", config.host, config.port, () =>
    listen(apps.public, { hostname: config.host, port: config.port, shared }),
  );
  disposer.push(() => listening.stop(drainMs / 2));
  return { port: listening.port, metricsPort: metricsAt };
}

/** An address for callers on this machine. */
function reachable(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
}
