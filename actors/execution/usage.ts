/** What an execution has used, put on record in the turns that store it (docs/reference/usage.md). */
import { type Effect, fact } from "../kernel/effect.ts";
import { counted, type UsageFact, usageFact } from "../usage/activity.ts";
import type { ModelAnswer } from "./activities.ts";
import type { ExecutionMessages } from "./messages.ts";
import type { ExecutionState } from "./state.ts";
import type { ExecutionTurn } from "./turn.ts";

/** The work of asking the model: the exchange it belongs to, and its number there. */
export const modelCallId = (loop: string, number: number): string => `model:${loop}:${number}`;
const modelCallParts = /^model:([0-9a-f-]{36}):(\d{1,9})$/;

const whose = (state: ExecutionState | null): Pick<UsageFact, "agent_id" | "workflow"> => ({
  agent_id: state?.header.agent_id ?? null,
  workflow: state?.header.workflow_name ?? null,
});

/** It has ended, in any way. */
export function noteExecution(turn: ExecutionTurn): void {
  turn.fact(usageFact, { kind: "execution", id: turn.executionId, ...whose(turn.state), model: null, tool: null });
}

/**
 * The model has answered: its tokens were charged, also where the answer is not wanted any more.
 * @param state null: the execution was erased meanwhile
 * @returns nothing for an id that names no exchange
 */
export function modelCallUsed(
  state: ExecutionState | null,
  id: string,
  { usage, cost_usd }: Pick<ModelAnswer, "usage" | "cost_usd">,
): Effect<ExecutionMessages>[] {
  const [, loop, number] = modelCallParts.exec(id) ?? [];
  if (loop === undefined) return [];
  const current = state?.iteration.loop ?? null;
  return [
    fact(usageFact, {
      kind: "model_call",
      id: loop,
      place: Number(number),
      ...whose(state),
      // Of an exchange that another one has replaced it is not known any more.
      model: current?.id === loop ? current.alias : null,
      tool: null,
      input_tokens: counted(usage.input_tokens),
      output_tokens: counted(usage.output_tokens),
      cost: Number.isFinite(cost_usd) ? Math.max(0, cost_usd) : 0,
    }),
  ];
}

/** The instance is gone, or as good as gone. What stands for one of an inline execution is none. */
export function noteInstance(turn: ExecutionTurn): void {
  const { iteration, state, context } = turn;
  const { instance_id, spawned_at, parked } = iteration;
  if (state.header.inline === true || spawned_at === undefined) return;
  const stood = (parked?.ms ?? 0) + (parked?.since == null ? 0 : context.now - parked.since);
  const duration_ms = counted(context.now - spawned_at - stood);
  turn.fact(usageFact, { kind: "instance", id: instance_id, ...whose(state), model: null, tool: null, duration_ms });
}

/** The instance stands still from now on, or goes on. Told again it changes nothing. @param at Unix ms */
export function noteParked(turn: ExecutionTurn, stands: boolean, at: number): void {
  const { iteration, context } = turn;
  const { since, ms } = iteration.parked ?? { since: null, ms: 0 };
  if (stands === (since !== null)) return;
  const when = Math.min(at, context.now);
  const stood = since === null ? 0 : Math.max(0, when - since);
  iteration.parked = stands ? { since: when, ms } : { since: null, ms: ms + stood };
}
