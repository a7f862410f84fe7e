/** What a node gives its features: its stores, its runtime, the outside. Everything but the features themselves. */
import { hostname } from "node:os";
import { resolve } from "node:path";
import { openMail } from "../adapters/mail/port.ts";
import { defaultIsolation, openSandboxes, Sandboxes } from "../adapters/sandbox/port.ts";
import { ConfigError } from "../config/load.ts";
import type { NodeContext } from "../features/feature.ts";
import { startStreamEnds } from "../http/streams/holders.ts";
import { EventStreams } from "../http/streams/sse.ts";
import { openTenantCounts } from "../http/streams/tenant-counts.ts";
import { openIdentity, openIssuers } from "../identity/open.ts";
import { realmOf } from "../identity/settings.ts";
import { createRuntime } from "../runtime/index.ts";
import { openNotices } from "../store/redis/notices.ts";
import { type Config, settings } from "./config.ts";
import { configuredSettings } from "./configured.ts";
import type { Disposer } from "./disposer.ts";
import type { Stores } from "./stores.ts";
import type { NodeOverrides, ValidatedConfig } from "./validated-config.ts";

/** A host that stays away this long has its sandboxes given up, ms. */
const orphanAfterMs = 60_000;

/** @throws ConfigError for an isolation this host cannot give; other errors when a part cannot start */
export async function openContext(
  config: Config,
  stores: Stores,
  validated: ValidatedConfig,
  overrides: NodeOverrides,
  disposer: Disposer,
  progress: (line: string) => void,
) {
  const { dataDir, logger, sql, redisServers, partitioning, now, newId, clock } = stores;
  const development = config.mode === "development";
  const storageRoot = resolve(config.storageRoot);
  const host = `${hostname()}:${dataDir}`;
  const info: NodeContext["info"] = (event, facts) => logger.info(facts, event);
  const warn: NodeContext["warn"] = (event, facts) => logger.warn(facts, event);

  const sandboxes = overrides.sandbox
    ? new Sandboxes([overrides.sandbox])
    : await openSandboxes({
        dataDir,
        development,
        wanted: config.sandbox,
        own: ownFiles(config.configFile, storageRoot),
        dockerSocket: config.dockerSocket,
        warmPoolCap: config.warmPoolCap,
        imageRegistries: config.imageRegistries,
        resolve: validated.outside.resolve,
        warn: (message) => warn("sandbox", { reason: message }),
        progress,
      });
  disposer.push(() => sandboxes.drain());
  const isolation = defaultIsolation(sandboxes, config.runtimeDefault);
  if (isolation === null) throw new ConfigError([`SVC_RUNTIME_DEFAULT ${config.runtimeDefault} is not offered here`]);
  const mail = config.smtpUrl === null ? null : openMail({ url: config.smtpUrl, from: config.smtpFrom });
  disposer.push(() => mail?.close());
  const notices = openNotices(redisServers, config.redisPrefix);
  disposer.push(() => notices.close());
  const identity = await openIdentity(validated.identity, config, sql, notices, now);
  const streams = new EventStreams({
    counts(own) {
      const counts = openTenantCounts({ redisServers, prefix: config.redisPrefix, node: newId(), own });
      disposer.push(() => counts.close());
      return counts;
    },
  });
  disposer.push(startStreamEnds({ sql, notices, streams, now }));
  const runtime = createRuntime({
    sql,
    beside: stores.database.beside,
    beaten: stores.database.watch.wrote,
    redisServers,
    prefix: config.redisPrefix,
    host,
    partitions: partitioning.count,
    generation: partitioning.generation,
    leaseTtlMs: config.leaseTtlMs,
    mailboxLimit: config.mailboxLimit,
    cachedActors: config.actorCache,
    actorIdleMs: config.actorIdleSeconds * 1000,
    orphanAfterMs,
    retentionDays: { deadLetters: config.deadLetterRetentionDays, activities: config.activityRetentionDays },
    clock: { now, newId, database: clock },
    random: Math.random,
    log: warn,
  });
  // It holds connections from here on; the node that starts pushes the drain again, behind its listeners.
  disposer.push(() => runtime.drain());
  const context: NodeContext = {
    settings: { ...config },
    sql,
    redisServers,
    prefix: config.redisPrefix,
    dataDir,
    storageRoot,
    host,
    development,
    publicUrl: config.publicUrl,
    corsOrigins: config.corsOrigins,
    drainMs: config.drainSeconds * 1000,
    now,
    databaseNow: stores.databaseNow,
    newId,
    info,
    warn,
    configured: () => configuredSettings(settings, config),
    environmentAsSet: config.environmentAsSet,
    runtime,
    notices,
    streams,
    tenants: identity.tenants,
    openIssuers: openIssuers(validated.identity, identity),
    issuerProbes: identity.issuerProbes,
    signInRealms: identity.signInRealms,
    realmOf: (tenant) => realmOf(validated.identity, tenant),
    members: identity.members,
    keys: identity.keys,
    users: identity.users,
    starters: identity.starters,
    callerOf: (request) =>
      request.headers.has("authorization")
        ? identity.authenticator.identify(request, false, null).catch(() => null)
        : Promise.resolve(null),
    issuer: identity.issuer,
    embedded:
      identity.embedded === null
        ? null
        : { realms: identity.embedded, serviceAccounts: validated.identity.service_accounts },
    models: validated.models,
    sandboxes,
    defaultIsolation: isolation,
    outside: validated.outside,
    openEgress: config.openEgress,
    imageRegistries: config.imageRegistries,
    localImages: config.localImages,
    hostPaths: config.hostPaths,
    containerRoot: config.containerRoot,
    mail,
  };
  return { context, runtime, identity };
}

/** What of the service lies beside its data directory: its configuration, its volumes and its program. */
function ownFiles(configFile: string, storageRoot: string): string[] {
  return [storageRoot, ...(configFile === "" ? [] : [resolve(configFile)]), resolve(import.meta.dir, "../..")];
}
