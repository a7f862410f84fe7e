/** One host: how it is, what it can do, what it ran. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { Hand, MoreHorizontal, Pencil, Play, Trash2 } from "lucide-react";
import { useState } from "react";
import { answer, type Schemas } from "../../../../programs/client/client.ts";
import { svc } from "../../../app/session/api.ts";
import { useCan } from "../../../app/session/session.ts";
import { Who } from "../../../app/who.tsx";
import { Button, ButtonLink, IconButton } from "../../../kit/controls/button.tsx";
import { Input } from "../../../kit/controls/field.tsx";
import { Menu } from "../../../kit/controls/menu.tsx";
import { Confirm } from "../../../kit/dialogs/dialog.tsx";
import { tell, tellError } from "../../../kit/dialogs/toast.tsx";
import { Empty, Facts, Loading, Page, Panel, Trouble } from "../../../kit/page.tsx";
import { type Column, DataTable } from "../../../kit/table.tsx";
import { Badge, Status } from "../../../kit/values/status.tsx";
import { Copyable, inert } from "../../../kit/values/text.tsx";
import { Ago, durationText } from "../../../kit/values/time.tsx";
import { Tags } from "../tags.tsx";
import { holds, partsOf } from "../words.ts";

type Host = Schemas["EdgeHostDetail"];
type Ran = Host["recent_commands"][number];

export function HostPage() {
  const { id = "" } = useParams({ strict: false }) as { readonly id?: string };
  const { data, error, refetch } = useQuery({
    queryKey: ["host", "one", id],
    queryFn: () => answer(svc.GET("/v1/edge/hosts/{id}", { params: { path: { id } } })),
  });
  if (data === undefined)
    return (
      <Page title="Host">{error === null ? <Loading /> : <Trouble error={error} retry={() => void refetch()} />}</Page>
    );
  return <Shown host={data} />;
}

function Shown({ host }: { readonly host: Host }) {
  const can = useCan();
  const { capabilities } = host;
  return (
    <Page
      title={host.name}
      beside={<Status status={host.status} />}
      about={
        <>
          <Copyable value={host.id} short />
          <span>
            {host.status} since <Ago at={host.since} />
          </span>
          <span>
            enrolled <Ago at={host.enrolled_at} /> by <Who of={{ sub: host.created_by }} />
          </span>
        </>
      }
      actions={
        host.status !== "revoked" && (
          <>
            {can("aegis.edge.fleet.manage") && (
              <ButtonLink to="/fleet/run" search={{ hosts: host.id } as never} look="primary">
                <Play aria-hidden />
                Run a command
              </ButtonLink>
            )}
            {can("aegis.edge.hosts.write") && <Changes host={host} />}
          </>
        )
      }
    >
      {!host.accepting && host.status !== "revoked" && (
        <div role="status" className="rounded-panel border border-warn/40 bg-warn-soft p-3 text-warn">
          <p className="m-0 font-medium">
            This host gets no new commands: {host.not_accepting.map((one) => holds[one]).join("; ")}.
          </p>
          {host.not_accepting.includes("cloned") && (
            <p className="m-0 mt-1 text-xs">
              Stop one of the two, then let this host work again. If you do not know the other, revoke the host and
              enrol the machine anew.
            </p>
          )}
        </div>
      )}
      <div className="grid gap-4 xl:grid-cols-[minmax(0,1fr)_minmax(0,1.6fr)]">
        <div className="flex min-w-0 flex-col gap-4">
          <Panel title="Host">
            <Facts
              of={[
                ["Tags", <Tags key="tags" of={host.tags} />],
                [
                  "Labels",
                  <Tags key="labels" of={Object.entries(host.labels).map(([name, value]) => `${name}=${value}`)} />,
                ],
                ["System", host.os === null ? null : `${host.os} ${host.arch ?? ""}`],
                [
                  "Machine",
                  capabilities.cpu_cores === undefined
                    ? null
                    : `${capabilities.cpu_cores} cores, ${Math.round((capabilities.memory_mb ?? 0) / 1024)} GiB`,
                ],
                ["Daemon", host.agent_version === null ? null : <code key="version">{inert(host.agent_version)}</code>],
                ["Running", `${host.running}${host.slots === null ? "" : ` of ${host.slots} at once`}`],
                ["Heartbeat", <Ago key="beat" at={host.last_heartbeat_at} />],
                [
                  "Connected to",
                  host.connection === null ? null : <Copyable key="node" value={host.connection.service_node} short />,
                ],
                ["Key", <Copyable key="key" value={host.key_fingerprint} short />],
              ]}
            />
          </Panel>
          <Panel title="What its policy can allow">
            <div className="flex flex-col gap-3">
              <Facts
                of={[
                  ["Tools", <Tags key="tools" of={capabilities.tools} />],
                  ["Programs", <Tags key="programs" of={capabilities.local_tools} />],
                  ...(capabilities.mount_points.length === 0
                    ? []
                    : [["Mounts", <Tags key="mounts" of={capabilities.mount_points} />] as const]),
                ]}
              />
              <p className="m-0 text-ink-soft text-xs">
                The host advertises this. What a command may really do is decided on the host by its own{" "}
                <code>config.yaml</code>; the service can neither read nor widen it.
              </p>
            </div>
          </Panel>
        </div>
        <Commands ran={host.recent_commands} />
      </div>
    </Page>
  );
}

const ranColumns: readonly Column<Ran>[] = [
  { id: "tool", title: "Tool", cell: ({ tool }) => <code>{tool}</code> },
  { id: "status", title: "Result", width: "8rem", cell: ({ outcome }) => <Status status={outcome} bare /> },
  { id: "exit", title: "Exit", width: "4rem", right: true, cell: ({ exit_code }) => exit_code ?? "–" },
  {
    id: "took",
    title: "Took",
    width: "5.5rem",
    right: true,
    cell: ({ duration_ms }) => (duration_ms === null ? "–" : durationText(duration_ms)),
  },
  { id: "when", title: "Sent", width: "6rem", cell: ({ dispatched_at }) => <Ago at={dispatched_at} /> },
  {
    id: "run",
    title: "Run",
    width: "8rem",
    wide: true,
    cell: ({ fleet_command_id: run }) => (
      <Link to={`/fleet/runs/${run}`} className="text-accent hover:underline">
        <code>{run.slice(0, 8)}…</code>
      </Link>
    ),
  },
];

function Commands({ ran }: { readonly ran: readonly Ran[] }) {
  return (
    <div className="min-w-0">
      <h2 className="m-0 mb-2 font-semibold text-[0.95rem]">Newest commands</h2>
      <DataTable
        name="host-commands"
        columns={ranColumns}
        rows={ran}
        idOf={({ command_id }) => command_id}
        linkOf={({ fleet_command_id }) => `/fleet/runs/${fleet_command_id}`}
        empty={<Empty title="It ran nothing yet" />}
      />
    </div>
  );
}

function Changes({ host }: { readonly host: Host }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [open, setOpen] = useState<"edit" | "revoke" | null>(null);
  const [name, setName] = useState(host.name);
  const [tags, setTags] = useState(host.tags.join(" "));
  const renew = () => queries.invalidateQueries({ queryKey: ["host"] });
  const patch = (body: { accepting?: boolean; name?: string; tags?: string[] }) =>
    answer(svc.PATCH("/v1/edge/hosts/{id}", { params: { path: { id: host.id } }, body }));
  const isHeld = host.not_accepting.some((reason) => reason === "held" || reason === "cloned");
  const accept = async () => {
    try {
      await patch({ accepting: isHeld });
      await renew();
      tell(isHeld ? "The host takes commands again" : "The host is held back");
    } catch (error) {
      tellError("The host was not changed", error);
    }
  };
  return (
    <>
      <Button onClick={() => void accept()}>
        <Hand aria-hidden />
        {isHeld ? "Let work again" : "Hold back"}
      </Button>
      <Menu
        trigger={
          <IconButton label="More" look="plain">
            <MoreHorizontal aria-hidden />
          </IconButton>
        }
        items={[
          { label: "Name and tags", icon: Pencil, onClick: () => setOpen("edit") },
          { label: "Revoke", icon: Trash2, danger: true, onClick: () => setOpen("revoke") },
        ]}
      />
      <Confirm
        open={open === "edit"}
        onClose={() => setOpen(null)}
        title="Name and tags"
        about="Tags decide which runs reach this host, and groups that select by them."
        verb="Save"
        onConfirm={async () => {
          await patch({ name, tags: [...partsOf(tags)] });
          await renew();
        }}
      >
        <Input label="Name" value={name} onChange={setName} />
        <Input label="Tags" value={tags} onChange={setTags} placeholder="web eu" />
      </Confirm>
      <Confirm
        open={open === "revoke"}
        onClose={() => setOpen(null)}
        title={`Revoke ${inert(host.name)}?`}
        about={
          <>
            Its key opens nothing any more, for ever. <Badge tone="warn">{host.running} running</Badge> commands on it
            count as lost. To come back, the machine needs a new token and gets a new id.
          </>
        }
        verb="Revoke the host"
        danger
        typed={host.name}
        onConfirm={async () => {
          await svc.DELETE("/v1/edge/hosts/{id}", { params: { path: { id: host.id } } });
          await renew();
          await navigate({ to: "/fleet" });
        }}
      />
    </>
  );
}
