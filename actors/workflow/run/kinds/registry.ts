/** Every kind of state by its name. */
import type { StateKind } from "../../definition.ts";
import { type AnyKind, StateFault } from "../kind.ts";
import { mapKind } from "../map/map.ts";
import { agentKind } from "./agent.ts";
import { branchKind } from "./branch.ts";
import { containerRunKind } from "./container-run.ts";
import { humanKind } from "./human.ts";
import { parallelAgentsKind } from "./parallel-agents.ts";
import { parallelContainerRunKind } from "./parallel-container-run.ts";
import { subworkflowKind } from "./subworkflow.ts";
import { systemKind } from "./system.ts";
import { waitKind } from "./wait.ts";

/** Of a kind that cannot be registered yet. */
const unbuilt: AnyKind = {
  enter() {
    throw new StateFault("unbuilt");
  },
  leave() {},
  overdue: () => ({ status: "failed" }),
};

const kinds: Readonly<Record<StateKind, AnyKind>> = {
  Agent: agentKind,
  ContainerRun: containerRunKind,
  Human: humanKind,
  ParallelAgents: parallelAgentsKind,
  ParallelContainerRun: parallelContainerRunKind,
  Subworkflow: subworkflowKind,
  System: systemKind,
  Branch: branchKind,
  Fleet: unbuilt,
  Http: unbuilt,
  Map: mapKind,
  Tool: unbuilt,
  Wait: waitKind,
};

export const kindOf = (kind: StateKind): AnyKind => kinds[kind];
