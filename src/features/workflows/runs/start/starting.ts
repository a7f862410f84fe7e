/** How runs start: decided in one place, admitted, stored. Starts under a known id are repeatable. */
import type { StartCaller } from "../../../../../actors/execution/start/request.ts";
import { Problem } from "../../../../../actors/kernel/problem.ts";
import { iso } from "../../../../../actors/kernel/time.ts";
import type { Admitted } from "../../../../../actors/workflow/run/activities/admission.ts";
import { workflowRun } from "../../../../../actors/workflow/run/run.ts";
import {
  followerPlan,
  followerRequest,
  forkProblem,
  planFork,
  planRetry,
} from "../../../../../actors/workflow/run/start/plan-again.ts";
import { planRun, type RunPlan } from "../../../../../actors/workflow/run/start/plan-run.ts";
import type { ForkRequest, RetryRequest, RunRequest } from "../../../../../actors/workflow/run/start/request.ts";
import type { RunHeader, RunState } from "../../../../../actors/workflow/run/state.ts";
import { type ActorHandle, MailboxFull, MessageRejected, type Runtime } from "../../../../runtime/port.ts";
import type { OpenVolumes } from "../../../volumes/port.ts";
import type { RunHistory } from "../log/history.ts";
import type { StartedRun } from "../port.ts";
import { gatherAgainFacts, gatherRunFacts, isCostly, type RunFactsOptions } from "./facts.ts";
import { restoredOf } from "./restored.ts";

export interface RunStartsOptions extends RunFactsOptions {
  readonly runtime: Runtime;
  readonly volumes: RunFactsOptions["volumes"] & Pick<OpenVolumes, "settleRun">;
  /**
   * Debits the start from the rates of tenant and user; the last check of all. Not called for starts that were
   * counted elsewhere.
   * @throws Problem 429 `rate_limited`, 503 `limiter_unavailable`
   */
  readonly admit: (request: Pick<RunRequest, "tenant" | "countedFor">) => Promise<Admission>;
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
  readonly started: StartedRun & { readonly retry_of: string | null; readonly forked_from: string | null };
  /** What the caller is told of its rates; nothing for a start that was accepted before. */
  readonly headers: Admission["headers"];
}

