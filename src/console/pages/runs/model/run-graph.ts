/** The graph of a run: its own states and ways, with what has happened so far. */
import type { Schemas } from "../../../../programs/client/client.ts";
import type { FlowEdge, FlowGraph, FlowNode } from "../../../kit/flow/graph.ts";
import { aboutOf, type Definition } from "../../workflows/model/definition.ts";
import { groupIdOf, groupsOf } from "../../workflows/model/graph.ts";
import { cut, wordsOfCondition } from "../../workflows/model/rules.ts";
import { type Entry, isAnswered } from "./entries.ts";

type RunGraph = Schemas["WorkflowRunGraph"];

/**
 * @param shape of the run's snapshot: what it may do
 * @param definition of its version, for the words of rules; null: not known (any more)
 * @param entries what it has done, newer than `shape`
 * @param waits the states that wait, and for which no work is under way
 */
export function runFlow(
  shape: RunGraph,
  definition: Definition | null,
  entries: readonly Entry[],
  waits: ReadonlySet<string>,
): FlowGraph {
  const latest = new Map(entries.map((entry) => [entry.state, entry]));
  const visits = new Map<string, number>();
  const taken = new Map<string, number>();
  const count = (key: string) => taken.set(key, (taken.get(key) ?? 0) + 1);
  for (const { state, rule, compensates } of entries) {
    visits.set(state, (visits.get(state) ?? 0) + 1);
    if (rule !== null) count(`${state} ${rule.condition} ${rule.target}`);
    if (compensates !== null) count(`${compensates.state} compensate ${state}`);
  }
  const written = new Map(definition?.states.map((state) => [state.name, state]) ?? []);
  const undoing = new Set(shape.edges.filter(({ condition }) => condition === "compensate").map(({ to }) => to));
  return {
    nodes: shape.nodes.map((node): FlowNode => {
      const entry = latest.get(node.name);
      const state = written.get(node.name);
      const isWaiting = entry?.status === "running" && waits.has(node.name);
      return {
        id: node.name,
        kind: node.kind,
        about: state === undefined ? "" : aboutOf(state),
        status: statusOf(entry, isWaiting),
        visits: visits.get(node.name) ?? 0,
        isStart: definition === null ? entries[0]?.state === node.name : definition.initial === node.name,
        end: node.terminal && !undoing.has(node.name) ? (state?.outcome ?? "completed") : null,
        group: node.branch === null ? null : groupIdOf(node.branch),
        isUndone: entry?.undone === true,
        progress: entry?.status === "running" ? entry.progress : null,
      };
    }),
    edges: shape.edges.map((edge, place): FlowEdge => {
      const { from, to, condition } = edge;
      const rule = written.get(from)?.rules.find((one) => one.condition === condition && one.target === to);
      const isFirst =
        shape.edges.findIndex((one) => one.from === from && one.to === to && one.condition === condition) === place;
      const begun = condition === "branch" ? (visits.get(to) ?? 0) : (taken.get(`${from} ${condition} ${to}`) ?? 0);
      return {
        id: `${from} ${place} ${condition} ${to}`,
        from,
        to,
        kind: condition === "branch" ? "branch" : condition === "compensate" ? "compensate" : "way",
        label:
          condition === "branch"
            ? ""
            : condition === "compensate"
              ? "undo"
              : (rule?.label ?? cut(wordsOfCondition(condition))),
        whole: rule?.whole ?? `${condition} → ${to}`,
        taken: isFirst ? begun : 0,
      };
    }),
    groups: groupsOf(shape.nodes.flatMap(({ branch }) => branch ?? [])),
  };
}

function statusOf(entry: Entry | undefined, isWaiting: boolean): string {
  if (entry === undefined) return "pending";
  if (isWaiting) return "waiting";
  return isAnswered(entry) ? "led_on" : entry.status;
}
