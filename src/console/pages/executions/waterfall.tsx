/** What happened, over time: one bar for each span, only those in view drawn. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { Bot, Box, BrainCircuit, Gavel, GitBranch, Info, type LucideIcon, Repeat2, Wrench } from "lucide-react";
import { type KeyboardEvent, useMemo, useRef } from "react";
import { classes } from "../../kit/controls/classes.ts";
import { toneOf } from "../../kit/values/status.tsx";
import { inert } from "../../kit/values/text.tsx";
import { durationText, useNow } from "../../kit/values/time.tsx";
import type { Span, SpanKind } from "./span.ts";
import { exitOf, SpanStatus } from "./span-status.tsx";
import type { Story } from "./story.ts";

const rowHeight = 30;

export const spanIcons: Readonly<Record<SpanKind, LucideIcon>> = {
  iteration: Repeat2,
  model: BrainCircuit,
  tool: Wrench,
  judge: Gavel,
  child: GitBranch,
  sandbox: Box,
  handler: Bot,
  note: Info,
};

const barColours: Readonly<Record<SpanKind, string>> = {
  iteration: "bg-line-strong",
  model: "bg-violet",
  tool: "bg-info",
  judge: "bg-good",
  child: "bg-accent",
  sandbox: "bg-line-strong",
  handler: "bg-good",
  note: "bg-ink-faint",
};

interface WaterfallProps {
  readonly story: Story;
  /** Grows with the story. */
  readonly version: number;
  readonly kinds: ReadonlySet<SpanKind>;
  readonly chosen: string | null;
  readonly onChoose: (id: string) => void;
}

export function Waterfall({ story, version, kinds, chosen, onChoose }: WaterfallProps) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the story changes in place; its version tells
  const spans = useMemo(() => story.spans.filter(({ kind }) => kinds.has(kind)), [story, version, kinds]);
  const present = useNow(story.isOver ? 60_000 : 1_000);
  const first = spans.reduce((least, { start }) => Math.min(least, start), Number.POSITIVE_INFINITY);
  const end = story.isOver ? story.latest : Math.max(present, story.latest);
  const total = Math.max(1, end - first);
  const box = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: spans.length,
    getScrollElement: () => box.current,
    estimateSize: () => rowHeight,
    overscan: 10,
  });
  const at = spans.findIndex(({ id }) => id === chosen);
  const keys = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: 12, PageUp: -12 }[event.key];
    if (step === undefined || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const next = Math.max(0, Math.min(spans.length - 1, at + step));
    const span = spans[next];
    if (span === undefined) return;
    virtual.scrollToIndex(next);
    onChoose(span.id);
  };
  return (
    <div className="min-w-0">
      <Scale total={total} />
      <div
        ref={box}
        role="listbox"
        aria-label="What happened, over time"
        tabIndex={0}
        aria-activedescendant={at < 0 ? undefined : `span-${chosen}`}
        onKeyDown={keys}
        className="max-h-[min(26rem,55dvh)] overflow-y-auto outline-none focus-visible:shadow-[inset_0_0_0_2px_var(--color-accent)]"
      >
        <div className="relative" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, start: top }) => {
            const span = spans[index];
            if (span === undefined) return null;
            return (
              <Row
                key={span.id}
                span={span}
                top={top}
                first={first}
                total={total}
                end={end}
                isChosen={span.id === chosen}
                onChoose={onChoose}
              />
            );
          })}
        </div>
      </div>
    </div>
  );
}

/** Marks of time above the bars. */
function Scale({ total }: { readonly total: number }) {
  return (
    <div aria-hidden className="flex border-line border-b text-2xs text-ink-faint">
      <span className="w-[45%] shrink-0 px-4 py-1 sm:w-[38%]">Step</span>
      <span className="relative h-6 min-w-0 flex-1">
        {[0, 0.25, 0.5, 0.75].map((part) => (
          <span
            key={part}
            className={classes(
              "absolute top-1 border-line border-l pl-1 tabular-nums",
              part !== 0 && part !== 0.5 && "max-sm:hidden",
            )}
            style={{ left: `${part * 100}%` }}
          >
            {part === 0 ? "0" : durationText(total * part)}
          </span>
        ))}
      </span>
    </div>
  );
}

