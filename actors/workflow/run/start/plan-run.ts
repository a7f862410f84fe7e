/**
 * The decision on the start of a workflow run, in one place: from the request and the facts to what the run is started
 * with, or to the problem that refuses it. Every check applies to settled values.
 */
import { type Attachment, maxDepth } from "../../../execution/start/plan.ts";
import { startedBy } from "../../../identity/starter.ts";
import { isObject, type Json } from "../../../kernel/json.ts";
import { invalid, invalidAt, Problem } from "../../../kernel/problem.ts";
import { isStorableJson, unusableText } from "../../../manifest/storable.ts";
import { joinedCeilings, keptCeilings } from "../../../policy/ceilings.ts";
import type { TenantTerms } from "../../../policy/quota.ts";
import { countedFor } from "../../../policy/rates/counted.ts";
import type { Definition } from "../../definition.ts";
import type { Start } from "../blackboard/seed.ts";
import { jsonBytes, maxBlackboardBytes } from "../blackboard/size.ts";
import { reservedKeys } from "../blackboard/variables.ts";
import { isOver, type RunHeader, type RunState } from "../state.ts";
import { type ResolvedWorkflow, type RetryRequest, type RunRequest, tierOf } from "./request.ts";
import {
  keptVolumes,
  namedOnBlackboard,
  type RunVolume,
  runVolumes,
  type StorageFacts,
  volumesProblem,
} from "./volumes.ts";

/** Runs below one root, of all generations together. */
export const maxDescendants = 1_000;

export interface RunFacts {
  readonly executionId: string;
  /** Of the tenant, as it stands. */
  readonly terms: TenantTerms;
  readonly workflow: ResolvedWorkflow;
  /** Runs below the root of the request's parent, counted up to `maxDescendants`; 0 without a parent. */
  readonly descendants: number;
  /** The input with the schema's defaults filled in; or why it does not fit. */
  readonly input: { readonly value: Json } | Problem;
  /** The files of the request, as they were found; or why they cannot be used. */
  readonly attachments: readonly Attachment[] | Problem;
  readonly storage: StorageFacts;
  /** Whether the starter may use the security context of the request, where it names one. */
  readonly isContextAllowed: boolean;
  /** The security context that the workflow names, where who deployed it may not use it any more. */
  readonly forbiddenContext?: string | null;
}

/** What a run is started with; storing its volumes completes the header. */
export interface RunPlan extends Omit<Start, "header"> {
  readonly header: Omit<RunHeader, "volumes">;
  readonly volumes: readonly RunVolume[];
}

/** The request, the facts, and what both come to. */
interface Settled {
  readonly request: RunRequest;
  readonly facts: RunFacts;
  readonly start: RunPlan;
}

/** In the order in which callers rely on their codes. The rates follow once all of these have passed. */
const checks: readonly ((settled: Settled) => Problem | null)[] = [
  checkDescendants,
  checkDepth,
  ({ facts }) => problemOf(facts.input),
  ({ request }) => blackboardProblem(request.blackboard),
  ({ facts }) => problemOf(facts.attachments),
  // A child has its parent's context, which was checked with the parent's start.
  ({ request, facts }) =>
    request.parent === null ? contextProblem(request.securityContext, facts.isContextAllowed) : null,
  ({ facts }) => ownContextProblem(facts.forbiddenContext ?? null),
  ({ request, facts }) => ceilingsProblem(request.ceilings, facts.workflow.ceilings),
  ({ request, facts, start }) => volumesProblem(start.volumes, namedBy(request, facts), facts.terms, facts.storage),
];

/** @returns the plan, or the first check's problem: 402, 403 or 422 */
export function planRun(request: RunRequest, facts: RunFacts): RunPlan | Problem {
  const start = settle(request, facts);
  for (const check of checks) {
    const problem = check({ request, facts, start });
    if (problem !== null) return problem;
  }
  return start;
}

function settle(request: RunRequest, { executionId, workflow, input, attachments, storage }: RunFacts): RunPlan {
  const { definition } = workflow;
  const { parent } = request;
  const overrides = overridesOf(request);
  const found = attachments instanceof Problem ? [] : attachments;
  const ceilings = joinedCeilings(request.ceilings, workflow.ceilings);
  return {
    header: {
      workflow_id: workflow.workflow_id,
      workflow_name: workflow.name,
      workflow_version: workflow.version,
      tenant_id: request.tenant,
      intent: request.intent,
      attachments: [...found, ...(parent?.attachments ?? [])],
      initiated_by: request.initiatedBy,
      ...startedBy(request.startedBy),
      ...keptCeilings(ceilings instanceof Problem ? [] : ceilings),
      ...countedFor(request.countedFor),
      tier: tierOf(request.starter),
      security_context: request.securityContext,
      ...ancestryOf(executionId, parent),
      retry_of: null,
      stimulus_id: request.stimulusId,
      timeout_ms: request.timeoutSeconds === null ? null : request.timeoutSeconds * 1000,
    },
    definition,
    input: input instanceof Problem ? null : input.value,
    overrides: overrides as Start["overrides"],
    resume: null,
    volumes: runVolumes(definition.storage, namedBy(request, { workflow }), storage.readable),
  };
}

const overridesOf = ({ blackboard }: RunRequest) => (isObject(blackboard) ? blackboard : {});

const namedBy = (request: RunRequest, { workflow }: Pick<RunFacts, "workflow">) =>
  namedOnBlackboard(workflow.definition.storage, overridesOf(request));

