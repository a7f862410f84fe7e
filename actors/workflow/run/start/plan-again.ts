/** The decisions on starts that an earlier run is the model of: retries, forks, and runs that follow by `continue_as`. */
import { startedBy } from "../../../identity/starter.ts";
import type { Json } from "../../../kernel/json.ts";
import { invalid, Problem } from "../../../kernel/problem.ts";
import { joinedCeilings, keptCeilings } from "../../../policy/ceilings.ts";
import type { TenantTerms } from "../../../policy/quota.ts";
import { countedFor, rateUserIn } from "../../../policy/rates/counted.ts";
import type { Definition } from "../../definition.ts";
import type { Start } from "../blackboard/seed.ts";
import { isOver, type RunState } from "../state.ts";
import { ancestryOf, blackboardProblem, contextProblem, ownContextProblem, type RunPlan } from "./plan-run.ts";
import { callerOf, type ForkRequest, type RetryRequest, type RunRequest, tierOf } from "./request.ts";
import type { Restored } from "./restoring.ts";
import {
  keptVolumes,
  type NamedVolumes,
  namedOnBlackboard,
  runVolumes,
  type StorageFacts,
  volumesProblem,
} from "./volumes.ts";

export interface AgainFacts {
  readonly executionId: string;
  /** Of the run that is the model. */
  readonly earlierId: string;
  readonly earlier: RunState;
  readonly terms: TenantTerms;
  readonly storage: StorageFacts;
  /** Whether who starts it may use the security context of the earlier run. */
  readonly isContextAllowed: boolean;
  /** The context that the manifest names, where its deployer may not use it today; null, like absent: there is none. */
  readonly forbiddenContext?: string | null;
}

/**
 * A run that did not complete, begun anew where it ended: its manifest, its input, its last blackboard. Its volumes that
 * outlive runs are mounted again, ephemeral ones are made anew. The retry of a sub-workflow stands by itself: its parent
 * has gone on.
 * @returns the plan, or 402, 403; 409 `invalid_state` while it is live, `nothing_to_retry` when it completed; 422
 *   `unknown_state`
 */
export function planRetry(request: RetryRequest, facts: AgainFacts): RunPlan | Problem {
  const { earlier, earlierId } = facts;
  const { definition, status, blackboard, outputs } = earlier;
  const state = request.fromState ?? earlier.current_state ?? definition.initial_state;
  if (!isOver(earlier)) return new Problem("invalid_state", "The execution has not ended", { status });
  if (status === "completed") return new Problem("nothing_to_retry", "The execution completed", { status });
  return (
    stateProblem(definition, state) ??
    planAgain(request, facts, {
      named: keptVolumes(earlier.header.volumes),
      of: { retry_of: earlierId },
      overrides: {},
      resume: { blackboard, outputs, state },
    })
  );
}

/**
 * A run begun at a visit of an earlier run, ended or not, with the blackboard as it was then and the patch laid over it.
 * @param restored the earlier run's blackboard before that visit
 * @returns the plan, or 402, 403; 409 `not_recorded`; 422 `unknown_state`, `invalid_blackboard`, `reserved_blackboard_key`
 */
export function planFork(request: ForkRequest, facts: AgainFacts, restored: Restored): RunPlan | Problem {
  const { definition, header } = facts.earlier;
  const { patch, fromState } = request;
  const problem = forkProblem(request, facts.earlier);
  if (problem !== null) return problem;
  if (restored === "not_recorded") {
    return new Problem("not_recorded", `Not all that was written before ${fromState} is on record`);
  }
  // A patch that is no object was refused.
  const overrides = (patch ?? {}) as Start["overrides"];
  return planAgain(request, facts, {
    named: [...keptVolumes(header.volumes), ...namedOnBlackboard(definition.storage, overrides)],
    of: { forked_from: facts.earlierId },
    overrides,
    resume: { ...restored, state: fromState },
  });
}

