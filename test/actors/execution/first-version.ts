/** Executions as the first version stored them: without judges, output handlers, deliveries, context, token budgets. */

import type { Plan } from "../../../actors/execution/start/plan.ts";
import type { ExecutionState } from "../../../actors/execution/state.ts";
import type { Json } from "../../../actors/kernel/json.ts";

export function earlierState(now: ExecutionState): Json {
  const { tool_rules, handler, handling, deliveries, context_kept, children, iterations_begun, ...rest } =
    structuredClone(now);
  const { max_tokens, ...header } = rest.header;
  const { validation, egress_blocked, loop, ...iteration } = rest.iteration;
  const calls = loop?.calls.map(({ unjudged, judges_passed, panel, ...call }) => call);
  const { asked_at, ...earlier } = loop ?? {};
  return { ...rest, header, iteration: { ...iteration, loop: loop && { ...earlier, calls } } } as unknown as Json;
}

export function earlierPlan(now: Plan): Json {
  const { tool_judges, output_handler, deliveries, mounts, image_pull_policy, warm_pool_size, ...rest } = now;
  return { ...rest, context: "" } as unknown as Json;
}
