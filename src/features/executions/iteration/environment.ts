/** What an instance finds in its environment. */

import type { IterationSummary } from "../../../../actors/execution/record/history.ts";
import { historyVariable } from "../../../../actors/execution/record/history.ts";
import type { Header, Plan } from "../../../../actors/execution/start/plan.ts";

export interface InstanceFacts {
  readonly executionId: string;
  readonly tenant: string;
  readonly iteration: number;
  /** Entries of the log `history`, oldest first. */
  readonly history: readonly IterationSummary[];
  readonly token: string;
  /** Address of the internal listener, without a path. */
  readonly gatewayUrl: string;
}

/**
 * The instance's whole environment: nothing of the service's own is in it. `SVC_WORKSPACE`,
 * `SVC_PROMPT_FILE` and the gateway's sockets are added by the sandbox, which knows where they are.
 */
export function instanceEnvironment(header: Header, plan: Plan, facts: InstanceFacts): Record<string, string> {
  const ours: Record<string, string> = {
    AGENT_ID: header.agent_id,
    EXECUTION_ID: facts.executionId,
    MODEL_ALIAS: plan.model.alias,
    // The token is in the path as well, for programs that send no header.
    ORCHESTRATOR_URL: `${facts.gatewayUrl}/x/${facts.token}`,
    EXECUTION_TOKEN: facts.token,
    TENANT_ID: facts.tenant,
    ITERATION: String(facts.iteration),
    ITERATION_HISTORY: historyVariable(facts.history, plan.prompt_template),
    AGENT_INSTRUCTION: plan.instruction,
    PROMPT_TEMPLATE: plan.prompt_template ?? "",
    LLM_TIMEOUT_SECONDS: String(Math.ceil(header.llm_timeout_ms / 1000)),
    SECURITY_CONTEXT: header.security_context ?? "",
  };
  const environment: Record<string, string> = { ...plan.env };
  for (const [name, value] of Object.entries(ours)) {
    environment[`SVC_${name}`] = value;
    environment[`AEGIS_${name}`] = value;
  }
  return environment;
}