/** What forbids a fork before anything is read of the earlier run's log: 422. */
export function forkProblem({ fromState, fromVisit, patch }: ForkRequest, earlier: RunState): Problem | null {
  const problem = stateProblem(earlier.definition, fromState) ?? blackboardProblem(patch, "blackboard_patch");
  if (problem !== null) return problem;
  const visits = Object.hasOwn(earlier.visits, fromState) ? (earlier.visits[fromState] ?? 0) : 0;
  if (visits > 0 && (fromVisit ?? 1) <= visits) return null;
  const message = visits === 0 ? `${fromState} was not visited` : `${fromState} was visited ${visits} times`;
  return unknownState(visits === 0 ? "from_state" : "from_visit", message, "state_not_visited");
}

/** What forbids a run to begin at a state. */
function stateProblem({ states }: Definition, name: string): Problem | null {
  const state = Object.hasOwn(states, name) ? states[name] : undefined;
  if (state === undefined) return unknownState("from_state", `there is no state ${name}`, "unknown_state");
  const { branch } = state;
  if (branch !== undefined) {
    const message = `${name} is in the branch ${branch.name} of ${branch.state}, where no run begins`;
    return unknownState("from_state", message, "state_in_branch");
  }
  if (Object.values(states).some(({ compensate }) => compensate === name)) {
    return unknownState("from_state", `${name} undoes other states, and no run begins there`, "state_compensates");
  }
  return null;
}

const unknownState = (path: string, message: string, code: string): Problem =>
  invalid("unknown_state", `No run can begin there: ${message}`, [{ path, message, code }]);

interface Model {
  /** Volumes that are used again. */
  readonly named: NamedVolumes;
  readonly of: { readonly retry_of: string } | { readonly forked_from: string };
  readonly overrides: Start["overrides"];
  readonly resume: NonNullable<Start["resume"]>;
}

function planAgain(
  { starter, startedBy: by, ceilings: asked, countedFor: counted, initiatedBy }: Omit<RetryRequest, "fromState">,
  { executionId, earlier, terms, storage, isContextAllowed, forbiddenContext = null }: AgainFacts,
  { named, of, overrides, resume }: Model,
): RunPlan | Problem {
  const { header, definition } = earlier;
  const { volumes: _, counted_for: __, context_ceilings: bound, ...whole } = header;
  const { forked_from: ___, continued_from: ____, schedule_id: _____, ...kept } = whole;
  const volumes = runVolumes(definition.storage, named, storage.readable);
  const problem =
    contextProblem(header.security_context, isContextAllowed) ??
    ownContextProblem(forbiddenContext) ??
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
      stimulus_id: null,
      retry_of: null,
      ...of,
    },
    definition,
    input: earlier.input,
    overrides,
    resume,
    volumes,
  };
}

/** The start of a run that follows another one, as far as a start asks for it; `followerPlan` completes what is planned. */
export function followerRequest({ header, input }: Pick<RunState, "header" | "input">): RunRequest {
  return {
    tenant: header.tenant_id,
    ref: header.pinned === true ? header.workflow_id : header.workflow_name,
    version: null,
    input: input as Json,
    blackboard: null,
    intent: header.intent,
    // Checked with the start of the first one.
    attachments: [],
    timeoutSeconds: header.timeout_ms === null ? null : header.timeout_ms / 1000,
    securityContext: header.security_context,
    starter: callerOf(header),
    startedBy: header.starter ?? null,
    ceilings: header.context_ceilings ?? [],
    countedFor: rateUserIn(header),
    initiatedBy: header.initiated_by,
    parent: null,
    stimulusId: null,
    keptVolumes: keptVolumes(header.volumes),
    rateExempt: false,
  };
}

/** A planned run as the one that follows: what a start cannot ask for is the former run's. */
export function followerPlan(plan: RunPlan, { header }: Pick<RunState, "header">): RunPlan {
  const { volumes: _, workflow_id: __, workflow_name: ___, workflow_version: ____, ...kept } = header;
  const { context_ceilings: bound, deployed_by: _____, ...without } = kept;
  const { workflow_id, workflow_name, workflow_version, context_ceilings = [], deployed_by } = plan.header;
  return {
    ...plan,
    header: {
      ...without,
      ...keptCeilings(context_ceilings),
      ...(deployed_by === undefined ? {} : { deployed_by }),
      ...{ workflow_id, workflow_name, workflow_version },
    },
  };
}
