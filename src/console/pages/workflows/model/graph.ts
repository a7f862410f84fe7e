/** The graph of a definition. */
import type { FlowEdge, FlowGraph, FlowNode } from "../../../kit/flow/graph.ts";
import { aboutOf, type Definition, type StateDefinition } from "./definition.ts";

export const groupIdOf = (branch: { readonly state: string; readonly name: string }): string =>
  `${branch.state}/${branch.name}`;

export function definitionGraph({ initial, states }: Definition): FlowGraph {
  return {
    nodes: states.map(
      (state): FlowNode => ({
        id: state.name,
        kind: state.kind,
        about: aboutOf(state),
        status: null,
        visits: 0,
        isStart: state.name === initial,
        end: state.rules.length === 0 && !isCompensation(state, states) ? state.outcome : null,
        group: state.branch === null ? null : groupIdOf(state.branch),
      }),
    ),
    edges: states.flatMap((state) => edgesFrom(state)),
    groups: groupsOf(states.flatMap(({ branch }) => branch ?? [])),
  };
}

/** Each branch once. */
export function groupsOf(branches: readonly { readonly state: string; readonly name: string }[]): FlowGraph["groups"] {
  return [
    ...new Map(branches.map((branch) => [groupIdOf(branch), { id: groupIdOf(branch), label: branch.name }])).values(),
  ];
}

/** Whether the state only undoes another: the run does not end there. */
const isCompensation = ({ name }: StateDefinition, states: readonly StateDefinition[]): boolean =>
  states.some(({ compensate }) => compensate === name);

function edgesFrom({ name, rules, begins, compensate }: StateDefinition): FlowEdge[] {
  const ways = rules.map(
    ({ condition, target, label, whole }, place): FlowEdge => ({
      id: `${name} ${place} ${condition} ${target}`,
      from: name,
      to: target,
      label,
      whole,
      kind: "way",
      taken: null,
    }),
  );
  const branches = begins.map(
    (to): FlowEdge => ({
      id: `${name} begins ${to}`,
      from: name,
      to,
      label: "",
      whole: "begins",
      kind: "branch",
      taken: null,
    }),
  );
  if (compensate === null) return [...ways, ...branches];
  const undone: FlowEdge = {
    id: `${name} undone by ${compensate}`,
    from: name,
    to: compensate,
    label: "undo",
    whole: `${name} is undone by ${compensate}`,
    kind: "compensate",
    taken: null,
  };
  return [...ways, ...branches, undone];
}
