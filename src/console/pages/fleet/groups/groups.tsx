/** Groups: hosts that are chosen by what they are, and some by name. */

import { Boxes, Plus } from "lucide-react";
import { answer, type Schemas } from "../../../../programs/client/client.ts";
import { svc } from "../../../app/session/api.ts";
import { useCan } from "../../../app/session/session.ts";
import { ButtonLink } from "../../../kit/controls/button.tsx";
import { useList } from "../../../kit/list.ts";
import { Empty } from "../../../kit/page.tsx";
import { type Column, DataTable } from "../../../kit/table.tsx";
import { Cli } from "../../../kit/values/cli.tsx";
import { inert } from "../../../kit/values/text.tsx";
import { Ago } from "../../../kit/values/time.tsx";
import { selectorWords } from "./selector.ts";

const columns: readonly Column<Schemas["EdgeGroup"]>[] = [
  {
    id: "name",
    title: "Name",
    width: "minmax(9rem, 1fr)",
    cell: ({ name }) => <span className="font-medium">{inert(name)}</span>,
  },
  {
    id: "selects",
    title: "Selects",
    width: "minmax(8rem, 2fr)",
    cell: ({ selector }) => <span className="text-ink-soft">{inert(selectorWords(selector))}</span>,
  },
  {
    id: "pinned",
    title: "Pinned",
    width: "5rem",
    right: true,
    wide: true,
    cell: ({ pinned_members }) => pinned_members.length,
  },
  {
    id: "members",
    title: "Hosts",
    width: "5rem",
    right: true,
    cell: ({ resolved_member_count }) => resolved_member_count,
  },
  { id: "changed", title: "Changed", width: "7rem", wide: true, cell: ({ updated_at }) => <Ago at={updated_at} /> },
];

export function Groups() {
  const can = useCan();
  const list = useList(["host", "list", "all-groups"], (cursor) =>
    answer(
      svc.GET("/v1/edge/groups", { params: { query: { limit: 100, ...(cursor === undefined ? {} : { cursor }) } } }),
    ),
  );
  const add = can("aegis.edge.groups.write") && (
    <ButtonLink to="/fleet/groups/new">
      <Plus aria-hidden />
      New group
    </ButtonLink>
  );
  return (
    <div className="flex flex-col gap-3">
      {list.rows.length > 0 && <div className="flex justify-end">{add}</div>}
      <DataTable
        name="groups"
        columns={columns}
        {...list}
        idOf={({ id }) => id}
        linkOf={({ id }) => `/fleet/groups/${id}`}
        empty={
          <Empty icon={Boxes} title="No group yet" actions={add}>
            <p className="mt-0 mb-2">
              A group names hosts by what they are, so that a run reaches those that fit when it starts. From a
              terminal:
            </p>
            <Cli args="edge group create web-servers --selector tags=web" />
          </Empty>
        }
      />
    </div>
  );
}
