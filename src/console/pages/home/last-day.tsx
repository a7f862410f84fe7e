/** How the last 24 hours went, in figures: how many of each outcome, and their share as a bar. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { answer, type Schemas } from "../../../programs/client/client.ts";
import { svc } from "../../app/session/api.ts";
import { useCan } from "../../app/session/session.ts";
import { classes } from "../../kit/controls/classes.ts";
import { Loading, Panel, Trouble } from "../../kit/page.tsx";
import { wordsOf } from "../../kit/values/status.tsx";

const outcomes = [
  ["completed", "bg-good"],
  ["failed", "bg-bad"],
  ["timed_out", "bg-warn"],
  ["cancelled", "bg-ink-faint"],
  ["running", "bg-info"],
  ["pending", "bg-line-strong"],
] as const;

export function LastDay() {
  const can = useCan();
  const summary = useQuery({
    // Below the executions' own key: what changes of them changes the figures.
    queryKey: ["execution", "list", "home-summary"],
    queryFn: () => answer(svc.GET("/v1/dashboard/summary")),
    enabled: can("observability:read"),
  });
  if (!summary.isEnabled) return null;
  return (
    <Panel title="Last 24 hours">
      {summary.error !== null ? (
        <Trouble error={summary.error} retry={() => void summary.refetch()} />
      ) : summary.data === undefined ? (
        <Loading lines={2} />
      ) : (
        <Figures of={summary.data} />
      )}
    </Panel>
  );
}

function Figures({ of }: { readonly of: Schemas["Dashboard"] }) {
  const counts = of.executions_by_status;
  const total = outcomes.reduce((sum, [status]) => sum + (counts[status] ?? 0), 0);
  const ended = (counts.completed ?? 0) + (counts.failed ?? 0) + (counts.timed_out ?? 0);
  const rate = ended === 0 ? null : Math.round(((counts.completed ?? 0) / ended) * 100);
  const figures: readonly (readonly [name: string, value: string, to: string | null])[] = [
    ["Executions", of.recent_execution_count.toLocaleString("en"), "/executions"],
    ["Completed of those ended", rate === null ? "–" : `${rate} %`, null],
    ["Workflow runs", of.recent_workflow_execution_count.toLocaleString("en"), "/runs"],
    ["Deliveries", of.stimulus_count.toLocaleString("en"), "/stimuli"],
    ["Security incidents", of.security_incident_count.toLocaleString("en"), null],
  ];
  return (
    <div className="flex flex-col gap-4">
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
      {total > 0 && (
        <div className="flex flex-col gap-2">
          <div aria-hidden className="flex h-2.5 gap-0.5 overflow-hidden rounded-full bg-hover">
            {outcomes.map(([status, colour]) => {
              const count = counts[status] ?? 0;
              if (count === 0) return null;
              return <span key={status} className={classes("min-w-1", colour)} style={{ flexGrow: count }} />;
            })}
          </div>
          <ul className="m-0 flex list-none flex-wrap gap-x-4 gap-y-1 p-0 text-xs">
            {outcomes.map(([status, colour]) => {
              const count = counts[status] ?? 0;
              if (count === 0) return null;
              return (
                <li key={status}>
                  <Link
                    to="/executions"
                    search={{ status, since: "24h" } as never}
                    className="flex items-center gap-1.5 text-ink-soft no-underline hover:text-ink hover:underline"
                  >
                    <span aria-hidden className={classes("size-2.5 rounded-full", colour)} />
                    {wordsOf(status)} <span className="font-medium text-ink tabular-nums">{count}</span>
                  </Link>
                </li>
              );
            })}
          </ul>
        </div>
      )}
    </div>
  );
}
