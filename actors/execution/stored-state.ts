/**
 * Executions as earlier versions stored them. A running execution outlives an update of the service, and a finished
 * one is read for as long as records are kept; what was added since has its default.
 */

import { isObject, type Json } from "../kernel/json.ts";
import type { MountPlan, Plan } from "./start/plan.ts";
import type { ExecutionState, Iteration, Loop, PendingCall } from "./state.ts";

const laterMembers = {
  tool_rules: [],
  handler: null,
  handling: null,
  deliveries: [],
  context_kept: false,
  children: [],
} as const satisfies Partial<ExecutionState>;
const laterHeader = { max_tokens: null, retry_of: null } as const satisfies Partial<ExecutionState["header"]>;
const laterIteration = { validation: null, egress_blocked: 0 } as const satisfies Partial<Iteration>;
const laterCall = {
  unjudged: false,
  judges_passed: 0,
  panel: null,
  shown_arguments: "{}",
  live: null,
} as const satisfies Partial<PendingCall>;
const laterLoop = { asked_at: null } as const satisfies Partial<Loop>;
const laterPlan = {
  tool_judges: [],
  output_handler: null,
  deliveries: [],
  image_pull_policy: "IfNotPresent",
  warm_pool_size: 0,
  asked: { timeout_seconds: null, max_iterations: null, max_tokens: null, security_context: null },
} as const satisfies Partial<Plan>;

/**
 * A stored state of any age in today's shape, or the listed members of one; what is no state of an execution stays as
 * it is.
 */
export function completeState(stored: Json): Json {
  if (!isObject(stored) || !isObject(stored.header)) return stored;
  const header = { ...laterHeader, ...stored.header };
  const { iteration } = stored;
  if (!isObject(iteration)) return { ...stored, header };
  return {
    ...laterMembers,
    iterations_begun: Number(iteration.number) - (iteration.started_at === null ? 1 : 0),
    ...stored,
    header,
    iteration: completeIteration(iteration),
  };
}

function completeIteration(stored: { readonly [key: string]: Json | undefined }): Json {
  const { loop = null, phase } = stored;
  // Its validators began under a version that kept no account of them: they are counted from the first.
  const begun = phase === "validating" ? { validation: { next: 0, excerpt: "", panel: null } } : {};
  const calls = isObject(loop) && Array.isArray(loop.calls) ? (loop.calls as readonly Json[]) : null;
  const completeLoop =
    calls === null || !isObject(loop)
      ? loop
      : { ...laterLoop, ...loop, calls: calls.map((call) => (isObject(call) ? { ...laterCall, ...call } : call)) };
  return { ...laterIteration, ...begun, ...stored, loop: completeLoop };
}

/**
 * A stored plan of any age in today's shape.
 * @param workspace what `/workspace` was before plans said so
 */
export function completePlan(stored: Json, workspace: MountPlan): Json {
  if (!isObject(stored)) return stored;
  // Was the loaded text, when there was nothing yet to be loaded.
  const context = typeof stored.context === "string" ? [] : stored.context;
  return { ...laterPlan, mounts: [workspace], ...stored, context };
}
