/** Every kind of state by its name. */
import type { StateKind } from "../../definition.ts";
import { type AnyKind, StateFault } from "../kind.ts";
import { agentKind } from "./agent.ts";
import { containerRunKind } from "./container-run.ts";
import { fleetKind } from "./fleet.ts";
import { httpKind } from "./http.ts";
import { humanKind } from "./human.ts";
import { parallelAgentsKind } from "./parallel-agents.ts";
import { parallelContainerRunKind } from "./parallel-container-run.ts";
import { subworkflowKind } from "./subworkflow.ts";
import { systemKind } from "./system.ts";
import { toolKind } from "./tool.ts";

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
  Branch: unbuilt,
  Fleet: fleetKind,
  Http: httpKind,
  Map: unbuilt,
  Tool: toolKind,
  Wait: unbuilt,
};

export const kindOf = (kind: StateKind): AnyKind => kinds[kind];
