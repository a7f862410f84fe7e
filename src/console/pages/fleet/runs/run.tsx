/** One run over hosts, live: how it stands and why it waits, a cell for each host, and what a host said. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { answer } from "../../../../programs/client/client.ts";
import { svc } from "../../../app/session/api.ts";
import { useStream } from "../../../app/streams/streams.ts";
import { Who } from "../../../app/who.tsx";
import { useFilters } from "../../../kit/controls/filters.tsx";
import { Loading, Page, Panel, Trouble } from "../../../kit/page.tsx";
import { Badge } from "../../../kit/values/status.tsx";
import { Copyable, inert } from "../../../kit/values/text.tsx";
import { Ago, Duration } from "../../../kit/values/time.tsx";
import { counted, entryWords } from "../words.ts";
import { RunActions } from "./actions.tsx";
import { Asked, LeftOut } from "./asked.tsx";
import { createView, isEnded, noView, type RunView } from "./cells.ts";
import { Grid, sizeFor } from "./grid.tsx";
import { Legend } from "./legend.tsx";
import { Output } from "./output.tsx";
import { RunStatus } from "./run-status.tsx";
import { type Run, targetWords } from "./target.ts";
import { Waits } from "./waits.tsx";
import { type Section, sectionsOf } from "./waves.ts";

export function RunPage() {
  const { id = "" } = useParams({ strict: false }) as { readonly id?: string };
  const { data, error, refetch } = useQuery({
    queryKey: ["fleet_run", "one", id],
    queryFn: () => answer(svc.GET("/v1/edge/fleet/runs/{id}", { params: { path: { id }, query: { limit: 1 } } })),
  });
  if (data === undefined)
    return (
      <Page title="Run">{error === null ? <Loading /> : <Trouble error={error} retry={() => void refetch()} />}</Page>
    );
  return <Shown key={data.id} run={data} />;
}

/** The events of a run, drawn at most once a frame. */
function useRunView(
  id: string,
  sections: readonly Section[],
): readonly [view: RunView, cell: (id: string) => ReturnType<ReturnType<typeof createView>["cell"]>] {
  const view = useState(createView)[0];
  const [shown, show] = useState<RunView>(noView);
  const frame = useRef(0);
  useEffect(() => () => cancelAnimationFrame(frame.current), []);
  const queries = useQueryClient();
  const starts = sections.map(({ from }) => from).join();
  useEffect(() => {
    view.divide(starts.split(",").map(Number));
    show(view.take());
  }, [view, starts]);
  useStream(`/v1/edge/fleet/runs/${id}/stream`, "0", (event) => {
    view.hear(event);
    // Summary, reasons and times of the run itself.
    if (event.event === "fleet_status" || event.event === "fleet_result")
      queries.invalidateQueries({ queryKey: ["fleet_run", "one", id] }).catch(() => {});
    if (frame.current !== 0) return;
    frame.current = requestAnimationFrame(() => {
      frame.current = 0;
      show(view.take());
    });
  });
  return [shown, view.cell];
}

function Shown({ run }: { readonly run: Run }) {
  const sections = sectionsOf(run.waves, run.targets_resolved);
  const [view, cellOf] = useRunView(run.id, sections);
  const [filters, change] = useFilters();
  const only = useMemo(() => (filters.show === undefined ? null : new Set(filters.show.split(","))), [filters.show]);
  const chosen = filters.host ?? null;
  const choose = useRef(change);
  choose.current = change;
  const onChoose = useCallback((host: string) => choose.current({ host }), []);
  const status = view.status ?? run.status;
  const hosts = run.targets_resolved;
  const done = Object.entries(view.counts).reduce((sum, [one, count]) => sum + (isEnded(one) ? count : 0), 0);
  const failed = run.summary.failed;
  return (
    <Page
      title={`${run.tool} on ${counted(hosts, "host")}`}
      beside={<RunStatus run={{ status, summary: { failed } }} />}
      about={
        <>
          <Copyable value={run.id} short />
          <span>{inert(targetWords(run.target))}</span>
          <span>
            asked <Ago at={run.created_at} /> by <Who of={run.requested_by} />
            {run.requested_by.entry !== "api" &&
              ` through ${entryWords[run.requested_by.entry] ?? run.requested_by.entry}`}
          </span>
          {run.requested_by.execution_id !== null && (
            <Link
              to={`/${run.requested_by.entry === "workflow" ? "runs" : "executions"}/${run.requested_by.execution_id}`}
              className="text-accent hover:underline"
            >
              {run.requested_by.entry === "workflow" ? "its workflow run" : "its execution"}
            </Link>
          )}
          {run.retry_of !== null && (
            <Link to={`/fleet/runs/${run.retry_of}`} className="text-accent hover:underline">
              retry of an earlier run
            </Link>
          )}
          <span>
            took <Duration from={run.started_at} to={run.ended_at} />
          </span>
        </>
      }
      actions={<RunActions id={run.id} status={status} counts={view.counts} />}
    >
      <Waits run={run} status={status} view={view} />
      <Panel
        title="Hosts"
        beside={
          <>
            {view.waves !== null && view.waves > 1 && (
              <Badge tone="info">
                wave {Math.max(view.wave ?? 0, 1)} of {view.waves}
              </Badge>
            )}
            <span className="text-ink-soft text-xs tabular-nums">
              {done.toLocaleString("en")} of {hosts.toLocaleString("en")} done
            </span>
          </>
        }
      >
        <div className="flex flex-col gap-3">
          <Legend
            counts={view.counts}
            total={Math.max(hosts, done)}
            only={only}
            onChange={(show) => change({ show })}
          />
          {view.parts.length === 0 ? (
            status === "awaiting_approval" || hosts === 0 ? (
              <p className="m-0 text-ink-soft">No host was asked yet.</p>
            ) : (
              <Loading lines={2} />
            )
          ) : (
            <Grid
              parts={view.parts}
              sections={sections}
              run={{ status, pauseReasons: view.pauseReasons, policy: run.policy }}
              size={sizeFor(hosts)}
              only={only}
              chosen={chosen}
              onChoose={onChoose}
            />
          )}
        </div>
      </Panel>
      {chosen !== null && <Output cell={cellOf(chosen)} onClose={() => change({ host: "" })} />}
      <div className="grid gap-4 lg:grid-cols-2">
        <Asked run={run} />
        {run.skipped.length > 0 && <LeftOut skipped={run.skipped} />}
      </div>
    </Page>
  );
}
