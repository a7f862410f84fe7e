/** Stacked bars over time. The drawing library is loaded when a chart is first shown; a table says the same. */
import { lazy, Suspense } from "react";
import { byHour, type ChartProps, chartHeight, spanText } from "./layers.ts";

const Drawing = lazy(() => import("./drawing.tsx").then(({ Drawing }) => ({ default: Drawing })));

export function Chart({ onOpen, ...bars }: ChartProps) {
  const rows = byHour(bars);
  return (
    <figure className="m-0 flex min-w-0 flex-col gap-1" aria-label={`${bars.label} over time`}>
      <Suspense fallback={<div className="skeleton" style={{ height: chartHeight }} />}>
        <Drawing {...bars} onOpen={onOpen} />
      </Suspense>
      <details className="text-xs">
        <summary className="w-fit cursor-pointer rounded-control text-ink-faint hover:text-ink">As a table</summary>
        <div className="mt-2 overflow-x-auto">
          <table className="w-full border-collapse tabular-nums">
            <thead>
              <tr className="text-left text-ink-faint">
                <th className="py-1 pr-3 font-medium">Started</th>
                {bars.layers.map(({ name }) => (
                  <th key={name} className="py-1 pl-3 text-right font-medium">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map(({ at, seconds, counts }) => (
                <tr key={at} className="border-line border-t">
                  <th className="py-1 pr-3 text-left font-normal">
                    <button
                      type="button"
                      className="rounded-control text-accent hover:underline"
                      onClick={() => onOpen(at, at + seconds)}
                    >
                      {spanText(at, seconds)}
                    </button>
                  </th>
                  {counts.map((count, layer) => (
                    <td key={bars.layers[layer]?.name} className="py-1 pl-3 text-right">
                      {count}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
          {rows.length === 0 && <p className="my-1 text-ink-soft">Nothing was started.</p>}
        </div>
      </details>
    </figure>
  );
}
