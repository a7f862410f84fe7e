/** What the rest of the service may be to agents. */

/** Who runs agents. */
export interface AgentUse {
  /** Executions the tenant ran of each agent; agents without any may be left out. */
  count(tenant: string, agentIds: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** Cancels every execution of the agent that has not ended, and removes what it kept. Repeatable. */
  cancel(agentId: string, reason: string): Promise<void>;
}

export { agentHistory } from "./events.ts";
export type { AgentChange } from "./parts.ts";
export type { AgentElement } from "./schema.ts";
export type { Agents } from "./service.ts";
