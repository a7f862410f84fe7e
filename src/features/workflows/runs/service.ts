/** What can be done with runs of workflows. Routes, tools, parent runs and stimuli all come through here. */

import type { Starter } from "../../../../actors/execution/start/request.ts";
import { Problem } from "../../../../actors/kernel/problem.ts";
import { iso } from "../../../../actors/kernel/time.ts";
import { workflowEvents } from "../../../../actors/workflow/run/record/events.ts";
import { type RunGraph, runGraph, StepFold } from "../../../../actors/workflow/run/record/graph.ts";
import {
  type ElementState,
  type RunElement,
  type RunRecord,
  runElement,
  runRecord,
} from "../../../../actors/workflow/run/record/record.ts";
import { workflowRun } from "../../../../actors/workflow/run/run.ts";
import { planRetry, planRun, type RunPlan } from "../../../../actors/workflow/run/start/plan-run.ts";
import type { RetryRequest, RunRequest } from "../../../../actors/workflow/run/start/request.ts";
import { isOver, type RunHeader, type RunState } from "../../../../actors/workflow/run/state.ts";
import { type List, listOf, type Page } from "../../../http/paging.ts";
import type { ActorHandle } from "../../../runtime/port.ts";
import { type Address, MailboxFull, MessageRejected, type Runtime } from "../../../runtime/port.ts";
import type { OpenVolumes } from "../../volumes/port.ts";
import { type WireEvent, wireEvent } from "./log.ts";
import type { StartedRun } from "./port.ts";
import type { RunFilter, RunRecords } from "./records.ts";
import { gatherRetryFacts, gatherRunFacts, type RunFactsOptions } from "./start/facts.ts";

export interface RunsOptions extends RunFactsOptions {
  readonly runtime: Runtime;
  readonly records: RunRecords;
  readonly volumes: RunFactsOptions["volumes"] & Pick<OpenVolumes, "settleRun">;
  /**
   * Debits the start from the rates of tenant and user; the last check of all. Not called for starts that were
   * counted elsewhere.
   * @throws Problem 429 `rate_limited`, 503 `limiter_unavailable`
   */
  readonly admit: (request: Pick<RunRequest, "tenant" | "starter">) => Promise<Admission>;
  /** Unix milliseconds. */
  readonly now: () => number;
}

export interface Admission {
  /** What the caller learns of its rates. */
  readonly headers: Readonly<Record<string, string>>;
  /** The start failed before it was accepted: it costs nothing. Never throws. */
  refund(): Promise<void>;
}

/** Of a start that was counted elsewhere. */
const uncounted: Admission = { headers: {}, refund: async () => {} };

/** A start that was accepted. */
export interface Begun {
  readonly started: StartedRun & { readonly retry_of: string | null };
  /** What the caller is told of its rates; nothing for a start that was accepted before. */
  readonly headers: Admission["headers"];
}

/** A run that is known to exist in the caller's tenant, without its blackboard. */
export interface FoundRun {
  readonly at: Address;
  readonly state: ElementState;
}

/** States read at once for a list, and how long the outputs of one page may be together. */
const statesAtOnce = 25;
const maxPageCharacters = 8 * 1_048_576;
/** One entry may hold a whole result. */
const entriesAtOnce = 50;
const tellsAtOnce = 500;
/** Entries of a log read at once; each may hold a large result. */
const eventsAtOnce = 20;

export type Runs = ReturnType<typeof createRuns>;

