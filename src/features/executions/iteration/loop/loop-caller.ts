/** Who calls a tool in a loop, and by which rules: settled at the start of the execution. */

import type { Plan } from "../../../../../actors/execution/start/plan.ts";
import { type CountedFor, rateUserIn } from "../../../../../actors/policy/rates/counted.ts";
import { defaultSecurityContext } from "../../../../../actors/policy/security/system.ts";
import type { CallPolicy, CallWho } from "../../../tools/port.ts";

/** Whom the work of an activity is for. */
interface LoopWork {
  readonly execution_id: string;
  readonly iteration: number;
  readonly counted_for?: CountedFor;
}

/** The execution's own deadlines are kept by its actor, which takes back what is late. */
export function callerOf(work: LoopWork, plan: Plan): { readonly who: CallWho; readonly policy: CallPolicy } {
  const { calls } = plan;
  return {
    who: {
      execution: {
        id: work.execution_id,
        iteration: work.iteration,
        agentId: calls?.agent_id ?? "",
        agentName: calls?.agent_name ?? "",
        deadlineAt: null,
      },
      sessionId: null,
      principal: work.execution_id,
      starter: calls?.starter ?? null,
      opener: null,
      user: rateUserIn(work),
    },
    policy: {
      context: calls?.context ?? defaultSecurityContext,
      ceilings: calls?.context_ceilings ?? [],
      tools: calls?.grants ?? plan.tools.map(({ name }) => ({ name, skip_judge: false })),
      patterns: null,
    },
  };
}