function Row({
  span,
  top,
  first,
  total,
  end,
  isChosen,
  onChoose,
}: {
  readonly span: Span;
  readonly top: number;
  readonly first: number;
  readonly total: number;
  readonly end: number;
  readonly isChosen: boolean;
  readonly onChoose: (id: string) => void;
}) {
  const Icon = spanIcons[span.kind];
  const until = span.end ?? end;
  const left = ((span.start - first) / total) * 100;
  const width = ((until - span.start) / total) * 100;
  const isBad = toneOf(span.status) === "bad" || span.status === "refused";
  const isPoint = span.kind === "note";
  const code = exitOf(span);
  return (
    <div
      id={`span-${span.id}`}
      role="option"
      tabIndex={-1}
      aria-selected={isChosen}
      onClick={() => onChoose(span.id)}
      onKeyDown={(event) => event.key === "Enter" && onChoose(span.id)}
      className={classes(
        "absolute inset-x-0 top-0 flex cursor-pointer items-center border-line/60 border-b hover:bg-hover",
        isChosen && "bg-selected",
      )}
      style={{ height: rowHeight, transform: `translateY(${top}px)` }}
    >
      <span
        className="flex w-[45%] min-w-0 shrink-0 items-center gap-1.5 pr-2 sm:w-[38%]"
        style={{ paddingLeft: 16 + span.depth * 14 }}
      >
        <Icon aria-hidden className={classes("size-3.5 shrink-0", isBad ? "text-bad" : "text-ink-faint")} />
        <span className={classes("min-w-0 truncate", span.kind === "iteration" && "font-medium")}>
          {inert(span.name)}
        </span>
        {(span.end === null || isBad || code !== null || span.status === "waiting") && (
          <span className={classes("shrink-0", code === null && "max-sm:w-3.5 max-sm:overflow-hidden")}>
            <SpanStatus span={span} bare />
          </span>
        )}
        {span.tokens !== null && (
          <span className="ml-auto shrink-0 text-2xs text-ink-faint tabular-nums max-sm:hidden" title="tokens in → out">
            {span.tokens.input.toLocaleString("en")} → {span.tokens.output.toLocaleString("en")}
          </span>
        )}
      </span>
      <span className="relative h-full min-w-0 flex-1 overflow-hidden border-line/60 border-l">
        <span
          className={classes(
            "absolute top-1/2 h-3 -translate-y-1/2 rounded-sm",
            isPoint ? "w-1.5 rounded-full" : "min-w-0.5",
            span.kind === "iteration" && "h-1.5",
            span.kind === "sandbox" && "h-1 opacity-70",
            isBad ? "bg-bad" : code === null ? barColours[span.kind] : "bg-warn",
            span.end === null && "pulse",
          )}
          style={{ left: `min(${left}%, calc(100% - 4px))`, ...(isPoint ? {} : { width: `${width}%` }) }}
        />
        {span.waits.map(({ from, to }) => (
          <span
            key={from}
            title="waited for people"
            className="absolute top-1/2 h-3 -translate-y-1/2 rounded-sm border border-violet bg-surface"
            style={{
              backgroundImage: "repeating-linear-gradient(135deg, var(--color-violet) 0 2px, transparent 2px 7px)",
              left: `${((from - first) / total) * 100}%`,
              width: `${(((to ?? end) - from) / total) * 100}%`,
            }}
          />
        ))}
        {!isPoint && <Took text={durationText(until - span.start)} left={left} width={width} />}
      </span>
    </div>
  );
}

/** How long a step took: behind its bar; before it where the right edge is near; on it where both edges are. */
function Took({ text, left, width }: { readonly text: string; readonly left: number; readonly width: number }) {
  const right = left + width;
  const place = right <= 72 ? "behind" : left >= 28 ? "before" : "on";
  return (
    <span
      className={classes(
        "absolute top-1/2 -translate-y-1/2 whitespace-nowrap px-1.5 text-2xs text-ink-soft tabular-nums",
        place === "before" && "-translate-x-full",
        place === "on" && "rounded-sm bg-surface leading-4",
      )}
      style={
        place === "on"
          ? { right: `calc(${Math.max(0, 100 - right)}% + 6px)` }
          : { left: `${place === "before" ? left : right}%` }
      }
    >
      {text}
    </span>
  );
}
