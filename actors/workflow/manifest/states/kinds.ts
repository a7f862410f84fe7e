/** The kinds of state that hold no other states. */
import { agentState, parallelAgentsState } from "./agents.ts";
import { containerRunState, parallelContainersState, systemState } from "./commands.ts";
import { humanState } from "./human.ts";
import { fleetState } from "./outside/fleet.ts";
import { httpState } from "./outside/http.ts";
import { toolState } from "./outside/tool.ts";
import { waitState } from "./outside/wait.ts";
import { withRetry } from "./retry.ts";
import { subworkflowState } from "./subworkflow.ts";

/** What can be done for each item of a list. */
export const itemKinds = {
  Agent: withRetry(agentState),
  System: withRetry(systemState),
  ParallelAgents: withRetry(parallelAgentsState),
  // Its retry is its own: of what the node does for it.
  ContainerRun: containerRunState,
  ParallelContainerRun: withRetry(parallelContainersState),
  Subworkflow: withRetry(subworkflowState),
  Wait: waitState,
  Tool: withRetry(toolState),
  Fleet: withRetry(fleetState),
  Http: withRetry(httpState),
};

/** What can stand in a branch. */
export const plainKinds = { ...itemKinds, Human: humanState };
