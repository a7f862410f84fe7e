/** The servers of tools that the tenant has, and what waits there for a person. */

import { Link } from "@tanstack/react-router";
import { Plug, ShieldAlert } from "lucide-react";
import { answer } from "../../../../programs/client/client.ts";
import { svc } from "../../../app/session/api.ts";
import { useCan } from "../../../app/session/session.ts";
import { ButtonLink } from "../../../kit/controls/button.tsx";
import { useList } from "../../../kit/list.ts";
import { Empty } from "../../../kit/page.tsx";
import { type Column, DataTable } from "../../../kit/table.tsx";
import { Cli } from "../../../kit/values/cli.tsx";
import { Badge } from "../../../kit/values/status.tsx";
import { Copyable, inert } from "../../../kit/values/text.tsx";
import { Ago } from "../../../kit/values/time.tsx";
import { faultOf, lastCheck, renewMs, type Server, serverLink, transportWords } from "../words.ts";
import { ServerStatus } from "./server-status.tsx";

const columns: readonly Column<Server>[] = [
  {
    id: "name",
    title: "Server",
    width: "minmax(10rem, 1.5fr)",
    cell: ({ name, tenant_id: tenant, source }) => (
      <span className="flex min-w-0 items-center gap-1.5">
        <Link to={serverLink(name)} className="truncate font-medium text-ink no-underline hover:underline">
          {name}
        </Link>
        {tenant === null && <Badge tone="violet">all tenants</Badge>}
        {source === "file" && <Badge title="The configuration file of the node defines it">file</Badge>}
      </span>
    ),
  },
  {
    id: "status",
    title: "Status",
    width: "7.5rem",
    cell: ({ status, enabled }) => <ServerStatus status={status} enabled={enabled} />,
  },
  {
    id: "tools",
    title: "Tools",
    width: "8.5rem",
    cell: ({ tools_count: count, withheld_tools: withheld }) => (
      <span className="flex items-center gap-1.5">
        {count}
        {withheld.length > 0 && <Badge tone="warn">{withheld.length} withheld</Badge>}
      </span>
    ),
  },
  {
    id: "transport",
    title: "Reached by",
    width: "minmax(9rem, 1.5fr)",
    wide: true,
    cell: ({ transport, url, executable }) => (
      <span className="flex min-w-0 items-center gap-1.5">
        <Badge>{transportWords[transport]}</Badge>
        <span className="truncate font-mono text-ink-soft text-xs">{inert(url ?? executable ?? "")}</span>
      </span>
    ),
  },
  {
    id: "check",
    title: "Last check",
    width: "7rem",
    wide: true,
    cell: (server) => <Ago at={lastCheck(server)} />,
  },
  {
    id: "error",
    title: "Last error",
    width: "minmax(8rem, 2fr)",
    wide: true,
    cell: (server) => {
      const fault = faultOf(server);
      return fault === null ? (
        <span className="text-ink-faint">–</span>
      ) : (
        <span title={inert(fault)} className="block truncate text-bad text-xs">
          {inert(fault)}
        </span>
      );
    },
  },
  { id: "version", title: "Version", width: "5.5rem", right: true, extra: true, cell: ({ version }) => version },
  { id: "id", title: "Id", width: "9.5rem", extra: true, cell: ({ id }) => <Copyable value={id} short /> },
  { id: "changed", title: "Changed", width: "6rem", extra: true, cell: (row) => <Ago at={row.updated_at} /> },
];

export function Servers() {
  const can = useCan();
  const list = useList<Server>(
    ["tool_server", "list"],
    (cursor) =>
      answer(
        svc.GET("/v1/tool-servers", {
          params: { query: { limit: 100, ...(cursor === undefined ? {} : { cursor }) } },
        }),
      ),
    true,
    renewMs,
  );
  const waiting = list.rows.filter(({ withheld_tools: withheld }) => withheld.length > 0);
  return (
    <div className="flex min-w-0 flex-col gap-4">
      {waiting.map(({ name, withheld_tools: withheld }) => (
        <div
          key={name}
          className="flex flex-wrap items-center gap-x-3 gap-y-2 rounded-panel border border-warn/40 bg-warn-soft p-3"
        >
          <ShieldAlert aria-hidden className="size-4 shrink-0 text-warn" />
          <p className="m-0 min-w-52 flex-1">
            <span className="font-medium">{name}</span> changed {countOf(withheld.length, "tool")}.{" "}
            {withheld.length === 1 ? "It" : "They"} cannot be called until a person has looked at that and accepted it.
          </p>
          <ButtonLink small to={serverLink(name)}>
            Look at the changes
          </ButtonLink>
        </div>
      ))}
      <DataTable
        name="tool-servers"
        columns={columns}
        {...list}
        idOf={({ id }) => id}
        linkOf={({ name }) => serverLink(name)}
        empty={
          <Empty
            icon={Plug}
            title="No server of tools yet"
            actions={
              can("tool_server:write") && (
                <ButtonLink to={"/tools/new-server" as never} look="primary">
                  Add a server
                </ButtonLink>
              )
            }
          >
            A server of the Model Context Protocol brings tools that agents call as <code>server.tool</code>. The
            service's own tools are there already, under “All tools”. From a terminal:
            <span className="mt-2 block">
              <Cli args="tools servers create tickets --endpoint https://tickets.example/mcp" />
            </span>
          </Empty>
        }
      />
    </div>
  );
}

const countOf = (count: number, thing: string): string => `${count} ${thing}${count === 1 ? "" : "s"}`;
