/** How two versions of a workflow differ, told by their states: what the service compared, put where it belongs. */
import type { Schemas } from "../../../../programs/client/client.ts";
import type { FlowEdge, FlowGraph, FlowNode } from "../../../kit/flow/graph.ts";
import { type Definition, objectOf } from "./definition.ts";
import { definitionGraph } from "./graph.ts";
import type { Rule } from "./rules.ts";

export type Change = "added" | "removed" | "changed";

/** One member that differs; what one of the versions does not have is undefined there. */
export interface FieldChange {
  /** Dotted, below the state or the manifest. */
  readonly path: string;
  readonly change: Change;
  readonly from: unknown;
  readonly to: unknown;
}

export interface RuleChange {
  readonly change: "added" | "removed";
  readonly rule: Rule;
}

export interface StateChange {
  readonly name: string;
  readonly kind: string;
  readonly change: Change;
  readonly fields: readonly FieldChange[];
  readonly rules: readonly RuleChange[];
  /** The same rules are asked in another order. */
  readonly isReordered: boolean;
}

export interface Changes {
  /** In the order of the second version; removed ones behind them. */
  readonly states: readonly StateChange[];
  /** Of the manifest outside of its states. */
  readonly others: readonly FieldChange[];
}

type Told = Schemas["WorkflowVersionsDiff"];

export function changesOf(before: Definition, after: Definition, told: Told): Changes {
  const fields = fieldsOf(told, before, after);
  const [old, next] = [byName(before), byName(after)];
  const states = [...after.states, ...before.states.filter(({ name }) => !next.has(name))].flatMap(
    ({ name, kind }): StateChange[] => {
      const [from, to] = [old.get(name), next.get(name)];
      if (from === undefined || to === undefined) {
        const change = from === undefined ? "added" : "removed";
        return [{ name, kind, change, fields: [], rules: [], isReordered: false }];
      }
      const rules = rulesBetween(from.rules, to.rules);
      const own = (fields.get(name) ?? []).filter(
        ({ path }) => path !== "transitions" && !path.startsWith("transitions."),
      );
      const isReordered = rules.length === 0 && orderOf(from.rules) !== orderOf(to.rules);
      if (own.length + rules.length === 0 && !isReordered) return [];
      return [{ name, kind, change: "changed", fields: own, rules, isReordered }];
    },
  );
  return { states, others: fields.get(null) ?? [] };
}

const byName = ({ states }: Definition) => new Map(states.map((state) => [state.name, state]));
const orderOf = (rules: readonly Rule[]): string => JSON.stringify(rules.map(({ whole }) => whole));

/** Rules are the same where they say the same, wherever they stand. */
function rulesBetween(from: readonly Rule[], to: readonly Rule[]): RuleChange[] {
  const without = (some: readonly Rule[], others: readonly Rule[]) =>
    some.filter(({ whole }) => !others.some((other) => other.whole === whole));
  return [
    ...without(from, to).map((rule): RuleChange => ({ change: "removed", rule })),
    ...without(to, from).map((rule): RuleChange => ({ change: "added", rule })),
  ];
}

/** What the service told, by the state that it belongs to; null: to none. Whole states are left out. */
function fieldsOf(
  told: Told,
  before: Definition,
  after: Definition,
): ReadonlyMap<string | null, readonly FieldChange[]> {
  const found = new Map<string | null, FieldChange[]>();
  const tell = (path: string, change: Change, from: unknown, to: unknown) => {
    const place = placeOf(path, change === "added" ? after : before);
    if (place === null) return;
    const { state, below } = place;
    found.set(state, [...(found.get(state) ?? []), { path: below, change, from, to }]);
  };
  for (const path of told.removed) tell(path, "removed", valueAt(before, path), undefined);
  for (const { path, from, to } of told.changed) tell(path, "changed", from, to);
  for (const path of told.added) tell(path, "added", undefined, valueAt(after, path));
  return found;
}

/** The innermost state that a path leads through; null: the path is a whole state. */
function placeOf(
  path: string,
  { states }: Definition,
): { readonly state: string | null; readonly below: string } | null {
  let place: { state: string | null; below: string } = { state: null, below: path };
  for (const { name, path: own } of states) {
    if (path === own) return null;
    if (path.startsWith(`${own}.`)) place = { state: name, below: path.slice(own.length + 1) };
  }
  return place;
}

/** The member that a dotted path leads to. Names of members may have dots themselves. */
function valueAt({ document }: Definition, path: string): unknown {
  const search = (value: unknown, rest: string): unknown => {
    if (rest === "") return value;
    const members = Array.isArray(value) ? Object.fromEntries(value.entries()) : objectOf(value);
    for (const [name, member] of Object.entries(members ?? {})) {
      if (rest === name) return member;
      if (!rest.startsWith(`${name}.`)) continue;
      const found = search(member, rest.slice(name.length + 1));
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return search(document, path);
}

/** Both versions in one graph: what is gone as well as what is new. */
export function changesGraph(before: Definition, after: Definition, { states }: Changes): FlowGraph {
  const [old, next] = [definitionGraph(before), definitionGraph(after)];
  const changes = new Map(states.map(({ name, change }) => [name, change]));
  const changed = (node: FlowNode): FlowNode => ({ ...node, change: changes.get(node.id) ?? null });
  const names = new Set(next.nodes.map(({ id }) => id));
  const isIn = (graph: FlowGraph, edge: FlowEdge) => graph.edges.some((one) => sameWay(one) === sameWay(edge));
  const groups = new Map([...old.groups, ...next.groups].map((group) => [group.id, group]));
  return {
    nodes: [...next.nodes, ...old.nodes.filter(({ id }) => !names.has(id))].map(changed),
    edges: [
      ...next.edges.map((edge): FlowEdge => ({ ...edge, change: isIn(old, edge) ? null : "added" })),
      ...old.edges
        .filter((edge) => !isIn(next, edge))
        .map((edge): FlowEdge => ({ ...edge, id: `removed ${edge.id}`, change: "removed" })),
    ],
    groups: [...groups.values()],
  };
}

const sameWay = ({ from, to, kind, whole }: FlowEdge): string => JSON.stringify([from, to, kind, whole]);
