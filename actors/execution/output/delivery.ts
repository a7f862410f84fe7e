/** Deliveries: telling others of an execution's end. They never alter it, and they outlive it. */

import type { Delivery } from "../../agent/manifest/execution/results.ts";
import type { Json } from "../../kernel/json.ts";
import { iso } from "../../kernel/time.ts";
import { deliverySend } from "../activities.ts";
import { outputLog } from "../start/plan.ts";
import { type ExecutionState, isOver } from "../state.ts";
import type { ExecutionTurn } from "../turn.ts";

const deliveryId = (executionId: string, index: number): string => `deliver:${executionId}:${index}`;

/** Destinations whose condition fits the way the execution ended; every end but a completion is a failure. */
function wanted({ deliveries, status }: ExecutionState): number[] {
  const fits = (condition: Delivery["condition"]) =>
    condition === "always" || (condition === "on_success") === (status === "completed");
  return deliveries.flatMap((condition, index) => (fits(condition) ? [index] : []));
}

/** The execution has ended. @param output of a completed one */
export function sendDeliveries(turn: ExecutionTurn, output: string | null): void {
  const indexes = wanted(turn.state);
  if (indexes.length === 0) return;
  if (output !== null) turn.append(outputLog, { output });
  for (const delivery of indexes) {
    const id = deliveryId(turn.executionId, delivery);
    turn.perform(deliverySend, { delivery }, { id, then: "delivery_ended" });
  }
}

/** The execution is being erased: what was not delivered yet never is. To be called before it is cancelled. */
export function forgetDeliveries(turn: ExecutionTurn): void {
  if (isOver(turn.state)) for (const index of wanted(turn.state)) turn.abandon(deliveryId(turn.executionId, index));
  turn.state.deliveries = [];
}

/**
 * What a destination is sent.
 * @param state  of an execution that has ended
 * @param output of a completed one
 */
export function deliveryBody(
  executionId: string,
  { header, status, ending }: ExecutionState,
  output: string | null,
): { readonly [member: string]: Json } {
  return {
    execution_id: executionId,
    agent_id: header.agent_id,
    agent_name: header.agent_name,
    status,
    output: status === "completed" ? output : null,
    error: ending?.error ?? null,
    ended_at: ending === null ? null : iso(ending.at),
  };
}
