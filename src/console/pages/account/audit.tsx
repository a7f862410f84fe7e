/** The audit log: who did what to what, and whether it was allowed. */
import { ScrollText } from "lucide-react";
import { useState } from "react";
import { answer, type Schemas } from "../../../programs/client/client.ts";
import { svc } from "../../app/session/api.ts";
import { useMe } from "../../app/session/session.ts";
import { Button } from "../../kit/controls/button.tsx";
import { Select } from "../../kit/controls/field.tsx";
import { ChoiceFilter, FilterBar, type Filters, SearchFilter, useFilters } from "../../kit/controls/filters.tsx";
import { Dialog } from "../../kit/dialogs/dialog.tsx";
import { tellError } from "../../kit/dialogs/toast.tsx";
import { useList } from "../../kit/list.ts";
import { Empty, Facts, Page } from "../../kit/page.tsx";
import { type Column, DataTable } from "../../kit/table.tsx";
import { Value } from "../../kit/values/json.tsx";
import { Status, wordsOf } from "../../kit/values/status.tsx";
import { Copyable, inert } from "../../kit/values/text.tsx";
import { Ago } from "../../kit/values/time.tsx";
import { saveAs } from "./save.ts";

type Entry = Schemas["AuditEntry"];

const outcomes = ["allowed", "denied", "failed"] as const;
const signs: Readonly<Record<Entry["outcome"], string>> = {
  allowed: "completed",
  denied: "rejected",
  failed: "failed",
};

/** What the route takes of the address. */
function queryOf(filters: Filters) {
  const outcome = outcomes.find((one) => one === filters.outcome);
  const { action, actor, target_type, since } = filters;
  return {
    ...(outcome === undefined ? {} : { outcome }),
    ...(action === undefined ? {} : { action }),
    ...(actor === undefined ? {} : { actor }),
    ...(target_type === undefined ? {} : { target_type }),
    ...(since === undefined ? {} : { since: new Date(Date.now() - Number(since) * 3_600_000).toISOString() }),
  };
}

const spans = [
  { value: "", label: "any time" },
  { value: "1", label: "last hour" },
  { value: "24", label: "last day" },
  { value: "168", label: "last week" },
];

export function Audit() {
  const { operator } = useMe();
  const [filters, change] = useFilters();
  const [opened, open] = useState<Entry | null>(null);
  const everywhere = operator && filters.where === "all";
  const query = queryOf(filters);
  const list = useList(["audit", "list", filters], (cursor) => {
    const params = { query: { ...query, limit: 100, ...(cursor === undefined ? {} : { cursor }) } };
    return everywhere ? answer(svc.GET("/v1/admin/audit", { params })) : answer(svc.GET("/v1/audit", { params }));
  });
  const save = async () => {
    const text = new URLSearchParams({ ...query, format: "ndjson" }).toString();
    const response = await svc.send(`${everywhere ? "/v1/admin/audit" : "/v1/audit"}?${text}`);
    saveAs(await response.blob(), "audit.ndjson");
  };
  const columns: readonly Column<Entry>[] = [
    { id: "at", title: "When", width: "6rem", cell: ({ at }) => <Ago at={at} /> },
    {
      id: "actor",
      title: "Who",
      width: "minmax(8rem, 1.5fr)",
      cell: ({ actor }) =>
        actor.name === null && actor.user_id !== null ? (
          <Named id={actor.user_id} />
        ) : (
          <bdi>{inert(actor.name ?? wordsOf(actor.kind))}</bdi>
        ),
    },
    {
      id: "action",
      title: "Action",
      width: "minmax(9rem, 1.5fr)",
      lead: true,
      cell: ({ action }) => <code>{action}</code>,
    },
    {
      id: "target",
      title: "Target",
      width: "minmax(10rem, 2fr)",
      wide: true,
      cell: ({ target }) => (
        <span className="flex gap-1.5">
          <span className="text-ink-soft">{target.type.replaceAll("_", " ")}</span>
          <Named id={target.id} />
        </span>
      ),
    },
    {
      id: "outcome",
      title: "Outcome",
      width: "7rem",
      cell: ({ outcome }) => <Status status={signs[outcome]} label={outcome} />,
    },
    { id: "tenant", title: "Tenant", extra: !everywhere, cell: ({ tenant_id }) => tenant_id },
    { id: "ip", title: "Address", extra: true, cell: ({ ip }) => ip ?? "–" },
  ];
  return (
    <Page
      title="Audit log"
      about="Everything that was changed or refused, in order, sealed by a chain of digests."
      actions={
        <Button onClick={() => save().catch((error: unknown) => tellError("The log was not exported", error))}>
          Export
        </Button>
      }
    >
      <FilterBar names={["action", "actor", "outcome", "target_type", "since", "where"]}>
        <SearchFilter name="action" label="Action, as in agent.deployed" />
        <SearchFilter name="actor" label="Who" />
        <ChoiceFilter
          name="outcome"
          label="Outcome"
          single
          choices={outcomes.map((value) => ({ value, label: value }))}
        />
        <Select
          quiet
          label="Time"
          value={filters.since ?? ""}
          choices={spans}
          onChange={(since) => change({ since })}
          className="w-32"
        />
        {operator && (
          <ChoiceFilter name="where" label="Tenants" single choices={[{ value: "all", label: "all tenants" }]} />
        )}
      </FilterBar>
      <DataTable
        {...list}
        name="audit"
        filters={["action", "actor", "outcome", "target_type", "since"]}
        columns={columns}
        idOf={({ id }) => id}
        onOpen={open}
        empty={<Empty icon={ScrollText} title="Nothing was changed or refused yet" />}
      />
      <Dialog open={opened !== null} onClose={() => open(null)} title={opened?.action ?? ""} size="large">
        {opened !== null && <Details entry={opened} />}
      </Dialog>
    </Page>
  );
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** An id is shown by its ends, a name as it is. */
function Named({ id }: { readonly id: string }) {
  return uuid.test(id) ? <Copyable value={id} short /> : <bdi className="truncate">{inert(id)}</bdi>;
}

function Details({ entry }: { readonly entry: Entry }) {
  const { actor, target } = entry;
  return (
    <div className="flex flex-col gap-4">
      <Facts
        columns={2}
        of={[
          ["When", entry.at],
          ["Outcome", <Status key="outcome" status={signs[entry.outcome]} label={entry.outcome} />],
          ["Who", <bdi key="who">{inert(actor.name ?? "–")}</bdi>],
          ["Subject", actor.user_id === null ? null : <Copyable key="sub" value={actor.user_id} />],
          ["Kind", [actor.kind, actor.role, actor.realm].filter(Boolean).join(", ")],
          ["API key", actor.key_id === null ? null : <Copyable key="key" value={actor.key_id} />],
          ["Target", `${target.type} ${inert(target.id)}`],
          ["Tenant", entry.tenant_id],
          ["Request", entry.request_id === null ? null : <Copyable key="request" value={entry.request_id} />],
          ["Address", entry.ip],
          ["Program", entry.user_agent === null ? null : <bdi key="agent">{inert(entry.user_agent)}</bdi>],
        ]}
      />
      <Value value={entry.details} open={3} />
    </div>
  );
}
