/** The hosts: which are there, how they are, and what can be done with several at once. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Hand, Play, Server } from "lucide-react";
import { answer, type Schemas } from "../../../../programs/client/client.ts";
import { svc } from "../../../app/session/api.ts";
import { useCan } from "../../../app/session/session.ts";
import { Button } from "../../../kit/controls/button.tsx";
import { ChoiceFilter, FilterBar, SearchFilter, useFilters } from "../../../kit/controls/filters.tsx";
import { tell, tellError } from "../../../kit/dialogs/toast.tsx";
import { useList } from "../../../kit/list.ts";
import { Empty } from "../../../kit/page.tsx";
import { type Column, DataTable } from "../../../kit/table.tsx";
import { Badge, Status } from "../../../kit/values/status.tsx";
import { inert } from "../../../kit/values/text.tsx";
import { Ago } from "../../../kit/values/time.tsx";
import { AddHost } from "../enrolment/add-host.tsx";
import { useGroups } from "../groups/known-groups.ts";
import { Tags } from "../tags.tsx";
import { counted, holds, partsOf } from "../words.ts";

type Host = Schemas["EdgeHost"];

const columns: readonly Column<Host>[] = [
  {
    id: "name",
    title: "Name",
    width: "minmax(9rem, 1.4fr)",
    cell: ({ name }) => <span className="font-medium">{inert(name)}</span>,
  },
  {
    id: "status",
    title: "State",
    width: "minmax(8rem, 11rem)",
    cell: ({ status, not_accepting: reasons }) => (
      <span className="flex items-center gap-1.5">
        <Status status={status} bare />
        {reasons.length > 0 && (
          <Badge tone="warn" title={reasons.map((reason) => holds[reason]).join("; ")}>
            {reasons.join(", ")}
          </Badge>
        )}
      </span>
    ),
  },
  { id: "tags", title: "Tags", width: "minmax(8rem, 1.4fr)", wide: true, cell: ({ tags }) => <Tags of={tags} /> },
  {
    id: "system",
    title: "System",
    width: "8rem",
    wide: true,
    cell: ({ os, arch }) => <span className="text-ink-soft">{os === null ? "–" : `${os} ${arch ?? ""}`}</span>,
  },
  {
    id: "version",
    title: "Version",
    width: "5.5rem",
    wide: true,
    cell: ({ agent_version }) => <code>{agent_version ?? "–"}</code>,
  },
  {
    id: "running",
    title: "Running",
    width: "5.5rem",
    right: true,
    wide: true,
    cell: ({ running, slots }) => `${running}${slots === null ? "" : ` / ${slots}`}`,
  },
  {
    id: "seen",
    title: "Last seen",
    width: "6rem",
    cell: ({ last_seen_at, status }) => (status === "connected" ? "now" : <Ago at={last_seen_at} />),
  },
  {
    id: "enrolled",
    title: "Enrolled",
    width: "7rem",
    extra: true,
    cell: ({ enrolled_at }) => <Ago at={enrolled_at} />,
  },
];

const statuses = ["connected", "unhealthy", "disconnected", "revoked"] as const;
const statusOf = (text: string | undefined) => statuses.find((status) => status === text);

/** Rows that are read before a page is given up as long enough, of hosts of one group. */
const atLeast = 50;

async function pageOf(
  filters: { readonly tag: string; readonly label: string; readonly status: string },
  members: ReadonlySet<string> | null,
  cursor: string | undefined,
) {
  const status = statusOf(filters.status);
  const items: Host[] = [];
  let next = cursor;
  do {
    const page = await answer(
      svc.GET("/v1/edge/hosts", {
        params: {
          query: {
            tag: [...partsOf(filters.tag)],
            label: [...partsOf(filters.label)],
            ...(status === undefined ? {} : { status, include_revoked: status === "revoked" }),
            ...(next === undefined ? {} : { cursor: next }),
            limit: members === null ? 100 : 500,
          },
        },
      }),
    );
    items.push(...page.items.filter(({ node_id: id }) => members === null || members.has(id)));
    next = page.next_cursor ?? undefined;
  } while (next !== undefined && members !== null && items.length < atLeast);
  return { items, next_cursor: next ?? null };
}

export function Hosts() {
  const can = useCan();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [{ tag = "", label = "", status = "", group = "" }] = useFilters();
  const { data: groups } = useGroups();
  const members = useQuery({
    queryKey: ["host", "list", "members", group],
    queryFn: () => answer(svc.GET("/v1/edge/groups/{id}", { params: { path: { id: group } } })),
    enabled: group !== "",
  });
  const ids = members.data === undefined ? null : members.data.resolved_members.map(({ node_id }) => node_id);
  const list = useList(
    ["host", "list", { tag, label, status, group, members: ids }],
    (cursor) => pageOf({ tag, label, status }, group === "" || ids === null ? null : new Set(ids), cursor),
    group === "" || ids !== null,
  );
  const accept = async (hosts: readonly Host[], accepting: boolean) => {
    const done = await Promise.allSettled(
      hosts.map(({ id }) =>
        answer(svc.PATCH("/v1/edge/hosts/{id}", { params: { path: { id } }, body: { accepting } })),
      ),
    );
    await queries.invalidateQueries({ queryKey: ["host"] });
    const failed = done.find((one) => one.status === "rejected");
    if (failed !== undefined) tellError("Some hosts were not changed", failed.reason);
    else tell(`${counted(hosts.length, "host")} ${accepting ? "take commands again" : "held back"}`);
  };
  return (
    <div className="flex flex-col gap-3">
      <FilterBar names={["tag", "label", "status", "group"]}>
        <SearchFilter name="tag" label="Tags: web eu" />
        <ChoiceFilter name="status" label="State" single choices={statuses.map((value) => ({ value, label: value }))} />
        {groups !== undefined && groups.items.length > 0 && (
          <ChoiceFilter
            name="group"
            label="Group"
            single
            choices={groups.items.map(({ id, name }) => ({ value: id, label: inert(name) }))}
          />
        )}
        <SearchFilter name="label" label="Labels: zone=b" />
      </FilterBar>
      <DataTable
        name="hosts"
        filters={["tag", "label", "status", "group"]}
        columns={columns}
        {...list}
        error={list.error ?? members.error}
        idOf={({ id }) => id}
        linkOf={({ id }) => `/fleet/hosts/${id}`}
        bulk={
          can("aegis.edge.fleet.manage", "aegis.edge.hosts.write")
            ? (selected, clear) => (
                <>
                  {can("aegis.edge.fleet.manage") && (
                    <Button
                      small
                      onClick={() =>
                        void navigate({
                          to: "/fleet/run",
                          search: { hosts: selected.map(({ id }) => id).join(",") } as never,
                        })
                      }
                    >
                      <Play aria-hidden />
                      Run a command
                    </Button>
                  )}
                  {can("aegis.edge.hosts.write") && (
                    <>
                      <Button small onClick={() => void accept(selected, false).then(clear)}>
                        <Hand aria-hidden />
                        Hold back
                      </Button>
                      <Button small onClick={() => void accept(selected, true).then(clear)}>
                        Let work
                      </Button>
                    </>
                  )}
                </>
              )
            : undefined
        }
        empty={
          <Empty icon={Server} title="No host yet" actions={can("aegis.edge.enroll") && <AddHost look="primary" />}>
            A host is a machine with the svc daemon on it. It connects to the service by itself, from behind any
            firewall, and runs only what its own policy allows.
          </Empty>
        }
      />
    </div>
  );
}
