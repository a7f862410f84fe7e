/**
 * The way of a stimulus to its run, decided without any effect: which workflow it goes to, what its run is asked to
 * start with, what a refused start means, and whether a failed attempt is repeated.
 */
import type { Starter } from "../identity/starter.ts";
import type { Json } from "../kernel/json.ts";
import type { Problem } from "../kernel/problem.ts";
import { iso } from "../kernel/time.ts";
import { type RateUser, rateUserOf } from "../policy/rates/limits.ts";
import type { RunRequest } from "../workflow/run/start/request.ts";
import { payloadOf } from "./content.ts";
import { failedStatusOf, retryAt } from "./statuses.ts";
import type { Chosen, ClassificationDetail, Failure, Receiver, Settlement, Stimulus, StimulusRun } from "./stimulus.ts";

/** The configured source of a stimulus, as far as routing depends on it. */
export interface SourceFacts {
  readonly enabled: boolean;
  /** Name or UUID; null: the tenant's router decides. */
  readonly workflow: string | null;
  readonly workflowVersion: string | null;
}

/** The next step of a stimulus: start a workflow, ask the tenant's router, or end. */
export type Routing<Router> =
  | { readonly kind: "start"; readonly chosen: Chosen }
  | { readonly kind: "classify"; readonly router: Router }
  | { readonly kind: "end"; readonly failure: Failure };

/** The workflow that a replay or the source itself names; null: the tenant's router decides. */
export function namedWorkflow(
  { override, channel }: Pick<Stimulus, "override" | "channel">,
  source: SourceFacts | null,
): Chosen | null {
  if (override !== null) return { ...override, detail: detailOf("override") };
  // A source that was switched off after it accepted a webhook's delivery still says where that goes.
  const direct = source !== null && (source.enabled || channel === "webhook") ? source : null;
  if (!direct?.workflow) return null;
  return { workflow: direct.workflow, version: direct.workflowVersion, detail: detailOf("deterministic") };
}

/** Neither its source nor a router says where a stimulus goes. */
const unrouted = "no_router_configured";

/** @param facts `named`: what `namedWorkflow` answered; `router`: the tenant's, needed only where that is null */
export function planRouting<Router>({
  named,
  router,
}: {
  readonly named: Chosen | null;
  readonly router: Router | null;
}): Routing<Router> {
  if (named !== null) return { kind: "start", chosen: named };
  if (router !== null) return { kind: "classify", router };
  const message = "No source route names a workflow, and the tenant has no router";
  return { kind: "end", failure: failure(unrouted, message) };
}

/** The person whose rates a stimulus counts in; null for a webhook, which is none. */
export function rateUserOfReceiver({ kind, realm, sub }: Receiver): RateUser | null {
  return kind === "webhook" || realm === null ? null : rateUserOf({ kind, realm, userId: sub });
}

/**
 * For whom the run of a stimulus acts: who posted or replayed it, of a webhook the creator of its source, where that has one.
 * @param source under which it came, as it is configured now
 */
export function starterOfStimulus(
  { receivedBy, sourceId, startedBy = null }: Pick<Stimulus, "receivedBy" | "sourceId" | "startedBy">,
  source: { readonly id: string; readonly creator?: Starter | null } | null,
): Starter | null {
  if (receivedBy.kind !== "webhook") return startedBy;
  if (source === null || source.id !== sourceId) return null;
  return source.creator ?? null;
}

/** The request for the run of a stimulus. Its rate was debited with the acceptance. */
export function runRequest(
  stimulus: Stimulus,
  { workflow, version }: Pick<Chosen, "workflow" | "version">,
  startedBy: Starter | null,
): RunRequest {
  const { kind, sub, email, realm } = stimulus.receivedBy;
  return {
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
    startedBy,
    countedFor: rateUserOfReceiver(stimulus.receivedBy),
    initiatedBy: { kind, sub, email, ...(realm === null ? {} : { realm }) },
    parent: null,
    stimulusId: stimulus.id,
    rateExempt: true,
  };
}

function runInput(stimulus: Stimulus): Json {
  const { content, contentEncoding, contentType, source, id, channel, receivedAt, headers, headersTruncated } =
    stimulus;
  return {
    stimulus_content: content,
    stimulus_content_encoding: contentEncoding,
    stimulus_payload: contentEncoding === "utf-8" ? payloadOf(content, contentType) : null,
    stimulus_source: source,
    stimulus_id: id,
    stimulus_channel: channel,
    received_at: iso(receivedAt),
    headers: { ...headers },
    ...(headersTruncated ? { headers_truncated: true } : {}),
  };
}

export function classified({ workflow_id, workflow_name }: StimulusRun, detail: ClassificationDetail): Settlement {
  const started = { workflow_id, workflow_name };
  return { status: "classified", started, detail: { ...detail, ...started } };
}

/**
 * How a stimulus ends that some Waits took: where nothing routed it, with what they do. A router that is not sure enough
 * of any workflow says that there is none to start; faults of routing stay faults, to be mended and replayed.
 * @param takenBy runs that took it
 */
export function settledWithTakers(settlement: Settlement, takenBy: readonly string[]): Settlement {
  return settlement.status === "rejected" && takenBy.length > 0
    ? { status: "classified", started: null, detail: null }
    : settlement;
}

/** A run that an earlier attempt started under a configuration that has changed since. */
export const startedEarlier = (run: StimulusRun, { detail }: Failure): Settlement =>
  classified(run, detail ?? detailOf("deterministic"));

/** How a stimulus ends whose run was refused. Null: the same start may succeed later. */
export function startFailure(problem: Problem, { workflow, detail }: Chosen): Failure | null {
  if (problem.status >= 500 && problem.code !== "workflow_start_failed") return null;
  if (problem.code === "workflow_not_found") {
    return failure("unknown_workflow", "The workflow does not exist", { workflow }, detail);
  }
  return failure("workflow_error", "The workflow could not be started", { cause_code: problem.code }, detail);
}

/** What follows an attempt. `at`: Unix milliseconds. */
export type Conclusion =
  | { readonly kind: "retry"; readonly at: number; readonly failure: Failure }
  | { readonly kind: "settle" };

export function concludeAttempt(
  { acknowledge, failures }: Pick<Stimulus, "acknowledge" | "failures">,
  settlement: Settlement,
  now: number,
): Conclusion {
  if (settlement.status === "classified") return { kind: "settle" };
  const at = retryAt({ acknowledge, failures, code: settlement.code, now });
  return at === null ? { kind: "settle" } : { kind: "retry", at, failure: settlement };
}

/** The end of a stimulus that starts nothing; the code decides its status. */
function failure(
  code: string,
  message: string,
  extras: Failure["extras"] = {},
  detail: ClassificationDetail | null = null,
): Failure {
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

/** Sources reserved for routes of their own; never stimuli over HTTP hooks. */
const reserved: readonly string[] = ["stripe", "git", "keycloak"];

/**
 * A source as it is compared and stored.
 * @param text of a path: percent-decoded once; what is still encoded then is refused, as `%` is
 * @returns lower case; null unless it is 1–128 printable ASCII characters without `/ ? # %` and blanks, the first one
 *   alphanumeric
 */
export function parseSource(text: string): string | null {
  return /^[A-Za-z0-9][!-~]{0,127}$/.test(text) && !/[/?#%]/.test(text) ? text.toLowerCase() : null;
}

/** @param source as `parseSource` returns it */
export const isReservedSource = (source: string): boolean => reserved.includes(source);
