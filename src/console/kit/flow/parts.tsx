/** One node of a graph, one edge, and the box around a group. */
import {
  BaseEdge,
  type Edge,
  EdgeLabelRenderer,
  type EdgeProps,
  Handle,
  type Node,
  type NodeProps,
  Position,
} from "@xyflow/react";
import {
  Ban,
  CheckCircle2,
  CircleAlert,
  CircleArrowRight,
  CircleDot,
  CircleStop,
  Clock,
  LoaderCircle,
  RotateCcw,
  TimerOff,
} from "lucide-react";
import { classes } from "../controls/classes.ts";
import { type Tone, toneText, wordsOf } from "../values/status.tsx";
import { inert } from "../values/text.tsx";
import type { FlowEdge, FlowNode } from "./graph.ts";
import { type Direction, type Point, softLine } from "./layout.ts";
import { pictureOf, resultTone } from "./state-look.ts";

export type StateNode = Node<
  { readonly node: FlowNode; readonly direction: Direction; readonly isChosen: boolean; readonly choose: () => void },
  "state"
>;
export type GroupNode = Node<{ readonly label: string }, "group">;
export type WayEdge = Edge<
  { readonly edge: FlowEdge; readonly points: readonly Point[]; readonly label: Point | null },
  "way"
>;

const borders: Readonly<Record<Tone, string>> = {
  neutral: "border-line-strong",
  good: "border-good/60",
  warn: "border-warn",
  bad: "border-bad/70",
  info: "border-info",
  violet: "border-violet",
};
const pictureTones: Readonly<Record<Tone, string>> = {
  neutral: "bg-hover text-ink-soft",
  good: "bg-good-soft text-good",
  warn: "bg-warn-soft text-warn",
  bad: "bg-bad-soft text-bad",
  info: "bg-info-soft text-info",
  violet: "bg-violet-soft text-violet",
};

const changeTones = { added: "good", removed: "bad", changed: "warn" } as const;
const changeSigns = { added: "+", removed: "−", changed: "~" } as const;

function toneOf({ status, change = null }: FlowNode): Tone {
  if (change !== null) return changeTones[change];
  return status === null || status === "pending" ? "neutral" : resultTone(status);
}

/** What the pictures and colours of a node say. */
function spoken({ kind, status, visits, change = null }: FlowNode): string {
  const parts = [kind, ...(status === null ? [] : [wordsOf(status)]), ...(visits > 1 ? [`${visits} visits`] : [])];
  return `${[...parts, ...(change === null ? [] : [change])].join(", ")}. `;
}

export function StatePart({ data: { node, direction, isChosen, choose } }: NodeProps<StateNode>) {
  const { id, kind, about, status, visits, isStart, end, isUndone = false, change = null, progress = null } = node;
  const isUntouched = status === "pending";
  const tone = toneOf(node);
  const isAtWork = status === "running" || status === "waiting" || status === "compensating";
  const Picture = pictureOf(kind);
  return (
    <>
      <Handle type="target" position={direction === "TB" ? Position.Top : Position.Left} className="invisible" />
      <button
        type="button"
        aria-pressed={isChosen}
        onClick={choose}
        className={classes(
          "flow-node relative flex h-[54px] w-full items-center gap-2.5 overflow-hidden rounded-panel border bg-surface px-2.5 text-left shadow-xs",
          borders[tone],
          (isUntouched || change === "removed") && "border-dashed",
          change !== null && "border-2",
          isAtWork && "flow-alive border-2",
          isAtWork && tone === "violet" && "text-violet",
          isAtWork && tone === "info" && "text-info",
          isChosen && "outline-2 outline-accent outline-offset-2",
        )}
      >
        <span
          className={classes("flex size-8 shrink-0 items-center justify-center rounded-control", pictureTones[tone])}
        >
          <Picture aria-hidden className="size-4" />
        </span>
        <span className="flex min-w-0 flex-1 flex-col">
          <span className={classes("truncate font-medium text-xs", isUntouched ? "text-ink-soft" : "text-ink")}>
            {inert(id)}
          </span>
          <span className="sr-only">{spoken(node)}</span>
          <span className="truncate text-2xs text-ink-faint">{inert(about === "" ? kind : about)}</span>
        </span>
        <span className="flex shrink-0 flex-col items-end gap-0.5">
          {change !== null && (
            <span aria-hidden className={classes("font-bold text-xs leading-none", toneText[tone])}>
              {changeSigns[change]}
            </span>
          )}
          <Sign status={status} tone={tone} isStart={isStart} end={end} />
          {visits > 1 && <span className="text-2xs text-ink-faint tabular-nums">×{visits}</span>}
          {isUndone && <RotateCcw aria-label="undone" className="size-3 text-violet" />}
        </span>
        {progress !== null && progress.total > 0 && (
          <span className="absolute inset-x-0 bottom-0 flex h-1 bg-hover">
            <span className="bg-good" style={{ width: `${(100 * progress.done) / progress.total}%` }} />
            <span className="bg-bad" style={{ width: `${(100 * progress.failed) / progress.total}%` }} />
          </span>
        )}
      </button>
      <Handle type="source" position={direction === "TB" ? Position.Bottom : Position.Right} className="invisible" />
    </>
  );
}

