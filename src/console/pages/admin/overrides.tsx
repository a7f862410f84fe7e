/** Limits that hold for one tenant or user instead of their tier's. */
import { useQueryClient } from "@tanstack/react-query";
import { FileClock, Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import { answer, type Schemas } from "../../../programs/client/client.ts";
import { svc } from "../../app/session/api.ts";
import { useCan } from "../../app/session/session.ts";
import { Button, IconButton } from "../../kit/controls/button.tsx";
import { Input, Select } from "../../kit/controls/field.tsx";
import { FilterBar, SearchFilter, useFilters } from "../../kit/controls/filters.tsx";
import { Confirm } from "../../kit/dialogs/dialog.tsx";
import { FormDialog } from "../../kit/dialogs/form.tsx";
import { tell } from "../../kit/dialogs/toast.tsx";
import { useList } from "../../kit/list.ts";
import { Empty, Page } from "../../kit/page.tsx";
import { type Column, DataTable } from "../../kit/table.tsx";
import { inert } from "../../kit/values/text.tsx";
import { Ago } from "../../kit/values/time.tsx";

type Override = Schemas["RateOverride"];

export function Overrides() {
  const can = useCan();
  const queries = useQueryClient();
  const [{ in_tenant: tenant }] = useFilters();
  const [isNew, make] = useState(false);
  const [removed, remove] = useState<Override | null>(null);
  const renew = () => queries.invalidateQueries({ queryKey: ["override"] });
  const list = useList(["override", "list", tenant], (cursor) =>
    answer(
      svc.GET("/v1/admin/rate-limits/overrides", {
        params: {
          query: {
            limit: 100,
            ...(cursor === undefined ? {} : { cursor }),
            ...(tenant === undefined ? {} : { tenant_id: tenant }),
          },
        },
      }),
    ),
  );
  const write = can("ratelimit:write");
  const columns: readonly Column<Override>[] = [
    {
      id: "whom",
      title: "For",
      width: "minmax(10rem, 2fr)",
      cell: (one) => <bdi>{inert(one.user_id === null ? `tenant ${one.tenant_id}` : `user ${one.user_id}`)}</bdi>,
    },
    { id: "resource", title: "Resource", cell: (one) => one.resource_type.replaceAll("_", " ") },
    { id: "bucket", title: "Bucket", width: "8rem", cell: (one) => one.bucket.replaceAll("_", " ") },
    {
      id: "limit",
      title: "Limit",
      right: true,
      width: "6rem",
      cell: ({ limit_value: limit }) => (limit < 0 ? "no limit" : limit.toLocaleString("en")),
    },
    {
      id: "burst",
      title: "Burst",
      right: true,
      width: "6rem",
      wide: true,
      cell: (one) => one.burst_value?.toLocaleString("en") ?? "–",
    },
    { id: "changed", title: "Changed", width: "7rem", wide: true, cell: (one) => <Ago at={one.updated_at} /> },
    {
      id: "actions",
      title: "",
      width: "3rem",
      right: true,
      cell: (one) =>
        write && (
          <IconButton label="Remove" onClick={() => remove(one)}>
            <Trash2 aria-hidden />
          </IconButton>
        ),
    },
  ];
  return (
    <Page
      title="Overrides of limits"
      about="What holds instead of the tier’s limit, for one tenant or one user."
      actions={
        write && (
          <Button look="primary" onClick={() => make(true)}>
            <Plus aria-hidden />
            New override
          </Button>
        )
      }
    >
      <FilterBar names={["in_tenant"]}>
        <SearchFilter name="in_tenant" label="Tenant" />
      </FilterBar>
      <DataTable
        {...list}
        name="overrides"
        filters={["in_tenant"]}
        columns={columns}
        idOf={({ id }) => id}
        empty={<Empty icon={FileClock} title="Every tenant has its tier’s limits" />}
      />
      {isNew && <NewOverride onClose={() => make(false)} onDone={renew} />}
      <Confirm
        open={removed !== null}
        onClose={() => remove(null)}
        danger
        title="Remove this override?"
        about="The tier’s limit holds again at once."
        verb="Remove"
        onConfirm={async () => {
          await svc.DELETE("/v1/admin/rate-limits/overrides/{id}", { params: { path: { id: removed?.id ?? "" } } });
          await renew();
        }}
      />
    </Page>
  );
}

const buckets = ["per_minute", "hourly", "daily", "weekly", "monthly"].map((value) => ({
  value,
  label: value.replace("_", " "),
}));

function NewOverride({ onClose, onDone }: { readonly onClose: () => void; readonly onDone: () => Promise<unknown> }) {
  const [tenant, setTenant] = useState("");
  const [user, setUser] = useState("");
  const [resource, setResource] = useState("agent_execution");
  const [bucket, setBucket] = useState("hourly");
  const [limit, setLimit] = useState("");
  return (
    <FormDialog
      open
      onClose={onClose}
      title="New override"
      about="For a tenant, or for one user of it."
      verb="Set"
      disabled={(tenant === "" && user === "") || !/^(-1|\d+)$/.test(limit)}
      onSend={async () => {
        const body = {
          resource_type: resource,
          bucket,
          limit_value: Number(limit),
          ...(tenant === "" ? {} : { tenant_id: tenant }),
          ...(user === "" ? {} : { user_id: user }),
        };
        await answer(svc.POST("/v1/admin/rate-limits/overrides", { params: {}, body }));
        tell("Set");
        await onDone();
      }}
    >
      <Input label="Tenant" value={tenant} onChange={setTenant} mono autoFocus />
      <Input label="User" value={user} onChange={setUser} mono hint="The subject; empty for the whole tenant" />
      <div className="grid gap-3 sm:grid-cols-3">
        <Input label="Resource" value={resource} onChange={setResource} mono />
        <Select label="Bucket" value={bucket} choices={buckets} onChange={setBucket} />
        <Input label="Limit" type="number" value={limit} onChange={setLimit} hint="-1: no limit" />
      </div>
    </FormDialog>
  );
}
