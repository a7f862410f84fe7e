/** All executions of the tenant, newest first. */
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Activity, Ban, RotateCcw } from "lucide-react";
import { useRef, useState } from "react";
import { answer } from "../../../programs/client/client.ts";
import { svc } from "../../app/session/api.ts";
import { useCan } from "../../app/session/session.ts";
import { Button, ButtonLink } from "../../kit/controls/button.tsx";
import { ChoiceFilter, FilterBar, type Filters, SearchFilter, useFilters } from "../../kit/controls/filters.tsx";
import { StartedFilter } from "../../kit/controls/started.tsx";
import { startedNames, startedQuery } from "../../kit/controls/started-within.ts";
import { Bulk, type BulkWork } from "../../kit/dialogs/bulk.tsx";
import { useList } from "../../kit/list.ts";
import { Empty, Page } from "../../kit/page.tsx";
import { DataTable } from "../../kit/table.tsx";
import { Cli } from "../../kit/values/cli.tsx";
import { cancel, isLive, retry } from "./actions.tsx";
import { AgentFilter } from "./agent-filter.tsx";
import { executionColumns, type Row } from "./columns.tsx";

const statuses = ["pending", "running", "completed", "failed", "timed_out", "cancelled"].map((value) => ({
  value,
  label: value.replaceAll("_", " "),
}));

const names = ["q", "status", "agent", "label", ...startedNames];

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** What the list is asked for. A text with `=` is a label. */
function queryOf(filters: Filters) {
  const { q = "", status, agent, label } = filters;
  const labels = [...(label === undefined ? [] : [label]), ...(q.includes("=") ? q.split(/\s+/) : [])];
  return {
    ...(status === undefined ? {} : { status }),
    ...(agent === undefined ? {} : { agent_id: agent }),
    ...(labels.length === 0 ? {} : { label: labels }),
    ...startedQuery(filters),
  };
}

export function Executions() {
  const can = useCan();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [filters] = useFilters();
  const [work, setWork] = useState<BulkWork<Row> | null>(null);
  const done = useRef(() => {});
  const { q = "", status, agent, since, after, before, label } = filters;
  const asked = { q: q.includes("=") ? q : "", status, agent, since, after, before, label };
  const list = useList(["execution", "list", asked], (cursor) =>
    answer(svc.GET("/v1/executions", { params: { query: { ...queryOf(filters), cursor, limit: 100 } as never } })),
  );
  const id = q.trim();
  const words = q.includes("=") || uuid.test(id) ? "" : id.toLowerCase();
  const rows = words === "" ? list.rows : list.rows.filter((row) => searched(row).includes(words));
  const close = () => {
    setWork(null);
    done.current();
    queries.invalidateQueries({ queryKey: ["execution"] }).catch(() => {});
  };
  return (
    <Page title="Executions">
      <FilterBar names={names}>
        <SearchFilter name="q" label="Id, label=value or words" />
        <ChoiceFilter name="status" label="Status" choices={statuses} />
        <AgentFilter />
        <StartedFilter />
      </FilterBar>
      {uuid.test(id) && (
        <p className="m-0 flex flex-wrap items-center gap-2">
          That is an id.
          <ButtonLink small look="primary" to="/executions/$id" params={{ id }}>
            Open the execution
          </ButtonLink>
          <ButtonLink small to="/executions" search={{ agent: id } as never}>
            Executions of the agent
          </ButtonLink>
        </p>
      )}
      <DataTable
        name="executions"
        filters={names}
        columns={executionColumns}
        {...list}
        rows={rows}
        idOf={(row) => row.id}
        linkOf={(row) => `/executions/${row.id}`}
        {...(can("execution:cancel", "agent:execute")
          ? {
              bulk: (selected: readonly Row[], clear: () => void) => {
                const begin = (next: BulkWork<Row>) => {
                  setWork(next);
                  done.current = clear;
                };
                return <BulkActions selected={selected} onWork={begin} />;
              },
            }
          : {})}
        empty={
          <Empty
            icon={Activity}
            title="No agent has run yet"
            actions={
              can("agent:list") && (
                <Button look="primary" onClick={() => void navigate({ to: "/agents" })}>
                  Choose an agent to run
                </Button>
              )
            }
          >
            <p className="mt-0 mb-2">An execution is one run of an agent. From a terminal:</p>
            <Cli args="run hello-agent" />
          </Empty>
        }
      />
      <Bulk work={work} onClose={close} />
    </Page>
  );
}

const searched = (row: Row): string =>
  [row.id, row.agent_name, row.summary, row.intent ?? "", row.error ?? "", row.error_code ?? ""]
    .join(" ")
    .toLowerCase();

function BulkActions({
  selected,
  onWork,
}: {
  readonly selected: readonly Row[];
  readonly onWork: (work: BulkWork<Row>) => void;
}) {
  const can = useCan();
  const live = selected.filter(({ status }) => isLive(status));
  const ended = selected.filter(({ status }) => !isLive(status));
  const nameOf = (row: Row) => `${row.agent_name} ${row.id.slice(0, 8)}`;
  return (
    <>
      {can("execution:cancel") && (
        <Button
          small
          look="danger"
          disabled={live.length === 0}
          onClick={() =>
            onWork({
              title: `Cancel ${live.length === 1 ? "one execution" : `${live.length} executions`}?`,
              about: "Those that have ended already are left out. What they wrote stays.",
              verb: "Cancel them",
              danger: true,
              records: live,
              nameOf,
              act: (row) => cancel(row.id),
            })
          }
        >
          <Ban aria-hidden />
          Cancel {live.length > 0 && live.length}
        </Button>
      )}
      {can("agent:execute") && (
        <Button
          small
          disabled={ended.length === 0}
          onClick={() =>
            onWork({
              title: `Start ${ended.length === 1 ? "one execution" : `${ended.length} executions`} again?`,
              about: "Each becomes a new execution with the same input and the same version of its agent.",
              verb: "Start them",
              records: ended,
              nameOf,
              act: (row) => retry(row.id),
            })
          }
        >
          <RotateCcw aria-hidden />
          Retry {ended.length > 0 && ended.length}
        </Button>
      )}
    </>
  );
}