function ancestryOf(
  executionId: string,
  parent: RunRequest["parent"],
): Pick<RunHeader, "parent" | "depth" | "root_execution_id" | "path"> {
  if (parent === null) return { parent: null, depth: 0, root_execution_id: executionId, path: [] };
  return {
    parent: {
      execution_id: parent.executionId,
      state_name: parent.stateName,
      waits: parent.waits,
      ...(parent.told === undefined ? {} : { told: parent.told }),
    },
    depth: parent.depth + 1,
    root_execution_id: parent.rootExecutionId,
    path: [...parent.path, parent.executionId],
  };
}

/** What runs start counts toward no rate, items of Maps apart, and every generation can be a hundred times as many. */
function checkDescendants({ request, facts }: Settled): Problem | null {
  if (facts.descendants < maxDescendants || request.parent?.told !== undefined) return null;
  return new Problem("too_many_descendants", `At most ${maxDescendants} workflows run below one root`);
}

function checkDepth({ start }: Settled): Problem | null {
  if (start.header.depth <= maxDepth) return null;
  return new Problem("depth_exceeded", `Executions nest at most ${maxDepth} deep below their root`);
}

const problemOf = (fact: object): Problem | null => (fact instanceof Problem ? fact : null);

function blackboardProblem(given: Json): Problem | null {
  if (given === null) return null;
  if (!isObject(given)) return invalidAt("invalid_blackboard", "blackboard", "must be an object or null");
  if (!isStorableJson(given)) return invalidAt("invalid_blackboard", "blackboard", unusableText);
  if (jsonBytes(given) > maxBlackboardBytes) {
    return invalidAt("invalid_blackboard", "blackboard", `is larger than ${maxBlackboardBytes} bytes`);
  }
  const reserved = Object.keys(given).filter((key) => reservedKeys.has(key));
  if (reserved.length === 0) return null;
  const issues = reserved.map((key) => ({
    path: `blackboard.${key}`,
    message: "is a key of the engine",
    code: "reserved_blackboard_key",
  }));
  return invalid("reserved_blackboard_key", "Some keys of the blackboard are reserved", issues);
}

function contextProblem(context: string | null, isAllowed: boolean): Problem | null {
  if (context === null || isAllowed) return null;
  const message = `The caller may not use the security context ${context.slice(0, 100)}`;
  return new Problem("security_context_forbidden", message);
}

function ownContextProblem(name: string | null): Problem | null {
  if (name === null) return null;
  const message = `Who deployed the workflow may not use its security context ${name.slice(0, 100)}`;
  return new Problem("security_context_forbidden", message);
}

/** Those of the call that starts it and those that the workflow was registered with. */
function ceilingsProblem(asked: RunRequest["ceilings"], registered: RunRequest["ceilings"]): Problem | null {
  const joined = joinedCeilings(asked, registered);
  return joined instanceof Problem ? joined : null;
}

/**
 * Why a run cannot begin at this state: there is none of that name, or it stands in a branch, whose Branch state alone
 * can begin it.
 */
export function stateProblem({ states }: Definition, name: string): Problem | null {
  const state = Object.hasOwn(states, name) ? states[name] : undefined;
  const at = (message: string, code: string) => ({ issues: [{ path: "from_state", message, code }] });
  if (state === undefined) {
    return new Problem(
      "unknown_state",
      "The workflow has no such state",
      at(`there is no state ${name}`, "unknown_state"),
    );
  }
  if (state.branch === undefined) return null;
  const message = `${name} is in a branch of ${state.branch.state}: begin at that one`;
  return new Problem("unknown_state", "No run begins inside a branch", at(message, "state_in_branch"));
}

export interface RetryFacts {
  readonly executionId: string;
  /** Of the run that is begun anew. */
  readonly earlierId: string;
  readonly earlier: RunState;
  readonly terms: TenantTerms;
  readonly storage: StorageFacts;
  /** Whether who retries may use the security context of the earlier run. */
  readonly isContextAllowed: boolean;
}

/**
 * A run that did not complete, begun anew where it ended: its manifest, its input, its last blackboard. Its volumes that
 * outlive runs are mounted again, ephemeral ones are made anew. The retry of a sub-workflow stands by itself: its parent
 * has gone on.
 * @returns the plan, or 402, 403; 409 `invalid_state` while it is live, `nothing_to_retry` when it completed; 422
 *   `unknown_state`, also of one in a branch
 */
export function planRetry(
  { starter, startedBy: by, ceilings: asked, countedFor: counted, fromState, initiatedBy }: RetryRequest,
  { executionId, earlierId, earlier, terms, storage, isContextAllowed }: RetryFacts,
): RunPlan | Problem {
  const { header, definition, status } = earlier;
  const { volumes: had, counted_for: _, context_ceilings: bound, ...kept } = header;
  const state = fromState ?? earlier.current_state ?? definition.initial_state;
  const named = keptVolumes(had);
  const volumes = runVolumes(definition.storage, named, storage.readable);
  if (!isOver(earlier)) return new Problem("invalid_state", "The execution has not ended", { status });
  if (status === "completed") return new Problem("nothing_to_retry", "The execution completed", { status });
  const problem =
    stateProblem(definition, state) ??
    contextProblem(header.security_context, isContextAllowed) ??
    volumesProblem(volumes, named, terms, storage);
  if (problem !== null) return problem;
  const ceilings = joinedCeilings(asked, bound);
  if (ceilings instanceof Problem) return ceilings;
  return {
    header: {
      ...kept,
      initiated_by: initiatedBy,
      ...startedBy(by),
      ...keptCeilings(ceilings),
      ...countedFor(counted),
      tier: tierOf(starter),
      ...ancestryOf(executionId, null),
      retry_of: earlierId,
      stimulus_id: null,
    },
    definition,
    input: earlier.input,
    overrides: {},
    resume: { blackboard: earlier.blackboard, outputs: earlier.outputs, state },
    volumes,
  };
}
