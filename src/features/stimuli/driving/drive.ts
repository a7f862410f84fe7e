/**
 * A stimulus from its acceptance to its end: choose the workflow, start its run under the id minted with the
 * stimulus, settle the row. Whoever drives it on after a crash starts the same run.
 */

import { Problem } from "../../../../actors/kernel/problem.ts";
import { failedStatusOf, retryAt } from "../../../../actors/stimulus/life.ts";
import type { RunRequest } from "../../../../actors/workflow/run/start/request.ts";
import type { StartedRun } from "../../workflows/runs/port.ts";
import { runInput } from "../intake/input.ts";
import { leaseMs } from "../intake/intake.ts";
import type { Chosen, ClassificationDetail, Receiver, Settlement, Stimulus } from "../intake/port.ts";
import type { StimulusRecords } from "../intake/records.ts";
import type { Router, Sources } from "../sources/port.ts";

export interface DriveOptions {
  readonly sources: Pick<Sources, "routeOf" | "routerOf">;
  readonly runs: {
    startAs(executionId: string, fresh: boolean, request: RunRequest): Promise<StartedRun>;
    /** The run that was started under this id; null: none. */
    startedAs(tenant: string, executionId: string): Promise<StartedRun | null>;
  };
  /** Asks the router agent; never throws for what the agent does. */
  readonly classify: (stimulus: Stimulus, router: Router) => Promise<Chosen | Settlement>;
  readonly records: Pick<StimulusRecords, "settle" | "retry" | "renew">;
  /** Gives back what the acceptance debited. Never throws. */
  readonly refund: (stimulus: Stimulus) => Promise<void>;
  /** Tells those who wait for the stimulus that its row was settled. */
  readonly settled: (stimulus: Stimulus) => void;
  readonly report: (event: string, facts: Record<string, unknown>) => void;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** What became of an attempt. */
export type Driven =
  | { readonly ended: Settlement }
  /** It will be tried again. */
  | { readonly retried: true }
  /** A store or an actor gave no answer: nobody knows, and whoever finds the row next drives it on. */
  | { readonly unknown: unknown };

export type Drive = (stimulus: Stimulus) => Promise<Driven>;

/** A stimulus under way is kept from others by renewing its lease, ms. */
const renewEveryMs = 4_000;

export function createDrive(options: DriveOptions): Drive {
  const { records, now } = options;

  async function choose(stimulus: Stimulus): Promise<Chosen | Settlement> {
    const { tenant, source, override, channel } = stimulus;
    if (override !== null) return { ...override, detail: detailOf("override") };
    const route = await options.sources.routeOf(tenant, source);
    // Whoever posts a stimulus himself is not held up by a route that was switched off for others.
    const direct = route !== null && (route.enabled || channel === "webhook") ? route : null;
    if (direct?.workflow) {
      return { workflow: direct.workflow, version: direct.workflowVersion, detail: detailOf("deterministic") };
    }
    const router = await options.sources.routerOf(tenant);
    if (router !== null) return options.classify(stimulus, router);
    return failure("no_router_configured", "No source route names a workflow, and the tenant has no router");
  }

  async function start(
    stimulus: Stimulus,
    { workflow, version, detail }: Chosen,
    begunAt: number,
  ): Promise<Settlement> {
    // The id was minted with the stimulus: only a first attempt can be sure that there is no such run, and only while
    // nobody can have taken over from it.
    const isFresh = stimulus.attempts <= 1 && now() - begunAt < leaseMs / 2;
    try {
      const started = await options.runs.startAs(stimulus.executionId, isFresh, {
        tenant: stimulus.tenant,
        ref: workflow,
        version,
        input: runInput(stimulus),
        blackboard: null,
        intent: "",
        attachments: [],
        timeoutSeconds: null,
        securityContext: null,
        starter: null,
        initiatedBy: initiatorOf(stimulus.receivedBy),
        parent: null,
        stimulusId: stimulus.id,
        // Debited with the acceptance.
        rateExempt: true,
      });
      return classified(started, detail);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      return startFailure(error, workflow, detail);
    }
  }

  /** Chooses and starts. @throws what says nothing about the stimulus: a store or an actor that does not answer */
  async function route(stimulus: Stimulus): Promise<Settlement> {
    const begunAt = now();
    const chosen = await choose(stimulus);
    const settlement = "status" in chosen ? chosen : await start(stimulus, chosen, begunAt);
    if (settlement.status === "classified" || stimulus.attempts === 1) return settlement;
    // An earlier attempt may have come further than it could tell, under a configuration that is no more.
    const started = await options.runs.startedAs(stimulus.tenant, stimulus.executionId);
    return started === null ? settlement : classified(started, settlement.detail ?? detailOf("deterministic"));
  }

  async function conclude(stimulus: Stimulus, settlement: Settlement): Promise<Driven> {
    if (settlement.status !== "classified") {
      const at = retryAt({ ...stimulus, code: settlement.code, now: now() });
      if (at !== null) {
        return (await records.retry(stimulus, settlement, at)) ? { retried: true } : takenOver;
      }
    }
    const isMine = await records.settle(stimulus, settlement);
    options.settled(stimulus);
    if (!isMine) return takenOver;
    report(stimulus, settlement);
    if (settlement.status !== "classified") await options.refund(stimulus);
    return { ended: settlement };
  }

  function report({ tenant, id, source, executionId }: Stimulus, settlement: Settlement): void {
    const facts = { tenant, stimulus_id: id, source };
    if (settlement.status === "classified") {
      options.report("stimulus_classified", { ...facts, workflow_execution_id: executionId });
    } else options.report(`stimulus_${settlement.status}`, { ...facts, code: settlement.code });
  }

  return async (stimulus) => {
    const lease = setInterval(() => void records.renew(stimulus).catch(() => {}), renewEveryMs);
    try {
      return await conclude(stimulus, await route(stimulus));
    } catch (error) {
      options.report("stimulus_attempt_unknown", {
        tenant: stimulus.tenant,
        stimulus_id: stimulus.id,
        error: String(error),
      });
      return { unknown: error };
    } finally {
      clearInterval(lease);
    }
  };
}

const initiatorOf = ({ kind, sub, email }: Receiver): RunRequest["initiatedBy"] => ({ kind, sub, email });

/** Whoever was faster, or has it now, tells how it ends. */
const takenOver: Driven = { unknown: "another attempt has taken over" };

const classified = (started: StartedRun, detail: ClassificationDetail): Settlement => ({
  status: "classified",
  started,
  detail: { ...detail, workflow_id: started.workflow_id, workflow_name: started.workflow_name },
});

/** Whether a start was refused for what it is, so that the same start would be refused again. */
function isRefusal(error: unknown): error is Problem {
  return error instanceof Problem && (error.status < 500 || error.code === "workflow_start_failed");
}

function startFailure(problem: Problem, workflow: string, detail: ClassificationDetail): Settlement {
  if (problem.code === "workflow_not_found") {
    return failure("unknown_workflow", "The workflow does not exist", { workflow }, detail);
  }
  return failure("workflow_error", "The workflow could not be started", { cause_code: problem.code }, detail);
}

/** How a stimulus ends that starts nothing; the code says as what. */
function failure(
  code: string,
  message: string,
  extras: Readonly<Record<string, unknown>> = {},
  detail: ClassificationDetail | null = null,
): Settlement {
  return { status: failedStatusOf(code), code, message, extras, detail };
}

const detailOf = (routing_mode: "override" | "deterministic"): ClassificationDetail => ({
  routing_mode,
  workflow_id: null,
  workflow_name: null,
  confidence: 1,
  threshold: null,
  reasoning: null,
  router_agent_id: null,
  router_execution_id: null,
});
