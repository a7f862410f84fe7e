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
import type { Start } from "../blackboard/seed.ts";
import { jsonBytes, maxBlackboardBytes } from "../blackboard/size.ts";
import { reservedKeys } from "../blackboard/variables.ts";
import type { RunHeader } from "../state.ts";
import { type ResolvedWorkflow, type RunRequest, tierOf } from "./request.ts";
import {
  type NamedVolumes,
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
      ...deployedBy(workflow),
      ...ancestryOf(executionId, parent),
      retry_of: null,
      stimulus_id: request.stimulusId,
      ...(isPinned(request) ? { pinned: true } : {}),
      ...(request.scheduleId === undefined ? {} : { schedule_id: request.scheduleId }),
      timeout_ms: request.timeoutSeconds === null ? null : request.timeoutSeconds * 1000,
    },
    definition,
    input: input instanceof Problem ? null : input.value,
    overrides: overrides as Start["overrides"],
    resume: null,
    volumes: runVolumes(definition.storage, namedBy(request, { workflow }), storage.readable),
  };
}

/** Kept where it is asked for later: a context of the workflow's own is one that its deployer may use. */
export const deployedBy = ({ definition, owner, deployer = null }: ResolvedWorkflow): Pick<RunHeader, "deployed_by"> =>
  definition.security_context === undefined || deployer === null
    ? {}
    : { deployed_by: { starter: deployer, tenant: owner } };

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** An id is the one of a version; schedules say by it which one is the latest. */
const isPinned = ({ ref, version, scheduleId }: RunRequest): boolean =>
  version !== null || (scheduleId === undefined && uuid.test(ref));

const overridesOf = ({ blackboard }: RunRequest) => (isObject(blackboard) ? blackboard : {});

const namedBy = (request: RunRequest, { workflow }: Pick<RunFacts, "workflow">): NamedVolumes => [
  ...(request.keptVolumes ?? []),
  ...namedOnBlackboard(workflow.definition.storage, overridesOf(request)),
];

/** Of a run that stands by itself, or below another one. */
export function ancestryOf(
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

/** What forbids a request to lay this over a blackboard. @param path of the member that says so */
export function blackboardProblem(given: Json, path = "blackboard"): Problem | null {
  if (given === null) return null;
  if (!isObject(given)) return invalidAt("invalid_blackboard", path, "must be an object or null");
  if (!isStorableJson(given)) return invalidAt("invalid_blackboard", path, unusableText);
  if (jsonBytes(given) > maxBlackboardBytes) {
    return invalidAt("invalid_blackboard", path, `is larger than ${maxBlackboardBytes} bytes`);
  }
  const reserved = Object.keys(given).filter((key) => reservedKeys.has(key));
  if (reserved.length === 0) return null;
  const issues = reserved.map((key) => ({
    path: `${path}.${key}`,
    message: "is a key of the engine",
    code: "reserved_blackboard_key",
  }));
  return invalid("reserved_blackboard_key", "Some keys of the blackboard are reserved", issues);
}

/** What forbids a start to name this security context. */
export function contextProblem(context: string | null, isAllowed: boolean): Problem | null {
  if (context === null || isAllowed) return null;
  const message = `The caller may not use the security context ${context.slice(0, 100)}`;
  return new Problem("security_context_forbidden", message);
}

/** What forbids a run of a workflow that names this context itself; null: nothing does. */
export function ownContextProblem(name: string | null): Problem | null {
  if (name === null) return null;
  const message = `Who deployed the workflow may not use its security context ${name.slice(0, 100)}`;
  return new Problem("security_context_forbidden", message);
}

/** Those of the call that starts it and those that the workflow was registered with. */
function ceilingsProblem(asked: RunRequest["ceilings"], registered: RunRequest["ceilings"]): Problem | null {
  const joined = joinedCeilings(asked, registered);
  return joined instanceof Problem ? joined : null;
}
