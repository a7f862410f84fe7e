/** The caller's volumes, and how much of what they may keep is used. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { FolderTree, Plus } from "lucide-react";
import { useState } from "react";
import { answer, type Schemas } from "../../../programs/client/client.ts";
import { svc } from "../../app/session/api.ts";
import { useCan } from "../../app/session/session.ts";
import { Button } from "../../kit/controls/button.tsx";
import { Input, Select } from "../../kit/controls/field.tsx";
import { Confirm } from "../../kit/dialogs/dialog.tsx";
import { useList } from "../../kit/list.ts";
import { Empty, Page } from "../../kit/page.tsx";
import { type Column, DataTable } from "../../kit/table.tsx";
import { Badge, Status } from "../../kit/values/status.tsx";
import { Copyable, inert } from "../../kit/values/text.tsx";
import { Ago } from "../../kit/values/time.tsx";
import { Quota, Used } from "./quota.tsx";

type Row = Schemas["Volume"];

const columns: readonly Column<Row>[] = [
  {
    id: "name",
    title: "Volume",
    width: "minmax(9rem, 2fr)",
    cell: ({ id, label }) => (
      <Link
        to={"/volumes/$id" as never}
        params={{ id } as never}
        className="font-medium text-ink no-underline hover:underline"
      >
        {inert(label)}
      </Link>
    ),
  },
  { id: "status", title: "Status", width: "8rem", wide: true, cell: ({ status }) => <Status status={status} /> },
  {
    id: "used",
    title: "Used",
    width: "minmax(9rem, 1.5fr)",
    cell: ({ used_bytes: used, size_limit_bytes: limit }) => <Used used={used} limit={limit} />,
  },
  {
    id: "files",
    title: "Files",
    width: "5rem",
    right: true,
    wide: true,
    cell: ({ file_count: count }) => count.toLocaleString("en"),
  },
  {
    id: "seen",
    title: "Seen by",
    width: "8rem",
    wide: true,
    cell: ({ visibility }) => <Badge>{visibility === "private" ? "its owner" : "the tenant"}</Badge>,
  },
  { id: "id", title: "Id", width: "9.5rem", wide: true, cell: ({ id }) => <Copyable value={id} short /> },
  { id: "updated", title: "Changed", width: "6rem", cell: (row) => <Ago at={row.updated_at} /> },
];

export function Volumes() {
  const can = useCan();
  const [isAsked, ask] = useState(false);
  const list = useList(["volume", "list"], (cursor) =>
    answer(svc.GET("/v1/volumes", { params: { query: { cursor, limit: 100 } as never } })),
  );
  const quota = useQuery({ queryKey: ["volume", "quota"], queryFn: () => answer(svc.GET("/v1/volumes/quota")) });
  const make = can("volume:write") && (
    <Button look="primary" onClick={() => ask(true)}>
      <Plus aria-hidden />
      New volume
    </Button>
  );
  return (
    <Page title="Volumes" actions={make}>
      {quota.data !== undefined && <Quota quota={quota.data} />}
      <DataTable
        name="volumes"
        columns={columns}
        {...list}
        idOf={({ id }) => id}
        linkOf={({ id }) => `/volumes/${id}`}
        empty={
          <Empty icon={FolderTree} title="There is no volume yet" actions={make}>
            A volume keeps files from one execution to the next: an agent's manifest mounts it by its label.
          </Empty>
        }
      />
      <NewVolume open={isAsked} onClose={() => ask(false)} />
    </Page>
  );
}

function NewVolume({ open, onClose }: { readonly open: boolean; readonly onClose: () => void }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [label, setLabel] = useState("");
  const [visibility, setVisibility] = useState("private");
  return (
    <Confirm
      open={open}
      onClose={onClose}
      title="New volume"
      about="Files in it stay until they are deleted."
      verb="Make the volume"
      onConfirm={async () => {
        const body = { label: label.trim(), visibility: visibility as Row["visibility"] };
        const made = await answer(svc.POST("/v1/volumes", { body }));
        await queries.invalidateQueries({ queryKey: ["volume"] });
        await navigate({ to: "/volumes/$id" as never, params: { id: made.id } as never });
      }}
    >
      <Input label="Label" value={label} onChange={setLabel} autoFocus required placeholder="reports" />
      <Select
        label="Who sees it"
        value={visibility}
        onChange={setVisibility}
        choices={[
          { value: "private", label: "Only me" },
          { value: "tenant", label: "The whole tenant" },
        ]}
      />
    </Confirm>
  );
}
