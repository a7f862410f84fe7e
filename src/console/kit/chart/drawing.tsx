/** The drawing of a chart: bars on a canvas; pointer or arrow keys choose one, a click or Enter opens it. */
import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import UPlot from "uplot";
import {
  type Bars,
  barText,
  type ChartProps,
  type Colour,
  chartHeight,
  clockText,
  spanText,
  totalOf,
} from "./layers.ts";

/** Below the highest bar the axis ends here at least: one thing alone is no tower. */
const leastTop = 4;

/** Where a bar stands in the drawing, CSS pixels. */
interface Place {
  readonly left: number;
  readonly width: number;
  readonly whole: number;
}

export function Drawing({ onOpen, ...bars }: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<UPlot | null>(null);
  const shown = useRef<Bars>(bars);
  shown.current = bars;
  const [chosen, choose] = useState<number | null>(null);
  const last = bars.at.length - 1;

  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const drawn = new UPlot(optionsOf(element, shown), dataOf(shown.current), element);
    plot.current = drawn;
    const sized = new ResizeObserver(() => drawn.setSize({ width: element.clientWidth, height: chartHeight }));
    sized.observe(element);
    // Colours on a canvas do not follow the theme by themselves.
    const redraw = () => drawn.redraw(false);
    const themed = new MutationObserver(redraw);
    themed.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    scheme.addEventListener("change", redraw);
    return () => {
      sized.disconnect();
      themed.disconnect();
      scheme.removeEventListener("change", redraw);
      drawn.destroy();
      plot.current = null;
    };
  }, []);

  const first = bars.at[0];
  const content = JSON.stringify([first, bars.layers]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: drawn again when what is shown differs
  useEffect(() => plot.current?.setData(dataOf(shown.current)), [content]);

  const barAt = (clientX: number): number | null => {
    const drawn = plot.current;
    if (drawn === null) return null;
    const value = drawn.posToVal(clientX - drawn.over.getBoundingClientRect().left, "x");
    const bar = Math.floor((value - (bars.at[0] ?? 0)) / bars.stepSeconds);
    return bar >= 0 && bar <= last ? bar : null;
  };
  const open = (bar: number) => {
    const at = bars.at[bar];
    if (at !== undefined) onOpen(at, at + bars.stepSeconds);
  };
  const keys = (event: KeyboardEvent) => {
    const at = chosen ?? last;
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: last, PageUp: at + 4, PageDown: at - 4 }[
      event.key
    ];
    if (next !== undefined) choose(Math.max(0, Math.min(last, next)));
    else if (event.key === "Enter") open(at);
    else return;
    event.preventDefault();
  };
  const place = chosen === null ? null : placeOf(plot.current, bars, chosen);
  return (
    <div
      role="slider"
      tabIndex={0}
      aria-label={`${bars.label} by the quarter of an hour; Enter opens those of one`}
      aria-orientation="horizontal"
      aria-valuemin={0}
      aria-valuemax={last}
      aria-valuenow={chosen ?? last}
      aria-valuetext={barText(bars, chosen ?? last)}
      className="relative min-w-0 cursor-pointer rounded-control"
      style={{ height: chartHeight }}
      onKeyDown={keys}
      onFocus={(event) => event.currentTarget.matches(":focus-visible") && choose(chosen ?? last)}
      onBlur={() => choose(null)}
      onPointerMove={({ clientX }) => choose(barAt(clientX))}
      onPointerLeave={() => choose(null)}
      onClick={({ clientX }) => {
        const bar = barAt(clientX);
        if (bar !== null) open(bar);
      }}
    >
      {place !== null && (
        <span
          aria-hidden
          className="pointer-events-none absolute top-0 bottom-7 rounded-sm bg-hover"
          style={{ left: place.left, width: place.width }}
        />
      )}
      <div ref={box} className="absolute inset-0 overflow-hidden" />
      {place !== null && chosen !== null && <Told bars={bars} bar={chosen} place={place} />}
    </div>
  );
}

