/** Where a definition refers to secrets and credentials: in its commands, for their images, and in headers. */
import { type PlacedReference, referencesIn } from "../../manifest/references.ts";
import type { Definition, State } from "../definition.ts";
import { statesIn } from "./places.ts";
import { registryCredentialsOf } from "./references.ts";

/** @param paths of the states in the manifest; without them states are taken to be in maps */
export function secretsOf(definition: Definition, paths: ReadonlyMap<string, string> = new Map()): PlacedReference[] {
  return statesIn(definition, paths).flatMap(({ state, path }) => [
    ...valuesOf(state, path),
    ...registryCredentialsOf(state, path),
  ]);
}

function valuesOf(state: State, path: string): PlacedReference[] {
  if (state.kind === "System" || state.kind === "ContainerRun") return referencesIn(state.env, `${path}.env`);
  if (state.kind === "Http") return referencesIn(state.headers, `${path}.headers`);
  if (state.kind !== "ParallelContainerRun") return [];
  return state.steps.flatMap(({ env }, index) => referencesIn(env, `${path}.steps.${index}.env`));
}
