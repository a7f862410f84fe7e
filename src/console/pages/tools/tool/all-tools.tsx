/** Every tool that the tenant has, or that a security context lets be called. */

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Wrench } from "lucide-react";
import { answer } from "../../../../programs/client/client.ts";
import { svc } from "../../../app/session/api.ts";
import { useCan } from "../../../app/session/session.ts";
import { ChoiceFilter, FilterBar, SearchFilter, useFilters } from "../../../kit/controls/filters.tsx";
import { TextLink } from "../../../kit/controls/link.tsx";
import { useList } from "../../../kit/list.ts";
import { Empty } from "../../../kit/page.tsx";
import { type Column, DataTable } from "../../../kit/table.tsx";
import { Cli } from "../../../kit/values/cli.tsx";
import { Badge } from "../../../kit/values/status.tsx";
import { inert } from "../../../kit/values/text.tsx";
import { serverLink, type Tool, toolLink } from "../words.ts";
import { Annotations } from "./annotations.tsx";

const sources = [
  { value: "builtin", label: "Built in" },
  { value: "management", label: "Management" },
  { value: "mcp", label: "Of servers" },
  { value: "edge", label: "Of edge hosts" },
];

const executors = { sandbox: "the sandbox", server: "the service", edge: "an edge host" } as const;

const columns: readonly Column<Tool>[] = [
  {
    id: "name",
    title: "Tool",
    width: "minmax(12rem, 1.6fr)",
    cell: ({ name }) => (
      <Link
        to={toolLink(name) as never}
        className="block truncate font-medium font-mono text-ink text-xs no-underline hover:underline"
      >
        {inert(name)}
      </Link>
    ),
  },
  {
    id: "about",
    title: "What it does",
    width: "minmax(10rem, 3fr)",
    wide: true,
    cell: ({ description }) => (
      <span title={inert(description)} className="block truncate text-ink-soft">
        {inert(description)}
      </span>
    ),
  },
  {
    id: "hints",
    title: "It says",
    width: "13rem",
    cell: ({ annotations }) => (
      <span className="flex gap-1 overflow-hidden">
        <Annotations of={annotations} />
      </span>
    ),
  },
  {
    id: "source",
    title: "From",
    width: "8.5rem",
    wide: true,
    cell: ({ source, server }) =>
      server === undefined ? (
        (sources.find(({ value }) => value === source)?.label ?? source)
      ) : (
        <TextLink to={serverLink(server)}>{server}</TextLink>
      ),
  },
  { id: "runs", title: "Runs in", width: "8rem", wide: true, cell: ({ executor }) => executors[executor] },
  {
    id: "aliases",
    title: "Also named",
    width: "minmax(8rem, 1fr)",
    extra: true,
    cell: ({ aliases }) => <span className="truncate font-mono text-xs">{inert(aliases.join(", "))}</span>,
  },
];

export function AllTools() {
  const can = useCan();
  const [{ q, source, context }] = useFilters();
  const contexts = useQuery({
    queryKey: ["security_context", "list", "names"],
    queryFn: () => answer(svc.GET("/v1/security-contexts", { params: { query: { limit: 500 } } })),
    enabled: can("security_context:read"),
  });
  const list = useList<Tool>(["tool", "list", { q, source, context }], (cursor) => {
    const filters = { q, source, security_context: context };
    const given = Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined));
    const query = { limit: 100, ...(cursor === undefined ? {} : { cursor }), ...given };
    return answer(svc.GET("/v1/seal/tools", { params: { query } }));
  });
  return (
    <div className="flex min-w-0 flex-col gap-3">
      <FilterBar names={["q", "source", "context"]}>
        <SearchFilter name="q" label="Part of a name or description" />
        <ChoiceFilter name="source" label="From" choices={sources} single />
        {contexts.data !== undefined && (
          <ChoiceFilter
            name="context"
            label="Opened by"
            single
            choices={contexts.data.items.map(({ name }) => ({ value: name, label: name }))}
          />
        )}
      </FilterBar>
      <DataTable
        name="tools"
        filters={["q", "source", "context"]}
        columns={columns}
        {...list}
        idOf={({ name }) => name}
        linkOf={({ name }) => toolLink(name)}
        empty={
          <Empty icon={Wrench} title="No tools">
            A server brings some. From a terminal:
            <span className="mt-2 block">
              <Cli args="tools list" />
            </span>
          </Empty>
        }
      />
    </div>
  );
}

/** Where a tool comes from, in words. */
export function Source({ tool }: { readonly tool: Tool }) {
  const { source, server, executor } = tool;
  return (
    <>
      {server === undefined ? (
        <Badge>{sources.find(({ value }) => value === source)?.label ?? source}</Badge>
      ) : (
        <span>
          of <TextLink to={serverLink(server)}>{server}</TextLink>
        </span>
      )}
      <span>runs in {executors[executor]}</span>
    </>
  );
}
