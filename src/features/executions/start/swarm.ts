/** Which swarm an execution joins that is started below another one. */
import { execution } from "../../../../actors/execution/execution.ts";
import { isOver } from "../../../../actors/execution/state.ts";
import { statusOf, swarm } from "../../../../actors/swarm/swarm.ts";
import type { Runtime } from "../../../runtime/port.ts";

/** The parent's swarm, for as long as it takes members: until its founder has ended or it was cancelled. */
export async function joinableSwarm(
  runtime: Pick<Runtime, "of">,
  tenant: string,
  swarmId: string | null,
): Promise<string | null> {
  if (swarmId === null) return null;
  const founder = await runtime.of(execution).at(tenant, swarmId).read();
  if (founder === null || isOver(founder)) return null;
  const state = await runtime.of(swarm).at(tenant, swarmId).read();
  return state === null || statusOf(state) === "active" ? swarmId : null;
}
