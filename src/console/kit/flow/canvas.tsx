/** The drawing of a graph: moved by the pointer, zoomed with Ctrl and the wheel, walked with the Tab key. */
import { MarkerType, MiniMap, ReactFlow, ReactFlowProvider, useReactFlow } from "@xyflow/react";
import { ArrowDown, ArrowRight, Maximize, Minus, Plus } from "lucide-react";
import { type KeyboardEvent, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { IconButton } from "../controls/button.tsx";
import type { FlowGraph, FlowProps } from "./graph.ts";
import { type Direction, groupKey, place } from "./layout.ts";
import { type GroupNode, GroupPart, type StateNode, StatePart, type WayEdge, WayPart } from "./parts.tsx";

/** Graphs with more nodes get a small map. */
const largeFrom = 24;
const fit = { padding: 0.06, maxZoom: 1.1, minZoom: 0.2 };
/** Where all of a graph would be smaller than this, a part of it is shown that can be read. */
const readable = 0.66;

const nodeTypes = { state: StatePart, group: GroupPart };
const edgeTypes = { way: WayPart };

export function Canvas(props: FlowProps) {
  const box = useRef<HTMLDivElement>(null);
  const [room, setRoom] = useState<{ width: number; height: number } | null>(null);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const watching = new ResizeObserver(([entry]) => {
      // Without the edge that small windows keep free for the buttons.
      const { width = 0, height = 0 } = entry?.contentRect ?? {};
      if (width > 0 && height > 0) setRoom({ width, height });
    });
    watching.observe(element);
    return () => watching.disconnect();
  }, []);
  return (
    <section
      ref={box}
      aria-label={props.label}
      className="flow relative min-w-0 max-sm:pb-12"
      style={{ height: props.height }}
    >
      {room !== null && (
        <ReactFlowProvider>
          <Drawing {...props} room={room} />
        </ReactFlowProvider>
      )}
    </section>
  );
}

