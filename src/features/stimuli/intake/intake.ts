/**
 * Taking a checked message in (docs/reference/stimuli.md): the key, the backlog, the
 * rate, the row, and, unless it is only acknowledged, the way to its run.
 */
import { Problem, type ProblemCode } from "../../../../actors/kernel/problem.ts";
import { demands } from "../../../../actors/policy/rates/limits.ts";
import { rateUserOfReceiver } from "../../../../actors/stimulus/routing.ts";
import type { Arrival, ClassificationDetail, Stimulus } from "../../../../actors/stimulus/stimulus.ts";
import type { RateUse } from "../../limits/port.ts";
import type { Sources } from "../sources/port.ts";
import { type AdmissionOptions, createAdmission, type Taking } from "./admission.ts";
import type { Processed, Processor } from "./processing/processor.ts";
import type { Received, Routed } from "./schema.ts";

export interface IntakeOptions extends AdmissionOptions {
  readonly processStimulus: Processor;
  readonly sourceOf: Sources["sourceOf"];
  /** Notes that a source brought something. */
  readonly received: Sources["received"];
  /** Wakes the worker that processes what was only acknowledged. */
  readonly wake: () => void;
  readonly report: (event: string, facts: Record<string, unknown>) => void;
}

/** The answer to an accepted stimulus. */
export type IntakeAnswer = (
  | { readonly status: 200; readonly body: Routed }
  | { readonly status: 202; readonly body: Received }
) & {
  /** Where it can be looked at, and the caller's rates. */
  readonly headers: Readonly<Record<string, string>>;
};

/** @throws Problem as docs/reference/stimuli.md says */
export type Intake = (arrival: Arrival, taking?: Taking) => Promise<IntakeAnswer>;

const asUsual: Taking = { force: false, id: null };

export function createIntake(options: IntakeOptions): Intake {
  const { processStimulus, backlog } = options;
  const admit = createAdmission(options);

  async function route(stimulus: Stimulus, headers: Readonly<Record<string, string>>): Promise<IntakeAnswer> {
    const processed = await processStimulus(stimulus);
    // What is processed while the caller waits is never put off: a store or an actor did not answer.
    if (processed.kind !== "ended") throw undecided(stimulus);
    return answer(stimulus, processed, headers);
  }

  return async (arrival, taking = asUsual) => {
    const use = await rateUse(options.sourceOf, arrival);
    const { stimulus, headers } = await admit(arrival, use, taking);
    if (arrival.sourceId !== null && arrival.channel !== "replay") {
      options.received({ tenant: arrival.tenant, id: arrival.sourceId }, stimulus.receivedAt);
    }
    options.report("stimulus_received", { tenant: stimulus.tenant, stimulus_id: stimulus.id, source: stimulus.source });
    if (stimulus.acknowledge === "routed") return route(stimulus, headers);
    backlog.added(stimulus.tenant);
    options.wake();
    return {
      status: 202,
      body: { stimulus_id: stimulus.id, workflow_execution_id: null, status: "received" },
      headers: { ...headers, Location: `/v1/stimuli/${stimulus.id}` },
    };
  };
}

/** What a stimulus debits: a start of the tenant's, of the caller who posts it, and of its source's own rate where it has one. */
export async function rateUse(
  sourceOf: Sources["sourceOf"],
  { tenant, source, receivedBy }: Pick<Arrival, "tenant" | "source" | "receivedBy">,
): Promise<RateUse> {
  const user = rateUserOfReceiver(receivedBy);
  const use = { tenant, user, demands: [demands.of("workflow_execution")] };
  const perMinute = (await sourceOf(tenant, source))?.ratePerMinute ?? null;
  return perMinute === null ? use : { ...use, source: { name: source, perMinute } };
}

/** It is stored, and the node that finds it next goes on with it. */
function undecided({ id }: Stimulus): Problem {
  const message = "The stimulus is stored, but what it starts could not be started now: it will be";
  return new Problem("stimulus_service_unavailable", message, { stimulus_id: id }, { "Retry-After": "5" });
}

/** @throws Problem with the code that ended it */
function answer(
  stimulus: Stimulus,
  { settlement, takenBy }: Extract<Processed, { readonly kind: "ended" }>,
  headers: Readonly<Record<string, string>>,
): IntakeAnswer {
  if (settlement.status !== "classified") {
    const { code, message, extras } = settlement;
    throw new Problem(code as ProblemCode, message, { stimulus_id: stimulus.id, ...extras });
  }
  const { id, executionId } = stimulus;
  const routed = routedAnswer({ id, runId: executionId, detail: settlement.detail, takenBy });
  return { ...routed, headers: { ...headers, ...routed.headers } };
}

/** The answer to a stimulus that was routed, or taken by those who waited for it. @param of `detail`: null: it started no run */
export function routedAnswer({ id, runId, detail, takenBy }: RoutedStimulus): Extract<IntakeAnswer, { status: 200 }> {
  return {
    status: 200,
    body: {
      stimulus_id: id,
      workflow_execution_id: detail === null ? null : runId,
      status: "classified",
      workflow_id: detail?.workflow_id ?? null,
      workflow_name: detail?.workflow_name ?? null,
      routing_mode: detail?.routing_mode ?? null,
      confidence: detail?.confidence ?? null,
      taken_by: [...takenBy],
    },
    headers: { Location: detail === null ? `/v1/stimuli/${id}` : `/v1/workflows/executions/${runId}` },
  };
}

interface RoutedStimulus {
  readonly id: string;
  readonly runId: string;
  readonly detail: ClassificationDetail | null;
  /** Ids of runs. */
  readonly takenBy: readonly string[];
}
