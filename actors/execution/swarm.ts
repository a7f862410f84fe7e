/** What an execution tells the swarm that it founded or belongs to. */
import { swarmProtocol } from "../swarm/messages.ts";
import type { ExecutionTurn } from "./turn.ts";

/** Its first turn. */
export function joinSwarm(turn: ExecutionTurn): void {
  const { swarm_id } = turn.state.header.hierarchy;
  if (swarm_id === null || swarm_id === turn.executionId) return;
  turn.tell(swarmProtocol, swarm_id, "joined", { execution_id: turn.executionId });
}

/** Its last turn. */
export function leaveSwarm(turn: ExecutionTurn): void {
  const { swarm_id } = turn.state.header.hierarchy;
  if (swarm_id === null) return;
  if (swarm_id === turn.executionId) turn.tell(swarmProtocol, swarm_id, "founder_ended", {});
  else turn.tell(swarmProtocol, swarm_id, "left", { execution_id: turn.executionId });
}

/** Its record goes. */
export function forgetSwarm(turn: ExecutionTurn): void {
  const { swarm_id } = turn.state.header.hierarchy;
  if (swarm_id === turn.executionId) turn.tell(swarmProtocol, swarm_id, "founder_erased", {});
}
