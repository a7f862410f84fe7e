/** Every kind of state by its name. */
import type { StateKind } from "../../definition.ts";
import type { AnyKind } from "../kind.ts";
import { agentKind } from "./agent.ts";
import { containerRunKind } from "./container-run.ts";
import { humanKind } from "./human.ts";
import { parallelAgentsKind } from "./parallel-agents.ts";
import { parallelContainerRunKind } from "./parallel-container-run.ts";
import { subworkflowKind } from "./subworkflow.ts";
import { systemKind } from "./system.ts";

const kinds: Readonly<Record<StateKind, AnyKind>> = {
  Agent: agentKind,
  ContainerRun: containerRunKind,
  Human: humanKind,
  ParallelAgents: parallelAgentsKind,
  ParallelContainerRun: parallelContainerRunKind,
  Subworkflow: subworkflowKind,
  System: systemKind,
};

export const kindOf = (kind: StateKind): AnyKind => kinds[kind];
