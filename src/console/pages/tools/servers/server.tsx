/** One server of tools: how it does, what it changed, its tools, what it writes, how it is set up. */

import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { answer } from "../../../../programs/client/client.ts";
import { svc } from "../../../app/session/api.ts";
import { useCan, useMe } from "../../../app/session/session.ts";
import { useFilters } from "../../../kit/controls/filters.tsx";
import { TextLink } from "../../../kit/controls/link.tsx";
import { Tabs } from "../../../kit/controls/tabs.tsx";
import { Loading, Page, Trouble } from "../../../kit/page.tsx";
import { Badge } from "../../../kit/values/status.tsx";
import { Copyable, inert } from "../../../kit/values/text.tsx";
import { Ago } from "../../../kit/values/time.tsx";
import { renewMs, type Server } from "../words.ts";
import { EditServer } from "./edit-server.tsx";
import { Logs } from "./logs.tsx";
import { Overview } from "./overview.tsx";
import { ServerActions } from "./server-actions.tsx";
import { ServerStatus } from "./server-status.tsx";
import { Withheld } from "./withheld.tsx";

/** While it begins, its state is read more often, ms. */
const startingMs = 1_500;

export function ServerPage() {
  const { name = "" } = useParams({ strict: false }) as { name?: string };
  const server = useQuery({
    queryKey: ["tool_server", "one", name],
    queryFn: () => answer(svc.GET("/v1/tool-servers/{name}", { params: { path: { name } } })),
    // No stream tells of servers.
    refetchInterval: ({ state }) =>
      state.data === undefined ? false : state.data.status === "starting" ? startingMs : renewMs,
  });
  if (server.data === undefined)
    return (
      <Page title={name} about={<TextLink to="/tools">Tools</TextLink>}>
        {server.error === null ? (
          <Loading lines={8} />
        ) : (
          <Trouble error={server.error} retry={() => void server.refetch()} />
        )}
      </Page>
    );
  return <Shown key={server.data.id} server={server.data} />;
}

function Shown({ server }: { readonly server: Server }) {
  const can = useCan();
  const { operator } = useMe();
  const [{ tab = "overview" }, change] = useFilters();
  const { name, tenant_id: tenant, status, enabled } = server;
  const mayManage = can("tool_server:write") && (tenant !== null || operator);
  // A program of the host is defined by operators; a file is changed as a file.
  const mayEdit = mayManage && server.source === "api" && (server.transport !== "stdio" || operator);
  const tabs = [
    { id: "overview", label: "Overview", content: <Overview server={server} /> },
    ...(tenant !== null || operator ? [{ id: "logs", label: "Logs", content: <Logs name={name} /> }] : []),
    ...(mayEdit ? [{ id: "settings", label: "Settings", content: <EditServer server={server} /> }] : []),
  ];
  return (
    <Page
      title={name}
      beside={
        <>
          <ServerStatus status={status} enabled={enabled} />
          {tenant === null && <Badge tone="violet">all tenants</Badge>}
          {server.source === "file" && <Badge title="The configuration file of the node defines it">file</Badge>}
        </>
      }
      about={
        <>
          <TextLink to="/tools">Tools</TextLink>
          <Copyable value={server.id} short />
          <span>version {server.version}</span>
          <span>
            changed <Ago at={server.updated_at} />
          </span>
        </>
      }
      actions={mayManage && <ServerActions server={server} />}
    >
      <Fault server={server} mayRestart={mayManage} />
      {server.withheld_tools.length > 0 && <Withheld server={server} mayAccept={mayManage} />}
      <Tabs
        tabs={tabs}
        chosen={tabs.some(({ id }) => id === tab) ? tab : "overview"}
        onChoose={(id) => change({ tab: id === "overview" ? "" : id })}
      />
    </Page>
  );
}

/** Why it does not run, and what to do about it. */
function Fault({ server, mayRestart }: { readonly server: Server; readonly mayRestart: boolean }) {
  const { status, instances } = server;
  const faulty = instances.filter((one) => one.last_error !== null && one.status !== "running");
  if (faulty.length === 0) return null;
  const isOver = status === "failed";
  return (
    <div
      role="status"
      className={`rounded-panel border p-3 ${isOver ? "border-bad/40 bg-bad-soft" : "border-warn/40 bg-warn-soft"}`}
    >
      <p className={`m-0 font-medium ${isOver ? "text-bad" : "text-warn"}`}>
        {isOver
          ? "It failed ten times in a row, and is not begun again by itself. Its calls fail until it is restarted or changed."
          : "It is begun again by itself, after a pause that doubles up to a minute."}
      </p>
      <ul className="mt-1.5 mb-0 list-none p-0 text-xs">
        {faulty.map(({ node_id: node, last_error: error, restarts }) => (
          <li key={node} className="flex flex-wrap items-center gap-x-2 py-0.5">
            <span className="text-ink-soft">
              node <Copyable value={node} short />
            </span>
            <span className="min-w-0 break-words font-mono">{inert(error ?? "")}</span>
            <span className="text-ink-soft">
              {restarts} {restarts === 1 ? "fault" : "faults"}
            </span>
          </li>
        ))}
      </ul>
      <p className="mt-1.5 mb-0 text-ink-soft text-xs">
        What it writes before it ends stands under “Logs”.
        {mayRestart && " Once the cause is mended, “Restart” begins it at once."}
      </p>
    </div>
  );
}
