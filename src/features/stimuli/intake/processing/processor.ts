/**
 * A stimulus from its acceptance to its end: choose the workflow, start its run under the id minted with the
 * stimulus, settle the row. A node that goes on with it after a crash starts the same run.
 */

import { Problem } from "../../../../../actors/kernel/problem.ts";
import {
  classified,
  concludeAttempt,
  namedWorkflow,
  planRouting,
  type Routing,
  runRequest,
  settledWithTakers,
  startedEarlier,
  starterOfStimulus,
  startFailure,
} from "../../../../../actors/stimulus/routing.ts";
import type { Chosen, Settlement, Stimulus, StimulusRun } from "../../../../../actors/stimulus/stimulus.ts";
import type { RunRequest } from "../../../../../actors/workflow/run/start/request.ts";
import { isServiceAway } from "../../../../runtime/port.ts";
import type { Router, Sources } from "../../sources/port.ts";
import type { Waits } from "../../waits/port.ts";
import { leaseMs } from "../acceptance.ts";
import type { StimulusRecords } from "../records.ts";

export interface ProcessorOptions {
  readonly sources: Pick<Sources, "sourceOf" | "routerOf">;
  readonly runs: {
    startAs(executionId: string, fresh: boolean, request: RunRequest): Promise<StimulusRun>;
    /** The run that was started under this id; null: none. */
    startedAs(tenant: string, executionId: string): Promise<StimulusRun | null>;
  };
  /** Asks the router agent; never throws for what the agent does. */
  readonly classify: (stimulus: Stimulus, router: Router) => Promise<Chosen | Settlement>;
  readonly records: Pick<StimulusRecords, "settle" | "retry" | "renew" | "release">;
  readonly waits: Waits;
  /** Gives back what the acceptance debited. Never throws. */
  readonly refund: (stimulus: Stimulus) => Promise<void>;
  /** Tells those who wait for the stimulus that its row was settled. */
  readonly settled: (stimulus: Stimulus) => void;
  readonly report: (event: string, facts: Record<string, unknown>) => void;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** The outcome of an attempt. */
export type Processed =
  | { readonly kind: "ended"; readonly settlement: Settlement; readonly takenBy: readonly string[] }
  /** It will be tried again. */
  | { readonly kind: "retried" }
  /** A store or an actor gave no answer: the node that finds the row next goes on with it. */
  | { readonly kind: "unknown"; readonly error: unknown };

/** How an attempt ended, and runs that took the stimulus. */
interface Brought {
  readonly settlement: Settlement;
  readonly takenBy: readonly string[];
}

export type Processor = (stimulus: Stimulus) => Promise<Processed>;

/** A stimulus under way is kept from others by renewing its lease, ms. */
const renewEveryMs = 4_000;
/** After attempts that an outage ended the next one begins so much later, ms: it doubles, and ends within 5 s of the outage. */
const [firstPauseMs, longestPauseMs] = [250, 2_000];
/** Between tries to say so to a database that is away, ms. */
const releaseAgainMs = 500;

export function createProcessor(options: ProcessorOptions): Processor {
  const { records, now } = options;

  /** @returns the next step; the tenant's router is looked up only where nothing else names a workflow */
  async function next(stimulus: Stimulus): Promise<Routing<Router>> {
    const { tenant, source, override } = stimulus;
    const named = namedWorkflow(stimulus, override === null ? await options.sources.sourceOf(tenant, source) : null);
    return planRouting({ named, router: named === null ? await options.sources.routerOf(tenant) : null });
  }

  async function start(stimulus: Stimulus, chosen: Chosen, begunAt: number): Promise<Settlement> {
    // The id was minted with the stimulus: only a first attempt can be sure that there is no such run, and only while
    // no other node can have taken over from it.
    const isFresh = stimulus.attempts <= 1 && now() - begunAt < leaseMs / 2;
    try {
      const { tenant, source, receivedBy } = stimulus;
      const configured = receivedBy.kind === "webhook" ? await options.sources.sourceOf(tenant, source) : null;
      const request = runRequest(stimulus, chosen, starterOfStimulus(stimulus, configured));
      return classified(await options.runs.startAs(stimulus.executionId, isFresh, request), chosen.detail);
    } catch (error) {
      const failure = error instanceof Problem ? startFailure(error, chosen) : null;
      if (failure === null) throw error;
      return failure;
    }
  }

  /**
   * Tells those who wait for it, chooses and starts.
   * @throws what says nothing about the stimulus: a store or an actor that does not answer
   */
  async function bring(stimulus: Stimulus): Promise<Brought> {
    const begunAt = now();
    const told = await options.waits.tell(stimulus);
    const settlement = await route(stimulus, begunAt);
    // A Wait may have found it by itself meanwhile, or been told by an attempt that was cut off.
    const isAsked = told > 0 || settlement.status !== "classified";
    const takenBy = isAsked ? await options.waits.takersOf(stimulus) : [];
    return { settlement: settledWithTakers(settlement, takenBy), takenBy };
  }

  async function route(stimulus: Stimulus, begunAt: number): Promise<Settlement> {
    const step = await next(stimulus);
    const chosen = step.kind === "classify" ? await options.classify(stimulus, step.router) : stepOutcome(step);
    const settlement = "status" in chosen ? chosen : await start(stimulus, chosen, begunAt);
    if (settlement.status === "classified" || stimulus.attempts === 1) return settlement;
    // An earlier attempt may have come further than it could tell, under a configuration that has changed since.
    const started = await options.runs.startedAs(stimulus.tenant, stimulus.executionId);
    return started === null ? settlement : startedEarlier(started, settlement);
  }

  async function conclude(stimulus: Stimulus, { settlement, takenBy }: Brought): Promise<Processed> {
    const conclusion = concludeAttempt(stimulus, settlement, now());
    if (conclusion.kind === "retry") {
      const isMine = await records.retry(stimulus, conclusion.failure, conclusion.at);
      return isMine ? { kind: "retried" } : takenOver;
    }
    const isMine = await records.settle(stimulus, settlement);
    options.settled(stimulus);
    if (!isMine) return takenOver;
    report(stimulus, settlement, takenBy.length);
    if (settlement.status !== "classified" || settlement.started === null) await options.refund(stimulus);
    return { kind: "ended", settlement, takenBy };
  }

  function report({ tenant, id, source, executionId }: Stimulus, settlement: Settlement, taken: number): void {
    const facts = { tenant, stimulus_id: id, source, ...(taken === 0 ? {} : { taken }) };
    if (settlement.status === "classified") {
      const workflow_execution_id = settlement.started === null ? null : executionId;
      options.report("stimulus_classified", { ...facts, workflow_execution_id });
    } else options.report(`stimulus_${settlement.status}`, { ...facts, code: settlement.code });
  }

  /** What an outage interrupted does not wait for the end of its lease; the attempt is over. */
  async function release(stimulus: Stimulus): Promise<void> {
    const { attempts, failures } = stimulus;
    const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(10, Math.max(0, attempts - failures - 1)));
    // After the lease others take it up by themselves.
    for (const until = now() + leaseMs * 2; now() < until; await Bun.sleep(releaseAgainMs)) {
      try {
        await records.release(stimulus, now() + pauseMs);
        return;
      } catch {
        // The database is away as well.
      }
    }
  }

  return async (stimulus) => {
    const lease = setInterval(() => void records.renew(stimulus).catch(() => {}), renewEveryMs);
    try {
      return await conclude(stimulus, await bring(stimulus));
    } catch (error) {
      options.report("stimulus_attempt_unknown", {
        tenant: stimulus.tenant,
        stimulus_id: stimulus.id,
        error: String(error),
      });
      if (isServiceAway(error)) void release(stimulus);
      return { kind: "unknown", error };
    } finally {
      clearInterval(lease);
    }
  };
}

const stepOutcome = (step: Exclude<Routing<Router>, { kind: "classify" }>): Chosen | Settlement =>
  step.kind === "start" ? step.chosen : step.failure;

/** Another attempt was faster, or has it now: that one decides how it ends. */
const takenOver: Processed = { kind: "unknown", error: "another attempt has taken over" };
