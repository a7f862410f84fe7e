/** All agents that the caller may run, with how their last executions ended. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Bot, Plus } from "lucide-react";
import { useMemo } from "react";
import { answer, type Schemas } from "../../../programs/client/client.ts";
import { svc } from "../../app/session/api.ts";
import { useCan } from "../../app/session/session.ts";
import { ButtonLink } from "../../kit/controls/button.tsx";
import { ChoiceFilter, FilterBar, SearchFilter, useFilters } from "../../kit/controls/filters.tsx";
import { useList } from "../../kit/list.ts";
import { Empty, Page } from "../../kit/page.tsx";
import { type Column, DataTable } from "../../kit/table.tsx";
import { Cli } from "../../kit/values/cli.tsx";
import { Badge, Status, wordsOf } from "../../kit/values/status.tsx";
import { Copyable, inert } from "../../kit/values/text.tsx";
import { Ago } from "../../kit/values/time.tsx";

type Row = Schemas["Agent"];
type Ended = Schemas["Execution"];

const statuses = ["active", "paused", "archived"].map((value) => ({ value, label: value }));
const scopes = [
  { value: "tenant", label: "of this tenant" },
  { value: "global", label: "of the platform" },
];
const names = ["q", "status", "scope"];
/** How many of the last results of an agent are shown. */
const lastShown = 8;

export function Agents() {
  const can = useCan();
  const [filters] = useFilters();
  const { q, status, scope } = filters;
  const list = useList(["agent", "list", { q, status, scope }], (cursor) =>
    answer(
      svc.GET("/v1/agents", { params: { query: { q, status, scope, visible: true, cursor, limit: 100 } as never } }),
    ),
  );
  const recent = useQuery({
    queryKey: ["execution", "list", "agents-last"],
    queryFn: () => answer(svc.GET("/v1/executions", { params: { query: { limit: 200 } } })),
    enabled: can("execution:list"),
  });
  const columns = useMemo(() => columnsOf(recent.data?.items ?? []), [recent.data]);
  const mayDeploy = can("agent:deploy");
  const make = mayDeploy && (
    <ButtonLink look="primary" to={"/agents/new" as never}>
      <Plus aria-hidden />
      New agent
    </ButtonLink>
  );
  return (
    <Page title="Agents" actions={make}>
      <FilterBar names={names}>
        <SearchFilter name="q" label="Name or description" />
        <ChoiceFilter name="status" label="Status" choices={statuses} single />
        <ChoiceFilter name="scope" label="Belongs" choices={scopes} single />
      </FilterBar>
      <DataTable
        name="agents"
        filters={names}
        columns={columns}
        {...list}
        idOf={({ id }) => id}
        linkOf={({ id }) => `/agents/${id}`}
        empty={
          <Empty icon={Bot} title="There is no agent yet" actions={make}>
            <p className="mt-0 mb-2">Begin with a template here, with a sample on the home page, or in a terminal:</p>
            <Cli args="agents init agent.yaml" />
          </Empty>
        }
      />
    </Page>
  );
}

const columnsOf = (executions: readonly Ended[]): readonly Column<Row>[] => {
  const byAgent = Map.groupBy(executions, ({ agent_id: id }) => id);
  return [
    {
      id: "name",
      title: "Agent",
      width: "minmax(9rem, 1.4fr)",
      cell: ({ id, name }) => (
        <Link
          to={"/agents/$id" as never}
          params={{ id } as never}
          className="font-medium text-ink no-underline hover:underline"
        >
          {inert(name)}
        </Link>
      ),
    },
    { id: "status", title: "Status", width: "7.5rem", cell: ({ status }) => <Status status={status} /> },
    {
      id: "version",
      title: "Version",
      width: "8rem",
      wide: true,
      cell: ({ version, revision, scope }) => (
        <span className="flex items-center gap-1">
          <Badge title={`revision ${revision}`}>{inert(version)}</Badge>
          {scope === "global" && <Badge tone="violet">global</Badge>}
        </span>
      ),
    },
    {
      id: "last",
      title: "Last results",
      width: "10rem",
      cell: ({ id }) => <Last of={(byAgent.get(id) ?? []).slice(0, lastShown)} />,
    },
    {
      id: "about",
      title: "What it does",
      width: "minmax(10rem, 3fr)",
      wide: true,
      cell: ({ description }) => <span className="text-ink-soft">{inert((description ?? "").slice(0, 300))}</span>,
    },
    {
      id: "count",
      title: "Executions",
      width: "6rem",
      right: true,
      wide: true,
      cell: ({ execution_count: count }) => count.toLocaleString("en"),
    },
    { id: "deployed", title: "Deployed", width: "6rem", wide: true, cell: (row) => <Ago at={row.deployed_at} /> },
    {
      id: "id",
      title: "Id",
      width: "9.5rem",
      wide: true,
      extra: true,
      cell: ({ id }) => <Copyable value={id} short />,
    },
  ];
};

/** The newest first, each a sign that leads to it. */
function Last({ of }: { readonly of: readonly Ended[] }) {
  if (of.length === 0) return <span className="text-ink-faint">–</span>;
  return (
    <span className="flex items-center gap-0.5">
      {of.map(({ id, status, waiting_for: waiting, summary, error }) => (
        <Link
          key={id}
          to="/executions/$id"
          params={{ id }}
          tabIndex={-1}
          aria-label={wordsOf(waiting === null ? status : "waiting")}
          title={inert(`${wordsOf(status)}: ${error ?? summary}`.slice(0, 200))}
          className="flex rounded hover:bg-hover"
        >
          <Status status={waiting === null ? status : "waiting"} label="" bare />
        </Link>
      ))}
    </span>
  );
}
