/** `spec.states`: every kind, and the states of branches among the others. */
import { variants } from "../../../manifest/object.ts";
import { choice } from "../../../manifest/shape.ts";
import type { State, StateKind } from "../../definition.ts";
import type { Reading } from "../members.ts";
import { maxStates, type Named, stateName, statesOf } from "./by-name.ts";
import { branchState, type ReadBranchState } from "./composed/branch.ts";
import { mapState } from "./composed/map.ts";
import { everyState, stateOf } from "./every-state.ts";
import { plainKinds } from "./kinds.ts";
import { withRetry } from "./retry.ts";

const kinds = { ...plainKinds, Map: withRetry(mapState), Branch: withRetry(branchState) };
const common = { ...everyState, kind: choice(...(Object.keys(kinds) as StateKind[])).required() };

type Read = Exclude<State, { kind: "Branch" }> | ReadBranchState;

const inMap = variants("kind", common, kinds, (own, shared) => stateOf(own, shared) as Read).named("State");
const inList = variants("kind", { name: stateName, ...common }, kinds, (own, { name, ...shared }) =>
  name === null ? null : ([name, stateOf(own, shared) as Read] as const),
).named("NamedState");

/** By name, each of a branch behind its Branch. */
export const states = statesOf<Read>(inMap, inList).as(
  (read, _reading: Reading, fields, key): readonly Named<State>[] => {
    const all = read.flatMap(flat);
    if (all.length > maxStates) fields.issue(key, `may have at most ${maxStates} states, those of branches among them`);
    // What undoes a state is the run's, wherever it is written.
    const undoing = new Set(all.flatMap(([, { compensate }]) => compensate ?? []));
    return all.map(([name, state]) => {
      if (!undoing.has(name)) return [name, state];
      const { branch: _, ...whole } = state;
      return [name, whole];
    });
  },
);

function flat([name, read]: Named<Read>): readonly Named<State>[] {
  if (read.kind !== "Branch") return [[name, read]];
  const { branches, ...state } = read;
  const inner = branches.flatMap((branch) =>
    branch.states.map(([own, one]): Named<State> => [own, { ...one, branch: { state: name, name: branch.name } }]),
  );
  const shown = branches.map(({ name, initial_state }) => ({ name, initial_state }));
  return [[name, { ...state, branches: shown }], ...inner];
}
