/** How a server is reached, how it does on each node, and its tools. */

import { useQuery } from "@tanstack/react-query";
import { answer } from "../../../../programs/client/client.ts";
import { svc } from "../../../app/session/api.ts";
import { useCan } from "../../../app/session/session.ts";
import { TextLink } from "../../../kit/controls/link.tsx";
import { Empty, Facts, Loading, Panel, Trouble } from "../../../kit/page.tsx";
import { Badge } from "../../../kit/values/status.tsx";
import { Copyable, inert } from "../../../kit/values/text.tsx";
import { Ago } from "../../../kit/values/time.tsx";
import { Annotations } from "../tool/annotations.tsx";
import { type Server, type ServerTool, toolLink, transportWords } from "../words.ts";
import { ServerStatus } from "./server-status.tsx";

export function Overview({ server }: { readonly server: Server }) {
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <div className="grid items-start gap-4 xl:grid-cols-2">
        <Reached server={server} />
        <Instances server={server} />
      </div>
      <ServerTools server={server} />
    </div>
  );
}

function Reached({ server }: { readonly server: Server }) {
  const { transport, executable, args, url, credentials, environment, egress, capabilities } = server;
  const bound = Object.entries(credentials);
  const variables = Object.entries(environment);
  const program =
    executable === null ? null : (
      <code className="break-all text-xs">{inert([executable, ...args].map(quoted).join(" "))}</code>
    );
  return (
    <Panel title="How it is reached">
      <Facts
        of={[
          ["Transport", transportWords[transport]],
          transport === "stdio"
            ? ["Program", program]
            : ["URL", url === null ? null : <Copyable key="url" value={url} />],
          ...(variables.length > 0 ? [["Environment", <Pairs key="variables" of={variables} />] as const] : []),
          [
            "Credentials",
            bound.length === 0 ? null : <Pairs key="credentials" of={bound} arrow linkOf={credentialLink} />,
          ],
          ...(transport === "stdio"
            ? [["May reach", egress.length === 0 ? "no host" : <Words key="egress" of={egress} />] as const]
            : []),
          [
            "Offers",
            capabilities === null ? "all its tools" : <Words key="offers" of={capabilities.map(({ name }) => name)} />,
          ],
          [
            "Changed tools",
            server.definitions === "pinned" ? "wait until a person accepts them" : "are offered as they are",
          ],
          ["Protocol", server.protocol_version],
          ["A call may take", `${server.call_timeout_seconds} s, ${server.max_concurrent} at once on each node`],
          [
            "Is checked",
            `every ${server.health_check.interval_seconds} s, for ${server.health_check.timeout_seconds} s at most`,
          ],
          ...(transport === "stdio"
            ? [
                [
                  "Limits",
                  <span key="limits" className="flex flex-wrap items-center gap-1.5">
                    {server.resource_limits.cpu_millicores / 1_000} CPU, {server.resource_limits.memory_mb} MiB
                    {server.unenforced_limits.map((limit) => (
                      <Badge key={limit} tone="warn" title="The node cannot hold it to this">
                        {limit} is not enforced
                      </Badge>
                    ))}
                  </span>,
                ] as const,
              ]
            : []),
        ]}
      />
    </Panel>
  );
}

const quoted = (word: string): string => (/^[\w./:=@%+,-]+$/.test(word) ? word : JSON.stringify(word));

/** Where what a server gets comes from. */
function credentialLink(source: string): string | null {
  if (source.startsWith("credential:")) return `/credentials/${source.slice("credential:".length)}`;
  if (source.startsWith("secret:"))
    return `/secrets?prefix=${encodeURIComponent(source.slice("secret:".length).split("#")[0] ?? "")}`;
  return null;
}

function Pairs({
  of,
  arrow = false,
  linkOf = () => null,
}: {
  readonly of: readonly (readonly [name: string, value: string])[];
  readonly arrow?: boolean;
  readonly linkOf?: (value: string) => string | null;
}) {
  return (
    <ul className="m-0 flex list-none flex-col gap-0.5 p-0">
      {of.map(([name, value]) => {
        const link = linkOf(value);
        return (
          <li key={name} className="break-all font-mono text-xs">
            {inert(name)} <span className="text-ink-faint">{arrow ? "←" : "="}</span>{" "}
            {link === null ? inert(value) : <TextLink to={link}>{inert(value)}</TextLink>}
          </li>
        );
      })}
    </ul>
  );
}

