/** What a node does with stimuli, put together: acceptance, the way to a run, what is done in the background. */
import type { Tenants } from "../../../identity/tenants/tenants.ts";
import type { Sql } from "../../../store/postgres/pool.ts";
import type { Limiter } from "../../limits/port.ts";
import type { Runs } from "../../workflows/runs/feature.ts";
import type { Classifier } from "../classification/port.ts";
import type { FailedVerifications } from "../sources/feature.ts";
import type { Sources } from "../sources/port.ts";
import type { Waits } from "../waits/port.ts";
import { createAcceptance } from "./acceptance.ts";
import { createArrivingBodies } from "./arriving-bodies.ts";
import { watchBacklog } from "./backlog.ts";
import { createBodyBudget, withinBudget } from "./body-budget.ts";
import { createFilter } from "./filter.ts";
import { createIntake, rateUse } from "./intake.ts";
import type { StimulusMetrics } from "./metrics.ts";
import { createDrain } from "./processing/drain.ts";
import { createProcessor } from "./processing/processor.ts";
import { watchSettled } from "./processing/settled-watch.ts";
import { createWorker } from "./processing/worker.ts";
import { stimulusRecords } from "./records.ts";
import { createWebhooks } from "./webhooks.ts";

export interface StimuliOptions {
  readonly sql: Sql;
  readonly sources: Sources;
  readonly failed: FailedVerifications;
  readonly tenants: Tenants;
  readonly runs: Pick<Runs, "startAs" | "startedAs" | "newId">;
  readonly waits: Waits;
  readonly limiter: Pick<Limiter, "debit" | "refund">;
  readonly classifier: Pick<Classifier, "classify">;
  readonly metrics: StimulusMetrics;
  readonly report: (event: string, facts: Record<string, unknown>) => void;
  /** How long deliveries under way are waited for once the node leaves. */
  readonly drainMs: number;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly newId: () => string;
}

export function openStimuli(options: StimuliOptions) {
  const { sql, limiter, metrics, now, newId } = options;
  const records = stimulusRecords(sql, now);
  const acceptance = createAcceptance({ sql, now, newId, newRunId: options.runs.newId });
  const watch = watchSettled(records.stillReceived);
  const inTime = createDrain(options.drainMs);
  let accepting = 0;
  const report = (event: string, facts: Record<string, unknown>) => {
    metrics.events.inc({ event });
    options.report(event, facts);
  };
  const processStimulus = createProcessor({
    sources: options.sources,
    runs: options.runs,
    waits: options.waits,
    classify: options.classifier.classify,
    records,
    refund: (stimulus) =>
      rateUse(options.sources.sourceOf, stimulus)
        .then((use) => limiter.refund(use, stimulus.receivedAt))
        .catch(() => {}),
    settled: watch.settled,
    report,
    now,
  });
  const worker = createWorker({
    due: records.due,
    waits: records.waits,
    processStimulus,
    accepting: () => accepting,
    report,
    now,
  });
  const taking = createIntake({
    acceptance,
    processStimulus,
    backlog: watchBacklog(records.backlogOf, now),
    watch,
    limiter,
    sourceOf: options.sources.sourceOf,
    received: options.sources.received,
    duplicate: records.duplicate,
    wake: worker.wake,
    report,
    now,
  });
  const intake = withinBudget(taking, createBodyBudget());
  const arriving = createArrivingBodies();
  const filter = createFilter({
    sources: options.sources,
    count(source, what) {
      metrics.ignored(source, what);
      report("stimulus_ignored", { tenant: source.tenant, source: source.source, ...what });
    },
    now,
  });
  const deliver = createWebhooks({
    sources: options.sources,
    tenants: options.tenants,
    failed: options.failed,
    arriving,
    verifying: createBodyBudget(),
    intake,
    filter,
    refused: (code) => metrics.refusals.inc({ code }),
    now,
  });
  return {
    records,
    intake,
    deliver,
    filter,
    sourceOf: options.sources.sourceOf,
    async underWay<T>(work: () => Promise<T>, stopping: AbortSignal): Promise<T> {
      accepting++;
      try {
        return await inTime(work, stopping);
      } finally {
        accepting--;
      }
    },
    queues: [
      { name: "deliveries", depth: acceptance.waiting },
      { name: "routing", depth: worker.underWay },
      { name: "delivery_bodies", bytes: arriving.bytes },
    ],
    /** Begins to process what waits. */
    start: worker.start,
    async close(): Promise<void> {
      await worker.close();
      watch.close();
    },
  };
}
