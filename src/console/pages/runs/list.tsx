/** Runs of workflows: filtered by what the address says, several acted on at once. */
import { Link } from "@tanstack/react-router";
import { PlaySquare } from "lucide-react";
import { answer } from "../../../programs/client/client.ts";
import { svc } from "../../app/session/api.ts";
import { ButtonLink } from "../../kit/controls/button.tsx";
import { ChoiceFilter, FilterBar, SearchFilter, useFilters } from "../../kit/controls/filters.tsx";
import { useList } from "../../kit/list.ts";
import { Empty, Page } from "../../kit/page.tsx";
import { type Column, DataTable } from "../../kit/table.tsx";
import { Cli } from "../../kit/values/cli.tsx";
import { Status, wordsOf } from "../../kit/values/status.tsx";
import { Copyable, inert } from "../../kit/values/text.tsx";
import { Ago, Duration } from "../../kit/values/time.tsx";
import type { Run } from "./model/queries.ts";
import { BulkActions } from "./parts/bulk.tsx";

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
    width: "minmax(8rem, 1.6fr)",
    wide: true,
    cell: ({ error, waiting_for, status }) =>
      error !== null ? (
        <span className="text-bad">{inert(error)}</span>
      ) : waiting_for !== null && status === "running" ? (
        <span className="text-violet">{waitWords[waiting_for.kind]}</span>
      ) : (
        ""
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

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function Runs() {
  const [filters] = useFilters();
  const { status, q, parent, schedule } = filters;
  const isId = q !== undefined && uuid.test(q);
  const list = useList<Run>(["run", "list", status, q, parent, schedule], async (cursor) => {
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
    };
    return answer(svc.GET("/v1/workflows/executions", { params: { query } }));
  });
  const isFiltered = [status, q, parent, schedule].some((one) => one !== undefined);
  return (
    <Page title="Runs">
      <FilterBar names={["q", "status", "parent", "schedule"]}>
        <SearchFilter name="q" label="Workflow, or id of a run" />
        <ChoiceFilter name="status" label="Status" choices={statuses} />
      </FilterBar>
      <DataTable
        {...list}
        name="runs"
        columns={columns}
        idOf={({ id }) => id}
        linkOf={({ id }) => `/runs/${id}`}
        bulk={(selected, clear) => <BulkActions runs={selected} done={clear} />}
        empty={
          <Empty
            icon={PlaySquare}
            title={isFiltered ? "No run like this" : "No workflow has run yet"}
            actions={!isFiltered && <ButtonLink to="/workflows">Start a workflow</ButtonLink>}
          >
            {isFiltered ? (
              "Clear a filter to see more."
            ) : (
              <>
                <p className="mt-0 mb-2">Each run of a workflow stands here, the newest first.</p>
                <Cli args="workflows run release --input version=2.4" />
              </>
            )}
          </Empty>
        }
      />
    </Page>
  );
}