export function runStarts(options: RunStartsOptions, { listed, load }: Pick<RunHistory, "listed" | "load">) {
  const runs = options.runtime.of(workflowRun);

  /**
   * Starts under an id; the same id again is the same run, even if its workflow has changed since.
   * @param decide gathers the facts and plans the start
   */
  async function startAs(
    { tenant, starter, countedFor = null }: Pick<RunRequest, "tenant" | "starter" | "countedFor">,
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
    if (plan instanceof Problem) {
      if (isCostly(plan) && !rateExempt) await options.admit({ tenant, countedFor });
      throw plan;
    }
    const admission = rateExempt ? uncounted : await options.admit({ tenant, countedFor });
    try {
      const header = await settled(executionId, starter, plan);
      const started = await commit(runs.at(tenant, executionId), fresh, plan, header);
      return { started, headers: admission.headers };
    } catch (error) {
      if (error instanceof NothingStored) await admission.refund();
      throw error instanceof NothingStored ? error.cause : error;
    }
  }

  /** Stores the volumes of a run that was decided; repeatable. @throws NothingStored */
  async function settled(
    executionId: string,
    reader: StartCaller | null,
    { header, volumes }: RunPlan,
  ): Promise<RunHeader> {
    const { tenant_id: tenant, workflow_name: workflow, attachments } = header;
    const mounts = await options.volumes
      .settleRun({ tenant, executionId, reader, workflow, volumes, attachments })
      .catch((error: unknown) => {
        throw new NothingStored(error);
      });
    return { ...header, volumes: mounts };
  }

  /**
   * Starts the actor of a run that was decided.
   * @throws NothingStored when the run was certainly not stored; other errors when that is unknown
   */
  async function commit(
    run: ActorHandle<typeof workflowRun>,
    fresh: boolean,
    { volumes: _, ...start }: RunPlan,
    header: RunHeader,
  ) {
    try {
      const reply = await run.ask("start", { ...start, header }, { fresh });
      return startedBody(run.address.key, header, reply.started_at);
    } catch (error) {
      if (error instanceof MailboxFull) throw new NothingStored(error);
      if (!(error instanceof MessageRejected)) throw error;
      throw new NothingStored(new Problem("workflow_start_failed", "The workflow could not be started"));
    }
  }

  /**
   * Starts a run under an id; the same id again is the same run.
   * @param fresh whether the id was minted for this very call
   * @param left gives the signal that the caller has left; null: the start is stored and waits as long as it takes
   * @throws Problem 402, 403, 404, 422, 429, 503 when refused: then nothing was stored; 500 `workflow_start_failed`
   */
  function beginAs(
    executionId: string,
    fresh: boolean,
    request: RunRequest,
    left: (() => AbortSignal) | null = null,
  ): Promise<Begun> {
    return startAs(request, executionId, fresh, request.rateExempt, async () =>
      planRun(request, await gatherRunFacts(options, executionId, request, left)),
    );
  }

  return {
    beginAs,

    /** `beginAs`, for callers that show no rates. */
    async startAs(executionId: string, fresh: boolean, request: RunRequest): Promise<StartedRun> {
      return startOnly((await beginAs(executionId, fresh, request)).started);
    },

    /** The answer to the start of a run that there is; null: there is none of that id in the tenant. */
    async startedAs(tenant: string, executionId: string): Promise<StartedRun | null> {
      const state = await listed(tenant, executionId);
      if (state === null) return null;
      return startOnly(startedBody(executionId, state.header, iso(state.started_at)));
    },

    /** Starts a run where an earlier one of the tenant ended; see `planRetry`. */
    async retryAs(executionId: string, fresh: boolean, earlierId: string, request: RetryRequest): Promise<Begun> {
      return startAs(request, executionId, fresh, false, async () => {
        const earlier = await load(request.tenant, earlierId);
        return planRetry(request, await gatherAgainFacts(options, executionId, earlierId, earlier, request));
      });
    },

    /** Starts a run at a visit of an earlier one of the tenant; see `planFork`. */
    async forkAs(executionId: string, fresh: boolean, earlierId: string, request: ForkRequest): Promise<Begun> {
      return startAs(request, executionId, fresh, false, async () => {
        const earlier = await load(request.tenant, earlierId);
        const problem = forkProblem(request, earlier);
        if (problem !== null) return problem;
        const facts = await gatherAgainFacts(options, executionId, earlierId, earlier, request);
        const visit = request.fromVisit ?? earlier.visits[request.fromState] ?? 1;
        const restored = await restoredOf(runs.at(request.tenant, earlierId), earlier, request.fromState, visit);
        return planFork(request, facts, restored);
      });
    },

    /**
     * What a pending run begins with, once the rates have admitted it; its volumes are stored. Repeatable.
     * @throws Problem 402, 404, 422 for good; 429 and 5xx pass
     */
    async admitFollower(executionId: string, pending: RunState): Promise<Admitted> {
      const request = followerRequest(pending);
      const facts = await gatherRunFacts(options, executionId, request, null);
      // Its starter was asked with the first start.
      const planned = planRun(request, { ...facts, isContextAllowed: true });
      if (planned instanceof Problem) throw planned;
      const plan = followerPlan(planned, pending);
      const admission = await options.admit(request);
      try {
        const header = await settled(executionId, request.starter, plan);
        return { header, definition: plan.definition, input: plan.input };
      } catch (error) {
        await admission.refund();
        throw error instanceof NothingStored ? error.cause : error;
      }
    },
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
  const { workflow_id, workflow_name, workflow_version, retry_of, forked_from = null } = header;
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
    forked_from,
  };
}

/** As a start shows it that is neither a retry nor a fork. */
function startOnly({ retry_of: _, forked_from: __, ...started }: Begun["started"]): StartedRun {
  return started;
}
