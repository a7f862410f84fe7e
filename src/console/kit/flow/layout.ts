/** Where nodes and edges of a graph are drawn: ranks from top to bottom or from left to right, as it fits. */
import { Graph, layout } from "@dagrejs/dagre";
import type { FlowEdge, FlowGraph } from "./graph.ts";

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Box extends Point {
  readonly width: number;
  readonly height: number;
}

/** The direction of ranks. */
export type Direction = "TB" | "LR";

export interface Placed {
  readonly direction: Direction;
  /** By id; x and y are of the upper left corner. */
  readonly boxes: ReadonlyMap<string, Box>;
  readonly ways: ReadonlyMap<string, { readonly points: readonly Point[]; readonly label: Point | null }>;
  readonly width: number;
  readonly height: number;
}

const nodeHeight = 54;
/** How wide letters of names and labels are, px. */
const nameLetter = 7.6;
const aboutLetter = 6;
const labelLetter = 6.1;

/** Of a node: as wide as its name and what it does, with picture and sign, within bounds. */
const widthOf = ({ id, about }: FlowGraph["nodes"][number]): number =>
  Math.round(Math.max(156, Math.min(260, 92 + Math.max(id.length * nameLetter, about.length * aboutLetter))));

/** A graph placed so that it is shown as large as possible in the room there is. @param fixed instead of the better one */
export function place(graph: FlowGraph, room: { width: number; height: number }, fixed: Direction | null): Placed {
  if (fixed !== null) return placeIn(graph, fixed);
  const down = placeIn(graph, "TB");
  const across = placeIn(graph, "LR");
  const scale = ({ width, height }: Placed): number => Math.min(1, room.width / width, room.height / height);
  return scale(across) > scale(down) * 1.05 ? across : down;
}

function placeIn({ nodes, edges, groups }: FlowGraph, direction: Direction): Placed {
  const graph = new Graph({ multigraph: true, compound: true });
  graph.setGraph({ rankdir: direction, nodesep: 34, ranksep: direction === "TB" ? 40 : 56, edgesep: 18 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { id } of groups) graph.setNode(groupKey(id), {});
  const known = new Set(nodes.map(({ id }) => id));
  for (const node of nodes) {
    const { id, group } = node;
    graph.setNode(id, { width: widthOf(node), height: nodeHeight });
    if (group !== null && groups.some((one) => one.id === group)) graph.setParent(id, groupKey(group));
  }
  for (const edge of edges) {
    if (!known.has(edge.from) || !known.has(edge.to)) continue;
    const label = edge.label === "" ? {} : { width: labelWidth(edge), height: 20, labelpos: "c" as const };
    graph.setEdge(edge.from, edge.to, { ...label, weight: edge.kind === "compensate" ? 0 : 2 }, edge.id);
  }
  joinGroups({ nodes, edges, groups }, graph);
  layout(graph);
  const { width = 1, height = 1 } = graph.graph();
  const ways = waysOf(
    edges.filter(({ from, to }) => known.has(from) && known.has(to)),
    graph,
  );
  return { direction, boxes: boxesOf(graph), ways, width: Math.max(1, width), height: Math.max(1, height) };
}

function boxesOf(graph: Graph): Placed["boxes"] {
  const boxes = new Map<string, Box>();
  for (const key of graph.nodes()) {
    const { x = 0, y = 0, width, height } = graph.node(key);
    boxes.set(key, { x: x - width / 2, y: y - height / 2, width, height });
  }
  return boxes;
}

function waysOf(edges: readonly FlowEdge[], graph: Graph): Placed["ways"] {
  const ways = new Map<string, { points: readonly Point[]; label: Point | null }>();
  for (const edge of edges) {
    const way = graph.edge(edge.from, edge.to, edge.id);
    if (way?.points === undefined) continue;
    const { x, y } = way;
    ways.set(edge.id, {
      points: way.points,
      label: edge.label === "" || x === undefined || y === undefined ? null : { x, y },
    });
  }
  return ways;
}

export const groupKey = (id: string): string => `group ${id}`;

const labelWidth = ({ label }: FlowEdge): number => Math.round(label.length * labelLetter + 16);

/** What follows a state with branches stands behind its branches: ways that only the layout knows. */
function joinGroups({ nodes, edges }: FlowGraph, graph: Graph): void {
  const ofState = new Map<string, string[]>();
  for (const { from, to, kind } of edges) if (kind === "branch") ofState.set(from, [...(ofState.get(from) ?? []), to]);
  for (const [state, begins] of ofState) {
    const inside = new Set(begins.map((id) => nodes.find((node) => node.id === id)?.group ?? null));
    const ends = nodes.filter(({ group, end }) => group !== null && inside.has(group) && end !== null);
    const next = edges.filter(({ from, kind, to }) => from === state && kind === "way" && to !== state);
    for (const { id } of ends) {
      for (const { to } of next) graph.setEdge(id, to, { weight: 1, minlen: 1 }, `joins ${state}`);
    }
  }
}

/** A line through points that turns softly. */
export function softLine(points: readonly Point[]): string {
  const [first, ...rest] = points;
  if (first === undefined) return "";
  const last = rest.at(-1) ?? first;
  const parts = [`M${first.x},${first.y}`];
  for (let at = 0; at < rest.length - 1; at++) {
    const turn = rest[at] ?? first;
    const next = rest[at + 1] ?? last;
    const isLast = at === rest.length - 2;
    const to = isLast ? next : { x: (turn.x + next.x) / 2, y: (turn.y + next.y) / 2 };
    parts.push(`Q${turn.x},${turn.y} ${to.x},${to.y}`);
  }
  if (rest.length === 1) parts.push(`L${last.x},${last.y}`);
  return parts.join(" ");
}
