/** All tenants of the service. */
import { useQueryClient } from "@tanstack/react-query";
import { Building2, Plus } from "lucide-react";
import { useState } from "react";
import { answer, type Schemas } from "../../../programs/client/client.ts";
import { svc } from "../../app/session/api.ts";
import { useCan } from "../../app/session/session.ts";
import { Button } from "../../kit/controls/button.tsx";
import { Input, Select } from "../../kit/controls/field.tsx";
import { ChoiceFilter, FilterBar, SearchFilter, useFilters } from "../../kit/controls/filters.tsx";
import { FormDialog } from "../../kit/dialogs/form.tsx";
import { tell } from "../../kit/dialogs/toast.tsx";
import { useList } from "../../kit/list.ts";
import { Empty, Page } from "../../kit/page.tsx";
import { type Column, DataTable } from "../../kit/table.tsx";
import { Badge, Status } from "../../kit/values/status.tsx";
import { inert } from "../../kit/values/text.tsx";
import { Ago } from "../../kit/values/time.tsx";

type Tenant = Schemas["Tenant"];

const kinds = ["system", "consumer", "team", "enterprise"] as const;
const states = ["active", "suspended", "deleted"] as const;
export const tiers = ["free", "pro", "business", "enterprise"] as const;
const choices = (values: readonly string[]) => values.map((value) => ({ value, label: value }));

export function Tenants() {
  const can = useCan();
  const queries = useQueryClient();
  const [filters] = useFilters();
  const [isNew, make] = useState(false);
  const kind = kinds.find((one) => one === filters.kind);
  const status = states.find((one) => one === filters.status);
  const tier = [...tiers, "system" as const].find((one) => one === filters.tier);
  const list = useList(["tenant", "list", filters.q, kind, status, tier], (cursor) =>
    answer(
      svc.GET("/v1/admin/tenants", {
        params: {
          query: {
            limit: 100,
            ...(cursor === undefined ? {} : { cursor }),
            ...(filters.q === undefined ? {} : { q: filters.q }),
            ...(kind === undefined ? {} : { kind }),
            ...(status === undefined ? {} : { status }),
            ...(tier === undefined ? {} : { tier }),
          },
        },
      }),
    ),
  );
  const columns: readonly Column<Tenant>[] = [
    {
      id: "name",
      title: "Tenant",
      width: "minmax(12rem, 2fr)",
      cell: (tenant) => (
        <span className="flex items-baseline gap-2">
          <bdi className="truncate font-medium">{inert(tenant.display_name)}</bdi>
          <code className="truncate text-ink-faint text-xs">{tenant.slug}</code>
        </span>
      ),
    },
    { id: "status", title: "Status", width: "7rem", cell: (tenant) => <Status status={tenant.status} /> },
    { id: "tier", title: "Tier", width: "8rem", cell: (tenant) => <Badge tone="info">{tenant.tier}</Badge> },
    { id: "kind", title: "Kind", width: "7rem", wide: true, cell: (tenant) => tenant.kind },
    {
      id: "owner",
      title: "Owner",
      wide: true,
      width: "minmax(8rem, 1fr)",
      cell: (tenant) => <bdi>{inert(tenant.owner_email ?? "–")}</bdi>,
    },
    { id: "created", title: "Created", width: "8rem", wide: true, cell: (tenant) => <Ago at={tenant.created_at} /> },
    { id: "purge", title: "Erased", width: "8rem", extra: true, cell: (tenant) => <Ago at={tenant.purge_at} /> },
  ];
  return (
    <Page
      title="Tenants"
      actions={
        can("tenant:onboard") && (
          <Button look="primary" onClick={() => make(true)}>
            <Plus aria-hidden />
            New tenant
          </Button>
        )
      }
    >
      <FilterBar names={["q", "kind", "status", "tier"]}>
        <SearchFilter name="q" label="Name or slug" />
        <ChoiceFilter name="status" label="Status" single choices={choices(states)} />
        <ChoiceFilter name="kind" label="Kind" single choices={choices(kinds)} />
        <ChoiceFilter name="tier" label="Tier" single choices={choices(tiers)} />
      </FilterBar>
      <DataTable
        {...list}
        name="tenants"
        filters={["q", "kind", "status", "tier"]}
        columns={columns}
        idOf={({ slug }) => slug}
        linkOf={({ slug }) => `/admin/tenants/${slug}`}
        empty={<Empty icon={Building2} title="No tenant yet" />}
      />
      {isNew && (
        <NewTenant onClose={() => make(false)} onDone={() => queries.invalidateQueries({ queryKey: ["tenant"] })} />
      )}
    </Page>
  );
}

function NewTenant({ onClose, onDone }: { readonly onClose: () => void; readonly onDone: () => Promise<unknown> }) {
  const [slug, setSlug] = useState("");
  const [name, setName] = useState("");
  const [email, setEmail] = useState("");
  const [tier, setTier] = useState("business");
  return (
    <FormDialog
      open
      onClose={onClose}
      title="New tenant"
      about="The person with this address becomes its owner at the first sign-in."
      verb="Create"
      disabled={slug === "" || name === ""}
      onSend={async () => {
        const body = {
          slug,
          display_name: name,
          tier: tier as (typeof tiers)[number],
          ...(email === "" ? {} : { owner_email: email }),
        };
        await answer(svc.POST("/v1/admin/tenants", { params: {}, body }));
        tell("Created", name);
        await onDone();
      }}
    >
      <Input label="Slug" value={slug} onChange={setSlug} placeholder="acme" mono required autoFocus />
      <Input label="Name" value={name} onChange={setName} placeholder="Acme Inc." required />
      <Input label="Owner’s e-mail" type="email" value={email} onChange={setEmail} />
      <Select label="Tier" value={tier} choices={choices(tiers)} onChange={setTier} />
    </FormDialog>
  );
}
