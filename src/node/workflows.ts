/** Workflows on a node: the actors, activities and projections of runs and approvals, and what is done with them. */
import { approval } from "../../actors/approval/approval.ts";
import { workflow } from "../../actors/workflow/run/run.ts";
import type { GuardedOptions } from "../adapters/egress/port.ts";
import { openMail } from "../adapters/mail/port.ts";
import type { Isolation, Sandboxes } from "../adapters/sandbox/port.ts";
import type { Config } from "../config/config.ts";
import type { Agents } from "../features/agents/service.ts";
import { approvalNotifyActivity } from "../features/approvals/notify.ts";
import { approvalsProjection } from "../features/approvals/projection.ts";
import { approvalRecords } from "../features/approvals/records.ts";
import { createApprovals } from "../features/approvals/service.ts";
import type { ExecutionClaims } from "../features/executions/iteration/launch.ts";
import { judgedFacts } from "../features/executions/judged.ts";
import type { Plans } from "../features/executions/plans.ts";
import type { Executions } from "../features/executions/service.ts";
import { noLimiter, openLimiter } from "../features/limits/limiter.ts";
import type { OpenVolumes } from "../features/volumes/open.ts";
import { createWorkflows } from "../features/workflows/definitions/service.ts";
import { cleanupActivity } from "../features/workflows/runs/cleanup.ts";
import { commandActivity } from "../features/workflows/runs/commands/commands.ts";
import { runsProjection } from "../features/workflows/runs/projection.ts";
import { createRunRecords } from "../features/workflows/runs/records.ts";
import { createRuns, type Runs } from "../features/workflows/runs/service.ts";
import { agentStartActivity } from "../features/workflows/runs/start/agents.ts";
import { subrunActivity } from "../features/workflows/runs/start/subruns.ts";
import { reviewByExecutions } from "../features/workflows/runs/tools/review.ts";
import { workflowTools } from "../features/workflows/runs/tools/tools.ts";
import { webhookActivity } from "../features/workflows/runs/webhook.ts";
import type { Runtime } from "../runtime/index.ts";
import type { Undo } from "./disposer.ts";
import type { Ground } from "./stores.ts";

/** What the runtime is started with for them. */
export const workflowActors = [workflow, approval];
export const workflowProjections = [runsProjection, approvalsProjection];

export interface WorkflowWork {
  /** Reads; activities may resume before the runtime is quite there. */
  readonly reads: Pick<Runtime, "read" | "readListed" | "log" | "tell">;
  readonly plans: Plans;
  readonly sandboxes: Sandboxes;
  readonly isolation: Isolation;
  readonly volumes: OpenVolumes;
  readonly outside: GuardedOptions;
  readonly mintEgressToken: (claims: ExecutionClaims) => Promise<string>;
  /** Once there are any. */
  readonly executions: Promise<Executions>;
  readonly runs: Promise<Runs>;
}

/** The activities of runs and approvals. */
export function workflowActivities(config: Config, { dataDir, now }: Ground, work: WorkflowWork, undo: Undo) {
  const { reads, plans, sandboxes, isolation, volumes, outside } = work;
  const mail = config.smtpUrl === null ? null : openMail({ url: config.smtpUrl, from: config.smtpFrom });
  undo.push(() => mail?.close());
  return [
    commandActivity({
      dataDir,
      maxCommands: config.maxCommands,
      sandboxes,
      defaultIsolation: isolation,
      systemImage: config.systemImage,
      imageRegistries: config.imageRegistries,
      openEgress: config.openEgress,
      rootAllowed: config.containerRoot,
      instanceMounts: volumes.instanceMounts,
      watchVolumes: volumes.watchLimits,
      mintEgressToken: work.mintEgressToken,
      now,
    }),
    agentStartActivity({
      runtime: reads,
      start: async (id, request) => (await work.executions).startAs(id, false, request),
      judged: judgedFacts({ runtime: reads, plans }),
      now,
    }),
    subrunActivity({ runtime: reads, start: async (id, request) => (await work.runs).startAs(id, false, request) }),
    webhookActivity({ outside }),
    cleanupActivity(volumes),
    approvalNotifyActivity({ runtime: reads, outside, mail, publicUrl: config.publicUrl, now }),
  ];
}

export interface WorkflowParts {
  readonly runtime: Runtime;
  readonly agents: Pick<Agents, "known">;
  readonly executions: Executions;
  readonly volumes: OpenVolumes;
  readonly isolations: readonly string[];
  readonly isolation: Isolation;
}

/** What is done with workflows, their runs and approvals, once the runtime runs. */
export function openWorkflows(config: Config, ground: Ground, parts: WorkflowParts, undo: Undo) {
  const { sql, redisUrl, logger, now, newId } = ground;
  const { runtime, agents, volumes } = parts;
  const limiter = config.rateLimits
    ? openLimiter({
        sql,
        redisUrl,
        prefix: config.redisPrefix,
        now,
        report: (event, facts) => logger.info(facts, event),
      })
    : noLimiter;
  undo.push(() => limiter.close());
  const runRecords = createRunRecords(sql);
  const workflows = createWorkflows({
    sql,
    offer: {
      isolations: parts.isolations,
      openEgress: config.openEgress,
      defaultIsolation: parts.isolation,
      rootAllowed: config.containerRoot,
      email: config.smtpUrl !== null,
      imageRegistries: config.imageRegistries,
    },
    visibleAgents: agents.known,
    countRuns: runRecords.countByWorkflow,
    unfinishedRuns: (ids, limit) => runs.unfinishedOf(ids, limit),
    cancelRuns: (ids, reason) => runs.cancelOfWorkflow(ids, reason),
    now,
    newId,
  });
  const runs = createRuns({
    runtime,
    records: runRecords,
    definitions: workflows,
    volumes,
    admit: async ({ tenant, starter }) => {
      const use = { tenant, user: starter, resource: "workflow_execution", units: 1 } as const;
      const headers = await limiter.debit(use);
      return { headers, refund: () => limiter.refund(use) };
    },
    now,
  });
  const records = approvalRecords(sql);
  const approvals = createApprovals({ runtime, records, publicUrl: config.publicUrl, now });
  const reviewers = reviewByExecutions(parts.executions);
  const tools = workflowTools({ runs, runtime, approvals, workflows, reviewers });
  return { limiter, workflows, runs, runRecords, approvals, approvalRecords: records, workflowTools: tools };
}
