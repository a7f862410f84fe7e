/** Every kind of state by its name. */
import type { StateKind } from "../../definition.ts";
import type { AnyKind } from "../kind.ts";
import { mapKind } from "../map/map.ts";
import { agentKind } from "./agents/agent.ts";
import { parallelAgentsKind } from "./agents/parallel-agents.ts";
import { branchKind } from "./branch.ts";
import { fleetKind } from "./calls/fleet.ts";
import { httpKind } from "./calls/http.ts";
import { toolKind } from "./calls/tool.ts";
import { containerRunKind } from "./commands/container-run.ts";
import { parallelContainerRunKind } from "./commands/parallel-container-run.ts";
import { systemKind } from "./commands/system.ts";
import { humanKind } from "./human.ts";
import { subworkflowKind } from "./subworkflow.ts";
import { waitKind } from "./wait.ts";

const kinds: Readonly<Record<StateKind, AnyKind>> = {
  Agent: agentKind,
  ContainerRun: containerRunKind,
  Human: humanKind,
  ParallelAgents: parallelAgentsKind,
  ParallelContainerRun: parallelContainerRunKind,
  Subworkflow: subworkflowKind,
  System: systemKind,
  Branch: branchKind,
  Fleet: fleetKind,
  Http: httpKind,
  Map: mapKind,
  Tool: toolKind,
  Wait: waitKind,
};

export const kindOf = (kind: StateKind): AnyKind => kinds[kind];
