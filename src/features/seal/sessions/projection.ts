/** Ends sessions with what they belong to, in the commit that ends it: the execution, or the instance that opened them. */
import { execution } from "../../../../actors/execution/execution.ts";
import type { ExecutionState } from "../../../../actors/execution/state.ts";
import { type ActorChange, defineProjection, type Statement } from "../../../runtime/port.ts";

/** The instance at work; null: there is none now. */
export function runningInstance({ status, iteration }: Pick<ExecutionState, "status" | "iteration">): string | null {
  return status === "running" && iteration.phase === "running" ? iteration.instance_id : null;
}

const isOver = ({ status }: Pick<ExecutionState, "status">): boolean => status !== "pending" && status !== "running";

const endOfExecutions = `
update seal_sessions set status = 'revoked', revoked_reason = 'execution_ended', revoked_at = clock_timestamp()
where execution_id in (select value::uuid from json_array_elements_text($1::text::json)) and status = 'active'
  and not detached`;

const endOfInstances = `
update seal_sessions s set status = 'revoked', revoked_reason = 'instance_ended', revoked_at = clock_timestamp()
from json_to_recordset($1::text::json) as r (execution_id uuid, instance_id uuid)
where s.execution_id = r.execution_id and s.instance_id = r.instance_id and s.status = 'active'`;

function ended(changes: readonly ActorChange<ExecutionState>[]): Statement[] {
  const executions: string[] = [];
  const instances: { execution_id: string; instance_id: string }[] = [];
  for (const { key, before, after } of changes) {
    if (before === null || isOver(before)) continue;
    if (after === null || isOver(after)) executions.push(key);
    const instance = runningInstance(before);
    // What was opened with an instance tells of the instance, also where the execution ends with it.
    if (after !== null && !isOver(after) && instance !== null && instance !== runningInstance(after)) {
      instances.push({ execution_id: key, instance_id: instance });
    }
  }
  return [
    ...(executions.length === 0 ? [] : [{ text: endOfExecutions, parameters: [JSON.stringify(executions)] }]),
    ...(instances.length === 0 ? [] : [{ text: endOfInstances, parameters: [JSON.stringify(instances)] }]),
  ];
}

export const sessionEnds = defineProjection(execution, ended);