/** What the chosen bar says, beside it. */
function Told({ bars, bar, place }: { readonly bars: Bars; readonly bar: number; readonly place: Place }) {
  const isLeft = place.left > place.whole / 2;
  return (
    <div
      aria-hidden
      className="pop pointer-events-none absolute top-0 z-20 flex min-w-36 flex-col gap-0.5 px-2.5 py-1.5 text-xs"
      style={isLeft ? { right: place.whole - place.left + 6 } : { left: place.left + place.width + 6 }}
    >
      <span className="font-medium tabular-nums">{spanText(bars.at[bar] ?? 0, bars.stepSeconds)}</span>
      {totalOf(bars.layers, bar) === 0 && <span className="text-ink-soft">none started</span>}
      {[...bars.layers].reverse().map(({ name, colour, values }) =>
        (values[bar] ?? 0) === 0 ? null : (
          <span key={name} className="flex items-center gap-1.5 text-ink-soft">
            <span className="size-2 rounded-full" style={{ background: `var(--color-${colour})` }} />
            {name}
            <span className="ml-auto pl-3 font-medium text-ink tabular-nums">{values[bar]?.toLocaleString("en")}</span>
          </span>
        ),
      )}
    </div>
  );
}

function placeOf(drawn: UPlot | null, { at, stepSeconds }: Bars, bar: number): Place | null {
  const begun = at[bar];
  if (drawn === null || begun === undefined) return null;
  const offset = drawn.over.offsetLeft;
  const left = offset + drawn.valToPos(begun, "x");
  return { left, width: offset + drawn.valToPos(begun + stepSeconds, "x") - left, whole: drawn.width };
}

/** Each layer stands on those below it; the highest comes first. */
function dataOf({ at, layers }: Bars): UPlot.AlignedData {
  const sums = layers.map((_, layer) => at.map((_, bar) => totalOf(layers.slice(0, layer + 1), bar) || null));
  return [[...at], ...sums.reverse()];
}

/** Bars of a layer between the sums below it and its own, on whole pixels: no colour shines through another. */
const barsOf =
  (shown: { readonly current: Bars }): UPlot.Series.PathBuilder =>
  (drawn, series) => {
    const fill = new Path2D();
    const { at, stepSeconds } = shown.current;
    const gap = Math.max(1, Math.round(devicePixelRatio));
    const on = (value: number, scale: "x" | "y") => Math.round(drawn.valToPos(value, scale, true));
    for (const [bar, begun] of at.entries()) {
      const sum = drawn.data[series]?.[bar] ?? 0;
      const below = drawn.data[series + 1]?.[bar] ?? 0;
      if (sum <= below) continue;
      const [left, top] = [on(begun, "x"), on(sum, "y")];
      fill.rect(left, top, Math.max(1, on(begun + stepSeconds, "x") - left - gap), Math.max(1, on(below, "y") - top));
    }
    return { fill, flags: 1 };
  };

function optionsOf(element: HTMLElement, shown: { readonly current: Bars }): UPlot.Options {
  const colour = (name: string) => () => {
    element.style.color = `var(--color-${name})`;
    return getComputedStyle(element).color;
  };
  const font = `11px ${getComputedStyle(element).fontFamily}`;
  const axis = { stroke: colour("ink-faint"), font, ticks: { show: false } };
  const colours: readonly Colour[] = shown.current.layers.map(({ colour }) => colour).reverse();
  return {
    width: element.clientWidth,
    height: chartHeight,
    padding: [8, 18, 0, 0],
    legend: { show: false },
    cursor: { show: false },
    scales: {
      x: {
        range: () => {
          const { at, stepSeconds } = shown.current;
          return [at[0] ?? 0, (at.at(-1) ?? 0) + stepSeconds];
        },
      },
      y: { range: (_, __, max) => [0, topOf(Math.max(leastTop, max ?? 0))] },
    },
    axes: [
      { ...axis, size: 28, space: 64, grid: { show: false }, values: (_, splits) => splits.map(clockText) },
      {
        ...axis,
        size: 40,
        space: 36,
        splits: (_, __, ___, top) =>
          Array.from({ length: Math.round(top / stepOf(top)) + 1 }, (____, at) => at * stepOf(top)),
        grid: { stroke: colour("line"), width: 1 },
        values: (_, splits) => splits.map((value) => compact.format(value)),
      },
    ],
    series: [
      {},
      ...colours.map(
        (name): UPlot.Series => ({ paths: barsOf(shown), width: 0, fill: colour(name), points: { show: false } }),
      ),
    ],
  };
}

/** Between two lines of the grid: a round number, three or four of which reach the top. */
function stepOf(top: number): number {
  const power = 10 ** Math.floor(Math.log10(top / 3));
  return Math.max(1, [5, 2, 1].map((digit) => digit * power).find((step) => step <= top / 3) ?? power);
}

/** The grid ends at a line that is at least as high as the highest bar. */
const topOf = (highest: number): number => Math.ceil(highest / stepOf(highest)) * stepOf(highest);

const compact = new Intl.NumberFormat("en", { notation: "compact" });
