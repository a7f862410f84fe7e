/** Every kind of state by its name. */
import type { StateKind } from "../../definition.ts";
import type { AnyKind } from "../kind.ts";
import { mapKind } from "../map/map.ts";
import { agentKind } from "./agent.ts";
import { branchKind } from "./branch.ts";
import { containerRunKind } from "./container-run.ts";
import { fleetKind } from "./fleet.ts";
import { httpKind } from "./http.ts";
import { humanKind } from "./human.ts";
import { parallelAgentsKind } from "./parallel-agents.ts";
import { parallelContainerRunKind } from "./parallel-container-run.ts";
import { subworkflowKind } from "./subworkflow.ts";
import { systemKind } from "./system.ts";
import { toolKind } from "./tool.ts";
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
