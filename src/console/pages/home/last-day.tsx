/** How the last 24 hours went: in figures, and when what was started, by what became of it. */
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { answer, type Schemas } from "../../../programs/client/client.ts";
import { svc } from "../../app/session/api.ts";
import { useCan } from "../../app/session/session.ts";
import { Chart } from "../../kit/chart/chart.tsx";
import type { Bars, Colour } from "../../kit/chart/layers.ts";
import { startedWithin } from "../../kit/controls/started-within.ts";
import { Loading, Panel, Trouble } from "../../kit/page.tsx";
import { wordsOf } from "../../kit/values/status.tsx";
import { useNow } from "../../kit/values/time.tsx";

/** From the axis up. */
const outcomes: readonly (readonly [status: string, colour: Colour])[] = [
  ["completed", "good"],
  ["failed", "bad"],
  ["timed_out", "warn"],
  ["cancelled", "ink-faint"],
  ["running", "info"],
  ["pending", "line-strong"],
];
/** Completed and failed are told also where there are none. */
const alwaysTold = 2;
const daySeconds = 86_400;

type Day = Schemas["Dashboard"];

export function LastDay() {
  const can = useCan();
  const day = useQuery({
    queryKey: ["day"],
    queryFn: () => answer(svc.GET("/v1/dashboard/summary")),
    enabled: can("observability:read"),
  });
  if (!day.isEnabled) return null;
  return (
    <Panel title="Last 24 hours">
      {day.error !== null ? (
        <Trouble error={day.error} retry={() => void day.refetch()} />
      ) : day.data === undefined ? (
        <Loading lines={6} />
      ) : (
        <div className="flex flex-col gap-5">
          <Figures of={day.data} />
          <div className="grid min-w-0 grid-cols-1 gap-x-8 gap-y-5 lg:grid-cols-2">
            <OverTime of={day.data} kind="executions" label="Executions" to="/executions" />
            <OverTime of={day.data} kind="runs" label="Workflow runs" to="/runs" />
          </div>
        </div>
      )}
    </Panel>
  );
}

function Figures({ of }: { readonly of: Day }) {
  const counts = of.executions_by_status;
  const ended = (counts.completed ?? 0) + (counts.failed ?? 0) + (counts.timed_out ?? 0);
  const rate = ended === 0 ? null : Math.round(((counts.completed ?? 0) / ended) * 100);
  const figures: readonly (readonly [name: string, value: string, to: string | null])[] = [
    ["Executions", of.execution_count.toLocaleString("en"), "/executions"],
    ["Completed, of all that ended", rate === null ? "–" : `${rate} %`, null],
    ["Workflow runs", of.workflow_execution_count.toLocaleString("en"), "/runs"],
    ["Deliveries", of.stimulus_count.toLocaleString("en"), "/stimuli"],
    ["Security incidents", of.security_incident_count.toLocaleString("en"), null],
  ];
  return (
    <dl className="m-0 grid grid-cols-2 gap-x-6 gap-y-3 sm:grid-cols-3 xl:grid-cols-5">
      {figures.map(([name, value, to]) => (
        <div key={name} className="flex min-w-0 flex-col-reverse">
          <dt className="text-ink-soft text-xs">{name}</dt>
          <dd className="m-0 font-semibold text-2xl tabular-nums leading-8">
            {to === null ? (
              value
            ) : (
              <Link to={to as never} className="text-ink no-underline hover:underline">
                {value}
              </Link>
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}

interface OverTimeProps {
  readonly of: Day;
  readonly kind: "executions" | "runs";
  readonly label: string;
  /** The list. */
  readonly to: string;
}

function OverTime({ of, kind, label, to }: OverTimeProps) {
  const navigate = useNavigate();
  const bars = useBars(of, kind, label);
  return (
    <section className="flex min-w-0 flex-col gap-2">
      <div className="flex flex-wrap items-baseline gap-x-4 gap-y-1 text-xs">
        <h3 className="m-0 font-medium text-[0.8125rem]">{label} started</h3>
        <ul className="m-0 flex list-none flex-wrap gap-x-3 gap-y-1 p-0">
          {bars.layers.map(({ name, colour, values }, layer) => {
            const count = values.reduce((sum, value) => sum + value, 0);
            if (count === 0 && layer >= alwaysTold) return null;
            return (
              <li key={name}>
                <Link
                  to={to as never}
                  search={{ status: outcomes[layer]?.[0], since: "24h" } as never}
                  className="flex items-center gap-1.5 text-ink-soft no-underline hover:text-ink hover:underline"
                >
                  <span
                    aria-hidden
                    className="size-2.5 rounded-full"
                    style={{ background: `var(--color-${colour})` }}
                  />
                  {name}
                  <span className="font-medium text-ink tabular-nums">{count.toLocaleString("en")}</span>
                </Link>
              </li>
            );
          })}
        </ul>
      </div>
      <Chart
        {...bars}
        onOpen={(from, until) => void navigate({ to: to as never, search: startedWithin(from, until) as never })}
      />
    </section>
  );
}

/** A bar for each quarter of an hour of the window, also for those in which nothing was started. */
function useBars({ series }: Day, kind: OverTimeProps["kind"], label: string): Bars {
  const step = series.bucket_seconds;
  const present = useNow(60_000) / 1_000;
  const newest = series.buckets.at(-1);
  // The service's clock may be ahead of this browser's.
  const end = Math.max(present, newest === undefined ? 0 : Date.parse(newest.at) / 1_000);
  const last = Math.floor(end / step) * step;
  const count = daySeconds / step + 1;
  const at = Array.from({ length: count }, (_, bar) => last - (count - 1 - bar) * step);
  const counts = new Map(series.buckets.map((bucket) => [Date.parse(bucket.at) / 1_000, bucket[kind]]));
  const layers = outcomes.map(([status, colour]) => ({
    name: wordsOf(status),
    colour,
    values: at.map((begun) => counts.get(begun)?.[status] ?? 0),
  }));
  return { label, at, stepSeconds: step, layers };
}