function Drawing({
  graph,
  selected = null,
  onSelect,
  room,
}: FlowProps & { readonly room: { readonly width: number; readonly height: number } }) {
  const flow = useReactFlow();
  const [fixed, fix] = useState<Direction | null>(null);
  // What happens to a run changes no place: only another graph or another room does.
  const shape = JSON.stringify([
    graph.nodes.map(({ id, about, group, end }) => [id, about, group, end]),
    graph.edges.map(({ id, label, kind }) => [id, label, kind]),
  ]);
  const known = useRef(graph);
  known.current = graph;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the shape stands for the graph
  const placed = useMemo(() => place(known.current, room, fixed), [shape, room, fixed]);
  useEffect(() => {
    const frame = requestAnimationFrame(() => {
      const whole = Math.min(room.width / placed.width, room.height / placed.height) * 0.94;
      if (whole >= readable) {
        void flow.fitView({ ...fit, nodes: [...placed.boxes.keys()].map((id) => ({ id })) });
        return;
      }
      const at = placed.boxes.get(firstLook(known.current));
      const middle = (from: number, size: number, all: number, there: number) => {
        const shown = there / readable;
        return all <= shown ? all / 2 : Math.max(shown / 2 - 20, Math.min(all - shown / 2 + 20, from + size / 2));
      };
      const x = middle(at?.x ?? 0, at?.width ?? 0, placed.width, room.width);
      const y = middle(at?.y ?? 0, at?.height ?? 0, placed.height, room.height);
      void flow.setCenter(x, y, { zoom: readable });
    });
    return () => cancelAnimationFrame(frame);
  }, [flow, placed, room]);

  const nodes = useMemo(() => {
    const groups = graph.groups.flatMap(({ id, label }): GroupNode[] => {
      const at = placed.boxes.get(groupKey(id));
      if (at === undefined) return [];
      const { x, y, width, height } = at;
      return [
        {
          id: groupKey(id),
          type: "group",
          position: { x, y },
          width,
          height,
          data: { label },
          zIndex: -1,
          selectable: false,
          focusable: false,
        },
      ];
    });
    const states = graph.nodes.flatMap((node): StateNode[] => {
      const at = placed.boxes.get(node.id);
      if (at === undefined) return [];
      const { x, y, width, height } = at;
      const isChosen = selected === node.id;
      const choose = () => onSelect?.(isChosen ? null : node.id);
      const data = { node, direction: placed.direction, isChosen, choose };
      return [{ id: node.id, type: "state", position: { x, y }, width, height, data }];
    });
    return [...groups, ...states];
  }, [graph, placed, selected, onSelect]);

  const edges = useMemo(
    () =>
      graph.edges.flatMap((edge): WayEdge[] => {
        const way = placed.ways.get(edge.id);
        if (way === undefined) return [];
        const isTaken = edge.taken !== null && edge.taken > 0;
        const colour = colourOf(edge, isTaken);
        return [
          {
            id: edge.id,
            source: edge.from,
            target: edge.to,
            type: "way",
            data: { edge, ...way },
            zIndex: isTaken ? 1 : 0,
            markerEnd: { type: MarkerType.ArrowClosed, width: 14, height: 14, color: colour },
          },
        ];
      }),
    [graph, placed],
  );

  /** Brings the node that has the focus into view. */
  const reveal = (event: KeyboardEvent<HTMLDivElement>) => {
    if (event.key !== "Tab") return;
    requestAnimationFrame(() => {
      const id = document.activeElement?.closest<HTMLElement>(".react-flow__node")?.dataset.id;
      const at = id === undefined ? undefined : placed.boxes.get(id);
      if (at === undefined) return;
      const zoom = flow.getZoom();
      const { x, y } = flow.getViewport();
      const left = at.x * zoom + x;
      const top = at.y * zoom + y;
      const isInView =
        left >= 0 && top >= 0 && left + at.width * zoom <= room.width && top + at.height * zoom <= room.height;
      if (!isInView) void flow.setCenter(at.x + at.width / 2, at.y + at.height / 2, { zoom });
    });
  };

  return (
    <>
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={nodeTypes}
        edgeTypes={edgeTypes}
        onKeyUp={reveal}
        onPaneClick={() => onSelect?.(null)}
        minZoom={0.15}
        maxZoom={2}
        nodesDraggable={false}
        nodesConnectable={false}
        nodesFocusable={false}
        edgesFocusable={false}
        elementsSelectable={false}
        zoomOnScroll={false}
        zoomOnDoubleClick={false}
        preventScrolling={false}
        deleteKeyCode={null}
        proOptions={{ hideAttribution: true }}
      >
        {graph.nodes.length > largeFrom && (
          <MiniMap pannable className="max-sm:hidden" ariaLabel="Small map of the graph" />
        )}
      </ReactFlow>
      <div className="absolute bottom-2 left-2 z-10 flex gap-0.5 rounded-control border border-line bg-surface p-0.5">
        <IconButton className="size-7" label="Zoom in" onClick={() => void flow.zoomIn()}>
          <Plus aria-hidden />
        </IconButton>
        <IconButton className="size-7" label="Zoom out" onClick={() => void flow.zoomOut()}>
          <Minus aria-hidden />
        </IconButton>
        <IconButton className="size-7" label="Show all of it" onClick={() => void flow.fitView(fit)}>
          <Maximize aria-hidden />
        </IconButton>
        <IconButton
          className="size-7"
          label={placed.direction === "TB" ? "From left to right" : "From top to bottom"}
          onClick={() => fix(placed.direction === "TB" ? "LR" : "TB")}
        >
          {placed.direction === "TB" ? <ArrowRight aria-hidden /> : <ArrowDown aria-hidden />}
        </IconButton>
      </div>
    </>
  );
}

/** Of the arrow of a way. */
function colourOf({ change = null, kind }: FlowGraph["edges"][number], isTaken: boolean): string {
  if (change !== null) return change === "added" ? "var(--color-good)" : "var(--color-bad)";
  if (kind === "compensate") return "var(--color-violet)";
  return isTaken ? "var(--color-accent)" : "var(--color-ink-faint)";
}

/** The state to begin with: what waits or is at work, what failed, else where it begins. */
function firstLook({ nodes }: FlowGraph): string {
  const found =
    nodes.find(({ status }) => status === "waiting") ??
    nodes.find(({ status }) => status === "running") ??
    nodes.find(({ status }) => status === "failed") ??
    nodes.find(({ isStart }) => isStart);
  return found?.id ?? nodes[0]?.id ?? "";
}
