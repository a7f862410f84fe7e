/** All that a run can be at: the states of a definition, and what its Maps do for each item. */
import type { Definition, State } from "../definition.ts";

export interface Place {
  /** Of an item too, which has no transitions. */
  readonly state: State;
  /** In the manifest, dotted. */
  readonly path: string;
}

/** @param paths of the states in the manifest; without them states are taken to be in maps */
export function statesIn(
  { states }: Pick<Definition, "states">,
  paths: ReadonlyMap<string, string> = new Map(),
): readonly Place[] {
  return Object.entries(states).flatMap(([name, state]): Place[] => {
    const path = paths.get(name) ?? pathOf(name, state, states);
    if (state.kind !== "Map") return [{ state, path }];
    return [
      { state, path },
      { state: state.item, path: isStart(state.item) ? path : `${path}.state` },
    ];
  });
}

/** Whether an item was written as `workflow` of its Map: it is none of the Map's states. */
const isStart = (item: State): boolean =>
  item.kind === "Subworkflow" && item.mode === "blocking" && item.result_key === null;

function pathOf(name: string, { branch }: State, states: Definition["states"]): string {
  const holder = branch === undefined ? undefined : states[branch.state];
  if (branch === undefined || holder?.kind !== "Branch") return `spec.states.${name}`;
  const at = holder.branches.findIndex((one) => one.name === branch.name);
  return `spec.states.${branch.state}.branches.${at}.states.${name}`;
}

/** Where a Subworkflow state, or a Map, names what it runs. */
export const workflowPath = ({ state, path }: Place): string =>
  `${path}.${isStart(state) ? "workflow" : "workflow_id"}`;
