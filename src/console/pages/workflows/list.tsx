/** Definitions of workflows. */
import { Plus, Workflow as WorkflowIcon } from "lucide-react";
import { answer, type Schemas } from "../../../programs/client/client.ts";
import { svc } from "../../app/session/api.ts";
import { useCan } from "../../app/session/session.ts";
import { ButtonLink } from "../../kit/controls/button.tsx";
import { FilterBar, SearchFilter, useFilters } from "../../kit/controls/filters.tsx";
import { useList } from "../../kit/list.ts";
import { Empty, Page } from "../../kit/page.tsx";
import { type Column, DataTable } from "../../kit/table.tsx";
import { Cli } from "../../kit/values/cli.tsx";
import { Badge } from "../../kit/values/status.tsx";
import { inert } from "../../kit/values/text.tsx";
import { Ago } from "../../kit/values/time.tsx";

type Workflow = Schemas["Workflow"];

const columns: readonly Column<Workflow>[] = [
  {
    id: "name",
    title: "Name",
    width: "minmax(9rem, 1.2fr)",
    cell: ({ name }) => <span className="font-medium">{inert(name)}</span>,
  },
  {
    id: "description",
    title: "What it does",
    wide: true,
    width: "minmax(10rem, 2fr)",
    cell: ({ description }) => inert(description),
  },
  { id: "version", title: "Version", width: "6rem", cell: ({ version }) => inert(version) },
  { id: "scope", title: "Scope", wide: true, width: "5rem", cell: ({ scope }) => <Badge>{scope}</Badge> },
  {
    id: "runs",
    title: "Runs",
    wide: true,
    right: true,
    width: "5rem",
    cell: ({ execution_count }) => execution_count.toLocaleString("en"),
  },
  { id: "updated", title: "Changed", width: "7rem", cell: ({ updated_at }) => <Ago at={updated_at} /> },
];

export function Workflows() {
  const can = useCan();
  const [{ q, tag }] = useFilters();
  const list = useList<Workflow>(["workflow", "list", q, tag], (cursor) =>
    answer(
      svc.GET("/v1/workflows", {
        params: {
          query: {
            visible: true,
            limit: 100,
            ...(q === undefined ? {} : { q }),
            ...(tag === undefined ? {} : { tag }),
            ...(cursor === undefined ? {} : { cursor }),
          },
        },
      }),
    ),
  );
  const make = can("workflow:deploy") && (
    <ButtonLink to="/workflows/new" look="primary">
      <Plus aria-hidden />
      New workflow
    </ButtonLink>
  );
  return (
    <Page title="Workflows" actions={make}>
      <FilterBar names={["q", "tag"]}>
        <SearchFilter name="q" label="Name or description" />
        <SearchFilter name="tag" label="Tag" />
      </FilterBar>
      <DataTable
        {...list}
        name="workflows"
        filters={["q", "tag"]}
        columns={columns}
        idOf={({ id }) => id}
        linkOf={({ name }) => `/workflows/${name}`}
        empty={
          <Empty icon={WorkflowIcon} title="No workflow yet" actions={make}>
            <p className="mt-0 mb-2">A workflow leads agents, commands and people through states.</p>
            <Cli args="workflows register release.yaml" />
          </Empty>
        }
      />
    </Page>
  );
}
