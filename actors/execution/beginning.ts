/** How an execution begins: as it is accepted, and when its first instance has its slot. */
import type { Context } from "../kernel/turn.ts";
import { keepDeadline } from "./deadlines.ts";
import { shortened } from "./ending.ts";
import { freshIteration } from "./iteration/instance.ts";
import { ruleOf } from "./judging/validator-result.ts";
import { handlerRuleOf } from "./output/handling.ts";
import type { Header, Plan } from "./start/plan.ts";
import type { ExecutionState } from "./state.ts";
import type { ExecutionTurn } from "./turn.ts";

/** An execution that was accepted and has no instance yet. */
export function firstState(header: Header, plan: Plan, context: Context): ExecutionState {
  return {
    header,
    status: "pending",
    created_at: context.now,
    started_at: null,
    deadline_at: null,
    ending: null,
    temperature: plan.model.temperature,
    tools: plan.tools,
    rules: plan.validators.map(ruleOf),
    tool_rules: plan.tool_judges.map(ruleOf),
    handler: handlerRuleOf(plan.output_handler),
    handling: null,
    deliveries: plan.deliveries.map(({ condition }) => condition),
    context_kept: false,
    iterations_begun: 0,
    children: [],
    usage: { llm_calls: 0, input_tokens: 0, output_tokens: 0, tool_calls: 0, cost_usd: 0 },
    iteration: freshIteration(1, shortened(plan.instruction), context.newId()),
  };
}

/** The first instance has its slot: the time of the whole execution begins. */
export function begin(turn: ExecutionTurn): void {
  const { state } = turn;
  const { now } = turn.context;
  state.status = "running";
  state.started_at = now;
  state.deadline_at = now + state.header.timeout_ms;
  turn.emit("execution_started", { started_at: turn.at });
  for (const warning of state.header.warnings) turn.emit("execution_warning", { ...warning, at: turn.at });
  // Most of these are over with their first exchange, and two jobs for a timer would cost more than all the rest.
  if (state.header.inline === true) state.watched = true;
  else keepDeadline(turn, state.deadline_at);
}
