/** One run, alive: what it waits for, its graph, what each state came to, and what can be done. */

import { Link, useParams } from "@tanstack/react-router";
import { CircleAlert } from "lucide-react";
import { useMemo } from "react";
import { Who } from "../../app/who.tsx";
import { useFilters } from "../../kit/controls/filters.tsx";
import { Tabs } from "../../kit/controls/tabs.tsx";
import { Flow } from "../../kit/flow/flow.tsx";
import { Loading, Page, Panel, Trouble } from "../../kit/page.tsx";
import { Value } from "../../kit/values/json.tsx";
import { Badge, Status } from "../../kit/values/status.tsx";
import { Copyable, inert } from "../../kit/values/text.tsx";
import { Ago, Duration } from "../../kit/values/time.tsx";
import { entriesOf, fleetRunOf } from "./model/entries.ts";
import { type RunRecord, useDefinition, useRun, useRunLog, useRunShape } from "./model/queries.ts";
import { runFlow } from "./model/run-graph.ts";
import { Actions } from "./parts/actions.tsx";
import { Children } from "./parts/children.tsx";
import { Log } from "./parts/log.tsx";
import { Timeline } from "./parts/timeline.tsx";
import { Card, Waits, waitsOf } from "./parts/waits.tsx";

export function RunPage() {
  const { id = "" } = useParams({ strict: false }) as { id?: string };
  const { data, error, isPending, refetch } = useRun(id);
  if (isPending)
    return (
      <Page title="Run">
        <Loading lines={8} />
      </Page>
    );
  if (error !== null)
    return (
      <Page title="Run">
        <Trouble error={error} retry={() => void refetch()} />
      </Page>
    );
  return <Shown key={id} run={data} />;
}

function Shown({ run }: { readonly run: RunRecord }) {
  const [filters, change] = useFilters();
  const { events, connection } = useRunLog(run.id);
  const shape = useRunShape(run.id, run.workflow_version);
  const definition = useDefinition(run.workflow_id);
  const entries = useMemo(() => entriesOf(events), [events]);
  const waits = useMemo(
    () => (run.ended_at === null ? waitsOf(run, entries, definition) : []),
    [run, entries, definition],
  );
  const waiting = useMemo(() => new Set(waits.map(({ state }) => state)), [waits]);
  const graph = useMemo(
    () => (shape.data === undefined ? null : runFlow(shape.data, definition, entries, waiting)),
    [shape.data, definition, entries, waiting],
  );
  const chosen = filters.state ?? null;
  const choose = (state: string | null) => change({ state: state ?? "" });
  const isWaiting = run.status === "running" && waits.length > 0;
  return (
    <Page
      title={run.workflow_name}
      beside={
        <>
          <Status
            status={run.paused_at !== null && run.ended_at === null ? "paused" : isWaiting ? "waiting" : run.status}
          />
          <Badge>{inert(run.workflow_version)}</Badge>
          {run.compensation.status !== "none" && <Badge tone="violet">compensation {run.compensation.status}</Badge>}
        </>
      }
      about={<About run={run} isLost={connection === "lost"} />}
      actions={<Actions run={run} entries={entries} />}
    >
      {run.error !== null && (
        <Card icon={CircleAlert} tone="bad" title={run.error_code ?? "It failed"}>
          <pre
            // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
            tabIndex={0}
            className="m-0 max-h-60 overflow-auto whitespace-pre-wrap break-words text-xs leading-5"
          >
            {inert(run.error)}
          </pre>
        </Card>
      )}
      <Waits run={run} waits={waits} entries={entries} definition={definition} />
      <Tabs
        chosen={filters.tab ?? "states"}
        onChoose={(tab) => change({ tab: tab === "states" ? "" : tab })}
        tabs={[
          {
            id: "states",
            label: "States",
            content: (
              <div className="flex min-w-0 flex-col gap-4">
                <Panel title="Graph" flush>
                  {shape.error !== null && <Trouble error={shape.error} />}
                  {graph !== null && (
                    <Flow
                      graph={graph}
                      label={`Graph of ${run.workflow_name}`}
                      height="24rem"
                      selected={chosen}
                      onSelect={choose}
                    />
                  )}
                </Panel>
                <div className="grid min-w-0 grid-cols-1 gap-4 xl:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
                  <Panel title="States entered" flush className="self-start">
                    <Timeline
                      runId={run.id}
                      entries={entries}
                      definition={definition}
                      waiting={waiting}
                      chosen={chosen}
                      onChoose={choose}
                    />
                  </Panel>
                  <div className="flex min-w-0 flex-col gap-4 self-start">
                    <Panel title="Input">
                      <Value value={run.input} />
                    </Panel>
                    <Panel title="Output">
                      <Value value={run.final_output} open={3} />
                    </Panel>
                  </div>
                </div>
              </div>
            ),
          },
          {
            id: "children",
            label: "Started",
            content: filters.tab === "children" && (
              <Children runId={run.id} fleetRuns={entries.flatMap((entry) => fleetRunOf(entry) ?? [])} />
            ),
          },
          {
            id: "blackboard",
            label: "Blackboard",
            content: filters.tab === "blackboard" && <Value value={run.blackboard} />,
          },
          {
            id: "log",
            label: "Log",
            beside: <Badge>{events.length}</Badge>,
            content: filters.tab === "log" && <Log events={events} />,
          },
          { id: "json", label: "JSON", content: filters.tab === "json" && <Value value={run} /> },
        ]}
      />
    </Page>
  );
}

/** An API key is named where its owner is who started the run. */
function Starter({ of: { starter, initiated_by } }: { readonly of: RunRecord }) {
  const key_id = starter?.sub === initiated_by.sub ? starter.key_id : null;
  return <Who of={{ ...initiated_by, key_id }} />;
}

function About({ run, isLost }: { readonly run: RunRecord; readonly isLost: boolean }) {
  const links: readonly (readonly [string, string | null])[] = [
    ["parent", run.parent_execution_id],
    ["retry of", run.retry_of],
    ["forked from", run.forked_from],
    ["continued from", run.continued_from],
    ["continued as", run.continued_as],
  ];
  return (
    <>
      <Copyable value={run.id} />
      <span>
        started <Ago at={run.started_at} /> by <Starter of={run} />
      </span>
      <span>
        {run.ended_at === null ? "for" : "took"} <Duration from={run.started_at} to={run.ended_at} />
      </span>
      {links.map(([label, id]) =>
        id === null ? null : (
          <Link key={label} to={`/runs/${id}`} className="text-accent hover:underline">
            {label} {id.slice(0, 8)}
          </Link>
        ),
      )}
      {run.stimulus_id !== null && (
        <Link to={`/stimuli/${run.stimulus_id}`} className="text-accent hover:underline">
          stimulus
        </Link>
      )}
      {run.schedule_id !== null && (
        <Link
          to="/workflows/$ref"
          params={{ ref: run.workflow_name } as never}
          search={{ tab: "schedules" } as never}
          className="text-accent hover:underline"
        >
          by a schedule
        </Link>
      )}
      {isLost && <span className="text-warn">live news is lost; trying again</span>}
    </>
  );
}
