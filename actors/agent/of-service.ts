/** Agents that the service itself brings. No manifest can have such a name: none may hold a dot. */

/** Writes manifests of agents. */
export const agentWriter = "svc.agent-writer";
/** Writes programs that do what an intent says. */
export const programWriter = "svc.program-writer";

export type ServiceAgentName = typeof agentWriter | typeof programWriter;

export const isServiceAgent = (name: string): name is ServiceAgentName =>
  name === agentWriter || name === programWriter;