export function createRuns(options: RunsOptions) {
  const { runtime, records } = options;
  const runs = runtime.of(workflowRun);

  async function listed(tenant: string, executionId: string): Promise<ElementState | null> {
    return (await runs.readListed(tenant, [executionId])).get(executionId) ?? null;
  }

  /** @throws Problem 404 `workflow_execution_not_found` */
  async function find(tenant: string, executionId: string): Promise<FoundRun> {
    const state = await listed(tenant, executionId);
    if (state === null) throw notFound();
    return { at: runs.at(tenant, executionId).address, state };
  }

  /** All of it. @throws Problem 404 `workflow_execution_not_found` */
  async function load(tenant: string, executionId: string): Promise<RunState> {
    const state = await runs.at(tenant, executionId).read();
    if (state === null) throw notFound();
    return state;
  }

  async function record(tenant: string, executionId: string): Promise<RunRecord> {
    return runRecord({ execution_id: executionId, tenant_id: tenant }, await load(tenant, executionId));
  }

  /** In the order of the ids; what was erased meanwhile is left out. */
  async function elementsOf(tenant: string, ids: readonly string[]): Promise<RunElement[]> {
    const states = await runs.readListed(tenant, ids);
    return ids.flatMap((id) => {
      const state = states.get(id);
      return state === undefined ? [] : [runElement({ execution_id: id, tenant_id: tenant }, state)];
    });
  }

  /**
   * Starts under an id; the same id again is the same run, even if its workflow has changed since.
   * @param decide gathers the facts and plans the start
   */
  async function startAs(
    { tenant, starter }: Pick<RunRequest, "tenant" | "starter">,
    executionId: string,
    fresh: boolean,
    rateExempt: boolean,
    decide: () => Promise<RunPlan | Problem>,
  ): Promise<Begun> {
    const earlier = fresh ? null : await listed(tenant, executionId);
    if (earlier !== null) {
      return { started: startedBody(executionId, earlier.header, iso(earlier.started_at)), headers: {} };
    }
    const plan = await decide();
    if (plan instanceof Problem) throw plan;
    const admission = rateExempt ? uncounted : await options.admit({ tenant, starter });
    try {
      return { started: await commit(runs.at(tenant, executionId), fresh, starter, plan), headers: admission.headers };
    } catch (error) {
      if (error instanceof NothingStored) await admission.refund();
      throw error instanceof NothingStored ? error.cause : error;
    }
  }

  /**
   * Stores the volumes of a run that was decided, and starts its actor.
   * @throws NothingStored when the run was certainly not stored; other errors when that is unknown
   */
  async function commit(
    run: ActorHandle<typeof workflowRun>,
    fresh: boolean,
    starter: Starter | null,
    { volumes, ...start }: RunPlan,
  ) {
    const { tenant, key: executionId } = run.address;
    const { workflow_name: workflow, attachments } = start.header;
    const wanted = { tenant, executionId, reader: starter, workflow, volumes, attachments };
    const mounts = await options.volumes.settleRun(wanted).catch((error: unknown) => {
      throw new NothingStored(error);
    });
    const header = { ...start.header, volumes: mounts };
    try {
      const reply = await run.ask("start", { ...start, header }, { fresh });
      return startedBody(executionId, header, reply.started_at);
    } catch (error) {
      if (error instanceof MailboxFull) throw new NothingStored(error);
      if (!(error instanceof MessageRejected)) throw error;
      throw new NothingStored(new Problem("workflow_start_failed", "The workflow could not be started"));
    }
  }

  /**
   * Starts a run under an id; the same id again is the same run.
   * @param fresh whether the id was minted for this very call
   * @throws Problem 402, 403, 404, 422, 429, 503 when refused: then nothing was stored; 500 `workflow_start_failed`
   */
  function beginAs(executionId: string, fresh: boolean, request: RunRequest): Promise<Begun> {
    return startAs(request, executionId, fresh, request.rateExempt, async () =>
      planRun(request, await gatherRunFacts(options, executionId, request)),
    );
  }

  /** Cancels every run of these workflows that has not ended, of any starter. Repeatable. */
  async function cancelOfWorkflow(workflowIds: readonly string[], reason: string): Promise<void> {
    const unfinished = await records.unfinishedOf(workflowIds);
    for (let from = 0; from < unfinished.length; from += tellsAtOnce) {
      const some = unfinished.slice(from, from + tellsAtOnce);
      await Promise.all(some.map(({ tenant, run_id }) => runs.at(tenant, run_id).tell("cancel", { reason })));
    }
  }

  async function setPaused({ at }: FoundRun, type: "pause" | "resume"): Promise<RunRecord> {
    const reply = await runs.at(at.tenant, at.key).ask(type, {});
    if (reply.outcome === "unknown") throw notFound();
    if (reply.outcome === "already_terminal") throw alreadyTerminal(reply.status);
    return record(at.tenant, at.key);
  }

  return {
    find,
    record,

    /** States, the ways between them, and when each was entered. @throws Problem 404 */
    async graph(tenant: string, executionId: string): Promise<RunGraph> {
      const state = await load(tenant, executionId);
      const fold = new StepFold();
      for (let after = 0; ; ) {
        const page = await runs.at(tenant, executionId).log(workflowEvents, after, eventsAtOnce);
        fold.add(page.map(({ entry }) => entry));
        after = page.at(-1)?.seq ?? after;
        if (page.length < eventsAtOnce) break;
      }
      return runGraph(executionId, state, fold.steps, options.now());
    },

    beginAs,

    /** `beginAs`, for callers that show no rates. */
    async startAs(executionId: string, fresh: boolean, request: RunRequest): Promise<StartedRun> {
      const { retry_of: _, ...started } = (await beginAs(executionId, fresh, request)).started;
      return started;
    },

    /** The answer to the start of a run that there is; null: there is none of that id in the tenant. */
    async startedAs(tenant: string, executionId: string): Promise<StartedRun | null> {
      const state = await listed(tenant, executionId);
      if (state === null) return null;
      const { header, started_at } = state;
      const { retry_of: _, ...started } = startedBody(executionId, header, iso(started_at));
      return started;
    },

    /** Starts a run where an earlier one of the tenant ended; see `planRetry`. */
    async retryAs(executionId: string, fresh: boolean, earlierId: string, request: RetryRequest): Promise<Begun> {
      return startAs(request, executionId, fresh, false, async () => {
        const earlier = await load(request.tenant, earlierId);
        return planRetry(request, await gatherRetryFacts(options, executionId, earlierId, earlier, request));
      });
    },

    /** Newest first. A page whose outputs are large ends early. */
    async list(tenant: string, filter: RunFilter, page: Page): Promise<List<"executions", RunElement>> {
      const rows = await records.list(tenant, filter, page);
      const positions = new Map(rows.map(({ run_id, position }) => [run_id, position]));
      const elements: RunElement[] = [];
      let [read, characters] = [0, 0];
      // Two at least: the first one too many is where the next page begins.
      while (read < rows.length && (characters <= maxPageCharacters || elements.length < 2)) {
        const some = rows.slice(read, read + statesAtOnce).map(({ run_id }) => run_id);
        read += some.length;
        for (const element of await elementsOf(tenant, some)) {
          elements.push(element);
          characters += JSON.stringify(element.final_output).length;
        }
      }
      const limit = read < rows.length ? Math.min(page.limit, elements.length - 1) : page.limit;
      return listOf("executions", elements, { ...page, limit }, ({ id }) => [positions.get(id) ?? "0", id]);
    },

    /** Repeatable. @throws Problem 409 `execution_already_terminal` when it ended otherwise */
    async cancel({ at }: FoundRun, reason: string | null) {
      const reply = await runs.at(at.tenant, at.key).ask("cancel", { reason });
      if (reply.outcome === "unknown") throw notFound();
      if (reply.outcome === "already_terminal") throw alreadyTerminal(reply.status);
      return { status: "cancel_requested", execution_id: at.key } as const;
    },

    /** What is under way ends, and no further state is entered. Repeatable. @throws Problem 409 */
    pause: (run: FoundRun): Promise<RunRecord> => setPaused(run, "pause"),

    /** Repeatable. @throws Problem 409 */
    resume: (run: FoundRun): Promise<RunRecord> => setPaused(run, "resume"),

    /** Cancels it if need be, then removes its record and its log. @throws Problem 404 */
    async erase({ at }: Pick<FoundRun, "at">) {
      const reply = await runs.at(at.tenant, at.key).ask("erase", {});
      if (reply.outcome === "unknown") throw notFound();
      return { status: "removed", execution_id: at.key, success: true } as const;
    },

    /** A page of its log, oldest first; `offset` counts entries. A page of large entries ends early. */
    async logs({ at, state }: FoundRun, limit: number, offset: number) {
      const events: WireEvent[] = [];
      const actor = runs.at(at.tenant, at.key);
      const total = actor.logLength(workflowEvents);
      let characters = 0;
      while (events.length < limit && characters <= maxPageCharacters) {
        const wanted = Math.min(entriesAtOnce, limit - events.length);
        const entries = await actor.log(workflowEvents, offset + events.length, wanted);
        for (const entry of entries) {
          events.push(wireEvent({ executionId: at.key, header: state.header }, entry));
          characters += JSON.stringify(entry.entry).length;
        }
        if (entries.length < wanted) break;
      }
      return { execution_id: at.key, events, count: events.length, limit, offset, total: await total };
    },

    /** The approval that the run waits for. @throws Problem 409 `execution_already_terminal`, `no_open_approval` */
    openApproval({ state }: FoundRun): string {
      if (isOver(state)) throw alreadyTerminal(state.status);
      const work = state.current?.work;
      if (work?.of === "human") return work.approval_id;
      throw new Problem("no_open_approval", "The execution waits for no approval");
    },

    /** For `workflows`: how many runs the tenant started of each. */
    countByWorkflow: records.countByWorkflow,

    /** For `workflows`: runs that have not ended, of any starter; at most `limit`. */
    async unfinishedOf(workflowIds: readonly string[], limit: number): Promise<readonly string[]> {
      const rows = await records.unfinishedOf(workflowIds, limit);
      return rows.map(({ run_id }) => run_id);
    },

    cancelOfWorkflow,
  };
}

/** A start that failed before anything of the run was stored. */
class NothingStored extends Error {
  constructor(override readonly cause: unknown) {
    super("Nothing of the run was stored");
  }
}

/** The answer to a start, even if the run has gone on since. */
function startedBody(executionId: string, header: RunHeader, startedAt: string) {
  const { workflow_id, workflow_name, workflow_version, retry_of } = header;
  return {
    execution_id: executionId,
    id: executionId,
    workflow_id,
    workflow_name,
    version: workflow_version,
    status: "running" as const,
    started_at: startedAt,
    temporal_workflow_id: executionId,
    temporal_run_id: executionId,
    retry_of,
  };
}

const notFound = (): Problem => new Problem("workflow_execution_not_found", "Workflow execution not found");

function alreadyTerminal(status: string): Problem {
  return new Problem("execution_already_terminal", "The execution has already ended", { status });
}
