/** Where a definition refers to secrets and credentials: in the environments of its commands, and for their images. */
import { type PlacedReference, referencesIn } from "../../manifest/references.ts";
import type { Definition, State } from "../definition.ts";
import { registryCredentialsOf } from "./references.ts";

/** @param paths of the states in the manifest; without them states are taken to be in a map */
export function secretsOf(definition: Definition, paths: ReadonlyMap<string, string> = new Map()): PlacedReference[] {
  return Object.entries(definition.states).flatMap(([name, state]) => {
    const path = paths.get(name) ?? `spec.states.${name}`;
    return [...environmentsOf(state, path), ...registryCredentialsOf(state, path)];
  });
}

function environmentsOf(state: State, path: string): PlacedReference[] {
  if (state.kind === "System" || state.kind === "ContainerRun") return referencesIn(state.env, `${path}.env`);
  if (state.kind !== "ParallelContainerRun") return [];
  return state.steps.flatMap(({ env }, index) => referencesIn(env, `${path}.steps.${index}.env`));
}
