/** What takes stimuli in, wired together: where they come from, how they are stored and driven, what becomes of old ones. */
import { Counter, type Registry } from "prom-client";
import type { Config } from "../config/config.ts";
import { ConfigError } from "../config/load.ts";
import { createAudit } from "../features/audit/audit.ts";
import { startAuditRetention } from "../features/audit/retention.ts";
import { auditRoutes } from "../features/audit/routes.ts";
import { openSealer } from "../features/encryption/open.ts";
import { startRewrapping } from "../features/encryption/rewrap.ts";
import type { Incidents } from "../features/incidents/incidents.ts";
import { createClassifier } from "../features/stimuli/classification/classify.ts";
import { createHistory } from "../features/stimuli/history/history.ts";
import { historyRecords } from "../features/stimuli/history/records.ts";
import { createReplays } from "../features/stimuli/history/replay.ts";
import { startStimulusRetention } from "../features/stimuli/history/retention.ts";
import { historyRoutes } from "../features/stimuli/history/routes.ts";
import { ingestRoutes } from "../features/stimuli/intake/ingest-routes.ts";
import { openStimuli } from "../features/stimuli/intake/open.ts";
import { bootSourcesFrom } from "../features/stimuli/sources/boot/boot.ts";
import { createSources } from "../features/stimuli/sources/lookup.ts";
import { createRouters } from "../features/stimuli/sources/routers/service.ts";
import { sourceRoutes } from "../features/stimuli/sources/routes.ts";
import { createSourceRoutes } from "../features/stimuli/sources/source-routes.ts";
import { environmentSecrets } from "../features/stimuli/sources/verification/environment.ts";
import { openFailedVerifications } from "../features/stimuli/sources/verification/failed-verifications.ts";
import { sealedColumns } from "../features/stimuli/sources/verification/secrets.ts";
import { workflowChoices } from "../features/workflows/definitions/choices.ts";
import type { Route } from "../http/route.ts";
import type { Tenants } from "../identity/tenants.ts";
import type { Undo } from "./disposer.ts";
import type { Engine } from "./engine.ts";
import type { Ground } from "./stores.ts";

export interface StimuliParts {
  readonly engine: Engine;
  readonly tenants: Tenants;
  readonly incidents: Incidents;
  readonly registry: Registry;
}

/** @throws ConfigError for a file of source routes that does not fit, StartFailure without a master key */
export async function openSources(config: Config, ground: Ground, parts: StimuliParts, undo: Undo): Promise<Route[]> {
  const { sql, redisUrl, dataDir, logger, now, newId } = ground;
  const { runtime, executions, agents, workflows, runs, limiter } = parts.engine;
  const { redisPrefix: prefix, publicUrl } = config;
  const report = (event: string, facts: Record<string, unknown>) => logger.info(facts, event);
  const sealer = await openSealer({
    masterKey: config.masterKey,
    previousMasterKey: config.previousMasterKey,
    development: config.mode === "development",
    dataDir,
    incidents: parts.incidents,
  });
  const audit = createAudit({ now, newId });
  const environment = environmentSecrets(config.environmentAsSet());
  if (environment.unusable.length > 0) logger.warn({ names: environment.unusable }, "webhook_secrets_unusable");
  if (config.stimulusRoutesFile !== "") {
    const boot = { sql, sealer, audit, tenants: parts.tenants, now, newId };
    const problems = await bootSourcesFrom(boot, config.stimulusRoutesFile);
    if (problems.length > 0) throw new ConfigError(problems);
  }
  const findAgent = agents.identify;
  const sources = createSources({ sql, sealer, environment, findAgent, report, now });
  undo.push(() => sources.close());
  const routes = createSourceRoutes({
    sql,
    sealer,
    audit,
    definitions: workflows,
    environment,
    publicUrl,
    changed: sources.forgetRoute,
    now,
    newId,
  });
  const routers = createRouters({
    sql,
    audit,
    definitions: workflows,
    findAgent,
    changed: sources.forgetRouter,
    now,
  });
  undo.push(startRewrapping({ sql, sealer, columns: sealedColumns, report }));
  undo.push(startAuditRetention({ sql, retentionDays: config.auditRetentionDays, now, report }));
  const failed = openFailedVerifications({ redisUrl, prefix, now });
  undo.push(async () => failed.close());
  const classifier = createClassifier({
    sql,
    redisUrl,
    prefix,
    executions,
    runtime,
    choices: workflowChoices(sql),
    routeOf: sources.routeOf,
    concurrency: config.maxClassifications,
    now,
    newId,
    report,
  });
  classifier.work();
  const registers = [parts.registry];
  const stimuli = openStimuli({
    sql,
    // Connections are cut after half of the time that a stopping node has.
    partingMs: (config.drainSeconds * 1000) / 4,
    sources,
    failed,
    tenants: parts.tenants,
    runs,
    limiter,
    classifier,
    series: {
      events: new Counter({
        name: "svc_stimuli_total",
        help: "What happened to stimuli",
        labelNames: ["event"],
        registers,
      }),
      refusals: new Counter({
        name: "svc_webhook_refusals_total",
        help: "Deliveries turned away, by code",
        labelNames: ["code"],
        registers,
      }),
    },
    report,
    now,
    newId,
  });
  undo.push(() => stimuli.close());
  // First: who waits for a classification here is told at once that others go on with it.
  undo.push(() => classifier.close());
  const records = historyRecords(sql);
  const history = createHistory({ sql, records, audit, report, now });
  const replays = createReplays({ sql, records, audit, sources, ingest: stimuli.ingest, report, now });
  undo.push(startStimulusRetention({ sql, retentionDays: config.stimulusRetentionDays, now, report }));
  return [
    ...ingestRoutes(stimuli),
    ...historyRoutes({ history, replays }),
    ...sourceRoutes({ routes, routers }),
    ...auditRoutes(sql),
  ];
}
