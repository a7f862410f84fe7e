/** Resolved manifests as they are stored. The rows never change, so older ones lack what was added since. */
import type { AgentSpec, ExecutionSpec } from "./spec.ts";

const laterMembers = {
  context: [],
  volumes: [],
  schedule: null,
  output_handler: null,
  warm_pool_size: 0,
  swarm: false,
} as const satisfies Partial<AgentSpec>;

const laterExecution = { tool_judges: [], deliveries: [], max_tokens: null } as const satisfies Partial<ExecutionSpec>;

type Later = keyof typeof laterMembers;
type LaterExecution = keyof typeof laterExecution;

/** A stored manifest of any age. */
export type StoredSpec = Omit<AgentSpec, Later | "execution"> &
  Partial<Pick<AgentSpec, Later>> & {
    readonly execution: Omit<ExecutionSpec, LaterExecution> & Partial<Pick<ExecutionSpec, LaterExecution>>;
  };

/** What the manifest meant when it was stored: a member it knows nothing of has its default. */
export function completeSpec(stored: StoredSpec): AgentSpec {
  return { ...laterMembers, ...stored, execution: { ...laterExecution, ...stored.execution } };
}