const signs: Readonly<Partial<Record<Tone, typeof CheckCircle2>>> = {
  good: CheckCircle2,
  bad: CircleAlert,
  violet: Clock,
  warn: CircleArrowRight,
  info: LoaderCircle,
  neutral: Ban,
};

function Sign({
  status,
  tone,
  isStart,
  end,
}: {
  readonly status: string | null;
  readonly tone: Tone;
  readonly isStart: boolean;
  readonly end: FlowNode["end"];
}) {
  if (status === null || status === "pending") {
    if (isStart) return <CircleDot aria-label="begins here" className="size-3.5 text-accent" />;
    if (end !== null)
      return (
        <CircleStop
          aria-label={`ends here: ${end}`}
          className={classes("size-3.5", end === "failed" ? "text-bad" : "text-good")}
        />
      );
    return null;
  }
  const Icon = status === "timed_out" ? TimerOff : (signs[tone] ?? CircleDot);
  return (
    <Icon
      aria-hidden
      className={classes("size-3.5", toneText[tone], tone === "info" && "animate-spin [animation-duration:2s]")}
    />
  );
}

export function GroupPart({ data: { label } }: NodeProps<GroupNode>) {
  return (
    <div className="size-full rounded-panel border border-line-strong border-dashed bg-hover/50">
      <span className="absolute -top-2.5 left-3 rounded border border-line bg-surface px-1.5 text-2xs text-ink-soft">
        {inert(label)}
      </span>
    </div>
  );
}

export function WayPart({ data, markerEnd, selected }: EdgeProps<WayEdge>) {
  if (data === undefined) return null;
  const { edge, points, label } = data;
  const isTaken = edge.taken !== null && edge.taken > 0;
  return (
    <>
      <BaseEdge
        path={softLine(points)}
        {...(markerEnd === undefined ? {} : { markerEnd })}
        className={classes(
          "flow-way",
          isTaken && "flow-way-taken",
          edge.taken === 0 && "flow-way-open",
          edge.kind === "compensate" && "flow-way-undo",
          edge.change === "added" && "flow-way-added",
          edge.change === "removed" && "flow-way-removed",
          selected === true && "flow-way-taken",
        )}
      />
      {label !== null && (
        <EdgeLabelRenderer>
          <span
            title={inert(edge.whole)}
            className={classes(
              "pointer-events-auto absolute max-w-60 truncate rounded border bg-surface px-1.5 text-2xs leading-4",
              edge.change === "added" && "border-good/60 text-good!",
              edge.change === "removed" && "border-bad/60 text-bad! line-through",
              isTaken ? "border-accent/50 font-medium text-ink" : "border-line text-ink-soft",
            )}
            style={{ transform: `translate(-50%, -50%) translate(${label.x}px, ${label.y}px)` }}
          >
            {inert(edge.label)}
            {edge.taken !== null && edge.taken > 1 && ` ×${edge.taken}`}
          </span>
        </EdgeLabelRenderer>
      )}
    </>
  );
}
