/** Runs of workflows: filtered by what the address says, several acted on at once. */
import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { PlaySquare } from "lucide-react";
import { useRef, useState } from "react";
import { answer } from "../../../programs/client/client.ts";
import { svc } from "../../app/session/api.ts";
import { ButtonLink } from "../../kit/controls/button.tsx";
import { ChoiceFilter, FilterBar, SearchFilter, useFilters } from "../../kit/controls/filters.tsx";
import { StartedFilter } from "../../kit/controls/started.tsx";
import { startedNames, startedQuery } from "../../kit/controls/started-within.ts";
import { Bulk, type BulkWork } from "../../kit/dialogs/bulk.tsx";
import { useList } from "../../kit/list.ts";
import { Empty, Page } from "../../kit/page.tsx";
import { type Column, DataTable } from "../../kit/table.tsx";
import { Cli } from "../../kit/values/cli.tsx";
import { Status, wordsOf } from "../../kit/values/status.tsx";
import { Copyable, inert } from "../../kit/values/text.tsx";
import { Ago, Duration } from "../../kit/values/time.tsx";
import type { Run } from "./model/queries.ts";
import { BulkActions } from "./parts/bulk.tsx";
import { Migrate } from "./parts/migrate.tsx";

const statuses = ["pending", "running", "completed", "failed", "cancelled", "timed_out"].map((value) => ({
  value,
  label: wordsOf(value),
}));

const waitWords = {
  approval: "waits for a person",
  tool_call: "a tool call waits for a person",
  time: "waits for a time",
  signal: "waits for a signal",
  stimulus: "waits for a stimulus",
};

/** Longer outputs are not looked into for a row of a list, characters. */
const longestRead = 20_000;

/** The first line of the first text in an output, also in a text that is JSON; null: it has none. */
function firstLine(output: unknown): string | null {
  if (typeof output === "object" && output !== null) {
    for (const inner of Object.values(output)) {
      const line = firstLine(inner);
      if (line !== null) return line;
    }
    return null;
  }
  if (typeof output !== "string" || output.trim() === "") return null;
  const text = output.trim();
  if (/^[[{]/.test(text) && text.length <= longestRead) {
    try {
      return firstLine(JSON.parse(text));
    } catch {
      // It only looks like JSON.
    }
  }
  return text.slice(0, 300).split("\n", 1)[0] ?? null;
}

const columns: readonly Column<Run>[] = [
  {
    id: "status",
    title: "Status",
    width: "8rem",
    cell: ({ status, waiting_for, paused_at }) => (
      <Status
        status={paused_at !== null ? "paused" : status === "running" && waiting_for !== null ? "waiting" : status}
      />
    ),
  },
  {
    id: "workflow",
    title: "Workflow",
    width: "minmax(9rem, 1.4fr)",
    cell: ({ id, workflow_name }) => (
      <Link to={`/runs/${id}`} className="font-medium text-ink no-underline hover:underline">
        {inert(workflow_name)}
      </Link>
    ),
  },
  {
    id: "version",
    title: "Version",
    width: "6rem",
    wide: true,
    extra: true,
    cell: ({ workflow_version }) => inert(workflow_version),
  },
  {
    id: "state",
    title: "State",
    width: "minmax(7rem, 1fr)",
    wide: true,
    cell: ({ current_state }) => inert(current_state ?? ""),
  },
  {
    id: "error",
    title: "What came of it",
    width: "minmax(8rem, 3fr)",
    wide: true,
    cell: ({ error, waiting_for, status, final_output, summary }) =>
      error !== null ? (
        <span className="text-bad">{inert(error)}</span>
      ) : waiting_for !== null && status === "running" ? (
        <span className="text-violet">{waitWords[waiting_for.kind]}</span>
      ) : (
        <span className="text-ink-soft">{inert(firstLine(final_output) ?? summary ?? "")}</span>
      ),
  },
  { id: "id", title: "Id", width: "9rem", wide: true, cell: ({ id }) => <Copyable value={id} short /> },
  { id: "started", title: "Started", width: "6rem", cell: ({ started_at }) => <Ago at={started_at} /> },
  {
    id: "took",
    title: "Duration",
    width: "6rem",
    right: true,
    cell: ({ started_at, ended_at }) => <Duration from={started_at} to={ended_at} />,
  },
];

const names = ["q", "status", "parent", "schedule", ...startedNames];

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function Runs() {
  const queries = useQueryClient();
  // Here, and not beside the rows: they leave the list while they are worked on.
  const [work, setWork] = useState<BulkWork<Run> | null>(null);
  const done = useRef(() => {});
  const [moved, move] = useState<readonly Run[] | null>(null);
  const [filters] = useFilters();
  const { status, q, parent, schedule, since, after, before } = filters;
  const isId = q !== undefined && uuid.test(q);
  const list = useList<Run>(["run", "list", status, q, parent, schedule, since, after, before], async (cursor) => {
    // An id is one run: it is read by itself.
    if (isId)
      return { items: [await answer(svc.GET("/v1/workflows/executions/{id}", { params: { path: { id: q } } }))] };
    const query = {
      limit: 100,
      ...(cursor === undefined ? {} : { cursor }),
      ...(status === undefined ? {} : { status }),
      ...(q === undefined ? {} : { workflow_name: q }),
      ...(parent === undefined ? {} : { parent_execution_id: parent }),
      ...(schedule === undefined ? {} : { schedule_id: schedule }),
      ...startedQuery(filters),
    };
    return answer(svc.GET("/v1/workflows/executions", { params: { query } }));
  });
  return (
    <Page title="Runs">
      <FilterBar names={names}>
        <SearchFilter name="q" label="Workflow, or id of a run" />
        <ChoiceFilter name="status" label="Status" choices={statuses} />
        <StartedFilter />
      </FilterBar>
      <DataTable
        {...list}
        name="runs"
        filters={names}
        columns={columns}
        idOf={({ id }) => id}
        linkOf={({ id }) => `/runs/${id}`}
        bulk={(selected, clear) => {
          const begin = (next: BulkWork<Run>) => {
            setWork(next);
            done.current = clear;
          };
          return <BulkActions runs={selected} onWork={begin} onMove={move} />;
        }}
        empty={
          <Empty
            icon={PlaySquare}
            title="No workflow has run yet"
            actions={<ButtonLink to="/workflows">Start a workflow</ButtonLink>}
          >
            <p className="mt-0 mb-2">Each run of a workflow stands here, the newest first.</p>
            <Cli args="workflows run release --input version=2.4" />
          </Empty>
        }
      />
      <Bulk
        work={work}
        onClose={() => {
          setWork(null);
          done.current();
          queries.invalidateQueries({ queryKey: ["run"] }).catch(() => {});
        }}
      />
      {moved !== null && <Migrate runs={moved} onClose={() => move(null)} />}
    </Page>
  );
}
