/**
 * Executions of deleted agents. A start that found its agent just before the deletion may be stored just after the
 * deletion has cancelled what there was: such an execution is found here and cancelled as well.
 */
import type { Agents } from "../../agents/port.ts";

/** Starts of this long are looked at together: one query for any number. */
const gatherMs = 200;

export interface DeletedAgentsOptions {
  readonly agents: Pick<Agents, "gone">;
  readonly cancelOfAgent: (agentId: string, reason: string) => Promise<void>;
}

/** Cancels what deleted ones among the agents left unfinished. Repeatable. */
export async function cancelOfDeletedAgents(
  { agents, cancelOfAgent }: DeletedAgentsOptions,
  agentIds: readonly string[],
): Promise<number> {
  const gone = agentIds.length === 0 ? [] : await agents.gone(agentIds);
  for (const agentId of gone) await cancelOfAgent(agentId, "agent_deleted");
  return gone.length;
}

/**
 * Takes note of agents that were started, and looks a moment later whether they are still there.
 * What fails here, or dies with the node, is left to the sweep.
 */
export class StartWatch {
  #started = new Set<string>();
  constructor(private readonly options: DeletedAgentsOptions) {}

  /** Called once the start is stored. */
  note(agentId: string): void {
    if (this.#started.size === 0) setTimeout(() => void this.#look().catch(() => {}), gatherMs).unref();
    this.#started.add(agentId);
  }

  async #look(): Promise<void> {
    const agentIds = [...this.#started];
    this.#started = new Set();
    await cancelOfDeletedAgents(this.options, agentIds);
  }
}