function Words({ of }: { readonly of: readonly string[] }) {
  return (
    <span className="flex flex-wrap gap-1">
      {of.map((word) => (
        <Badge key={word}>{inert(word)}</Badge>
      ))}
    </span>
  );
}

function Instances({ server }: { readonly server: Server }) {
  const { instances, enabled } = server;
  const mayRestart = useCan()("tool_server:write");
  return (
    <Panel title="On the nodes">
      {instances.length === 0 ? (
        <Empty title={enabled ? "No node is connected" : "It is disabled"}>
          {enabled
            ? `The first call on a node begins it there${mayRestart ? ", and so does “Restart”" : ""}.`
            : "It has no process and no connection, and its tools are gone."}
        </Empty>
      ) : (
        <ul className="m-0 flex list-none flex-col divide-y divide-line p-0">
          {instances.map((one) => (
            <li key={one.node_id} className="flex flex-col gap-1 py-2 first:pt-0 last:pb-0">
              <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
                <ServerStatus status={one.status} enabled />
                <Copyable value={one.node_id} short />
                {one.pid !== null && <span className="text-ink-soft text-xs">process {one.pid}</span>}
                <span className="text-ink-soft text-xs">
                  {one.restarts} {one.restarts === 1 ? "restart" : "restarts"}
                </span>
              </span>
              <span className="flex flex-wrap gap-x-3 text-ink-soft text-xs">
                <span>
                  since <Ago at={one.started_at} />
                </span>
                <span>
                  last check <Ago at={one.last_health_at} />
                </span>
              </span>
              {one.last_error !== null && (
                <span className="break-words font-mono text-bad text-xs">{inert(one.last_error)}</span>
              )}
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

function ServerTools({ server }: { readonly server: Server }) {
  const { name, status } = server;
  const tools = useQuery({
    // Another number of tools, or of withheld ones, is another list.
    queryKey: ["tool_server", "one", name, "tools", server.tools_count, server.withheld_tools, server.version],
    queryFn: () => answer(svc.GET("/v1/tool-servers/{name}/tools", { params: { path: { name } } })),
    placeholderData: (previous) => previous,
  });
  const items = tools.data?.items ?? [];
  return (
    <Panel flush title="Tools" beside={<Badge>{server.tools_count}</Badge>}>
      {tools.error !== null && tools.data === undefined ? (
        <div className="p-4">
          <Trouble error={tools.error} retry={() => void tools.refetch()} />
        </div>
      ) : tools.data === undefined ? (
        <Loading className="p-4" />
      ) : items.length === 0 ? (
        <Empty title="It has listed no tools yet">
          {status === "starting" ? "It is beginning." : "They are read when it is first connected."}
        </Empty>
      ) : (
        <ul className="m-0 list-none divide-y divide-line p-0">
          {items.map((tool) => (
            <ToolRow key={tool.name} tool={tool} />
          ))}
        </ul>
      )}
    </Panel>
  );
}

function ToolRow({ tool }: { readonly tool: ServerTool }) {
  return (
    <li className="flex flex-col gap-1 px-4 py-2.5 hover:bg-hover">
      <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
        {tool.withheld ? (
          <span className="font-mono font-medium text-ink-soft text-xs">{inert(tool.name)}</span>
        ) : (
          <TextLink to={toolLink(tool.name)} className="font-medium font-mono text-xs">
            {inert(tool.name)}
          </TextLink>
        )}
        {tool.withheld && <Badge tone="warn">withheld</Badge>}
        <Annotations of={tool.annotations} />
        {tool.skip_judge && <Badge title="No tool judge is asked about its calls">no judge</Badge>}
      </span>
      <span dir="auto" className="line-clamp-2 text-ink-soft text-xs">
        {inert(tool.description)}
      </span>
    </li>
  );
}
