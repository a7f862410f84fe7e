/** What a definition names literally: whether it exists is for the stores of agents and workflows to say. */

import { placedRegistryCredentials } from "../../manifest/images/registry-credentials.ts";
import type { PlacedReference } from "../../manifest/references.ts";
import type { Judge } from "../definition/parts.ts";
import type { Definition, State } from "../definition.ts";
import type { References } from "./judged.ts";
import { isName } from "./members.ts";
import { statesIn, workflowPath } from "./places.ts";

type Named = References["agents"][number];

/**
 * Templates are left out, and so is what nothing could be called.
 * @param paths of the states in the manifest; without them states are taken to be in maps
 */
export function referencesOf(definition: Definition, paths: ReadonlyMap<string, string> = new Map()): References {
  const places = statesIn(definition, paths);
  const { volume_id } = definition.storage.workspace ?? { volume_id: null };
  return {
    agents: places.flatMap(({ state, path }) => agentsOf(state, path)).filter(({ name }) => isName(name)),
    workflows: places.flatMap((place) =>
      place.state.kind === "Subworkflow" && isName(place.state.workflow)
        ? [{ name: place.state.workflow, path: workflowPath(place) }]
        : [],
    ),
    volumes: volume_id === null ? [] : [{ id: volume_id, path: "spec.storage.workspace.volume_id" }],
  };
}

/** What images are pulled with, where it stands in a manifest. @param path of the state */
export function registryCredentialsOf(state: State, path: string): PlacedReference[] {
  if (state.kind === "ContainerRun") return placedRegistryCredentials(state.registry_credentials, path);
  if (state.kind !== "ParallelContainerRun") return [];
  return state.steps.flatMap((step, index) =>
    placedRegistryCredentials(step.registry_credentials, `${path}.steps.${index}`),
  );
}

function agentsOf(state: State, path: string): Named[] {
  if (state.kind === "Agent") {
    const { agent, judges, pre_execution_validator: validator } = state;
    return [
      { name: agent, path: `${path}.agent` },
      ...judgesOf(judges, `${path}.judges`),
      ...(validator === null ? [] : [{ name: validator.agent, path: `${path}.pre_execution_validator.agent_id` }]),
      ...handlerOf(state, path),
    ];
  }
  if (state.kind === "ParallelAgents") {
    return [
      ...state.agents.map(({ agent }, index) => ({ name: agent, path: `${path}.agents.${index}.agent` })),
      ...judgesOf(state.judges_for_parallel, `${path}.judges_for_parallel`),
      ...handlerOf(state, path),
    ];
  }
  return state.kind === "ContainerRun" ? handlerOf(state, path) : [];
}

const judgesOf = (judges: readonly Judge[], path: string): Named[] =>
  judges.map(({ agent }, index) => ({ name: agent, path: `${path}.${index}.agent_id` }));

function handlerOf(
  { output_handler }: State & { kind: "Agent" | "ParallelAgents" | "ContainerRun" },
  path: string,
): Named[] {
  return output_handler?.type === "agent"
    ? [{ name: output_handler.agent, path: `${path}.output_handler.agent_id` }]
    : [];
}
