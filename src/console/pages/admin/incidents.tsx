/** What was refused for safety's sake: security incidents and violations of storage rules. */

import { ShieldAlert } from "lucide-react";
import { useState } from "react";
import { answer, type Schemas } from "../../../programs/client/client.ts";
import { svc } from "../../app/session/api.ts";
import { useMe } from "../../app/session/session.ts";
import { ButtonLink } from "../../kit/controls/button.tsx";
import { ChoiceFilter, FilterBar, SearchFilter, useFilters } from "../../kit/controls/filters.tsx";
import { Tabs } from "../../kit/controls/tabs.tsx";
import { Dialog } from "../../kit/dialogs/dialog.tsx";
import { useList } from "../../kit/list.ts";
import { Empty, Facts, Page } from "../../kit/page.tsx";
import { type Column, DataTable } from "../../kit/table.tsx";
import { Cli } from "../../kit/values/cli.tsx";
import { Value } from "../../kit/values/json.tsx";
import { Badge, type Tone } from "../../kit/values/status.tsx";
import { Copyable, inert } from "../../kit/values/text.tsx";
import { Ago } from "../../kit/values/time.tsx";

type Incident = Schemas["SecurityIncident"];
type Violation = Schemas["StorageViolation"];

const severities = ["low", "medium", "high", "critical"];
const tones: Readonly<Record<string, Tone>> = { low: "neutral", medium: "warn", high: "bad", critical: "bad" };

export function Incidents() {
  const [filters, change] = useFilters();
  return (
    <Page title="Incidents" about="What agents and callers tried and were not allowed to.">
      <Tabs
        chosen={filters.tab ?? "security"}
        onChoose={(tab) => change({ tab })}
        tabs={[
          { id: "security", label: "Security", content: <Security /> },
          { id: "storage", label: "Storage", content: <Storage /> },
        ]}
      />
    </Page>
  );
}

/** What both routes take. */
function useQueryOfFilters() {
  const { operator } = useMe();
  const [{ severity, type, where }] = useFilters();
  return {
    limit: 100,
    ...(severity === undefined ? {} : { severity }),
    ...(type === undefined ? {} : { type }),
    ...(operator && where === "all" ? { all_tenants: true } : {}),
  };
}

function Filters() {
  const { operator } = useMe();
  return (
    <FilterBar names={["severity", "type", "where"]}>
      <SearchFilter name="type" label="Type" />
      <ChoiceFilter
        name="severity"
        label="Severity"
        single
        choices={severities.map((value) => ({ value, label: value }))}
      />
      {operator && (
        <ChoiceFilter name="where" label="Tenants" single choices={[{ value: "all", label: "all tenants" }]} />
      )}
    </FilterBar>
  );
}

const severityOf = (severity: string) => <Badge tone={tones[severity] ?? "neutral"}>{severity}</Badge>;

function Security() {
  const query = useQueryOfFilters();
  const [opened, open] = useState<Incident | null>(null);
  const list = useList(["incident", "list", query], (cursor) =>
    answer(
      svc.GET("/v1/security/incidents", {
        params: { query: { ...query, ...(cursor === undefined ? {} : { cursor }) } },
      }),
    ),
  );
  const columns: readonly Column<Incident>[] = [
    { id: "at", title: "Last", width: "6rem", cell: (one) => <Ago at={one.last_seen_at} /> },
    { id: "severity", title: "Severity", width: "6rem", cell: (one) => severityOf(one.severity) },
    {
      id: "type",
      title: "Type",
      width: "minmax(10rem, 2fr)",
      lead: true,
      cell: (one) => <code>{inert(one.type)}</code>,
    },
    { id: "count", title: "Times", width: "4rem", right: true, cell: (one) => one.count },
    { id: "tool", title: "Tool", wide: true, cell: (one) => <bdi>{inert(one.tool_name ?? "–")}</bdi> },
    { id: "tenant", title: "Tenant", wide: true, cell: (one) => one.tenant_id },
  ];
  return (
    <div className="flex flex-col gap-3">
      <Filters />
      <DataTable
        {...list}
        name="incidents"
        filters={["severity", "type"]}
        columns={columns}
        idOf={({ id }) => id}
        onOpen={open}
        empty={
          <Empty icon={ShieldAlert} title="No incidents">
            What policy refused stands here: a tool outside of its context, a host that egress does not allow, a path
            that a volume does not open. From a terminal:
            <span className="mt-2 block">
              <Cli args="api GET /v1/security/incidents" />
            </span>
          </Empty>
        }
      />
      <Dialog
        open={opened !== null}
        onClose={() => open(null)}
        title={opened?.type ?? ""}
        size="large"
        actions={
          opened?.execution_id != null && (
            <ButtonLink to={`/executions/${opened.execution_id}`}>Open the execution</ButtonLink>
          )
        }
      >
        {opened !== null && (
          <div className="flex flex-col gap-3">
            <Facts
              columns={2}
              of={[
                ["First", <Ago key="first" at={opened.occurred_at} />],
                ["Last", <Ago key="last" at={opened.last_seen_at} />],
                ["Times", opened.count],
                ["Severity", severityOf(opened.severity)],
                ["Category", inert(opened.category)],
                ["Session", opened.session_id === null ? null : <Copyable key="session" value={opened.session_id} />],
              ]}
            />
            <Value value={opened.details} />
          </div>
        )}
      </Dialog>
    </div>
  );
}

function Storage() {
  const query = useQueryOfFilters();
  const [opened, open] = useState<Violation | null>(null);
  const list = useList(["violation", "list", query], (cursor) =>
    answer(
      svc.GET("/v1/storage/violations", {
        params: { query: { ...query, ...(cursor === undefined ? {} : { cursor }) } },
      }),
    ),
  );
  const columns: readonly Column<Violation>[] = [
    { id: "at", title: "When", width: "6rem", cell: (one) => <Ago at={one.occurred_at} /> },
    { id: "severity", title: "Severity", width: "6rem", cell: (one) => severityOf(one.severity) },
    {
      id: "type",
      title: "Type",
      width: "minmax(8rem, 1fr)",
      lead: true,
      cell: (one) => <code>{inert(one.type)}</code>,
    },
    { id: "path", title: "Path", width: "minmax(10rem, 2fr)", cell: (one) => <bdi>{inert(one.path ?? "–")}</bdi> },
    { id: "operation", title: "Operation", wide: true, cell: (one) => one.operation },
    { id: "tenant", title: "Tenant", wide: true, cell: (one) => one.tenant_id },
  ];
  return (
    <div className="flex flex-col gap-3">
      <Filters />
      <DataTable
        {...list}
        name="violations"
        filters={["severity", "type"]}
        columns={columns}
        idOf={({ id }) => id}
        onOpen={open}
        empty={
          <Empty icon={ShieldAlert} title="No violations">
            Attempts to leave a volume, to exceed it or to write where only reading is allowed stand here.
          </Empty>
        }
      />
      <Dialog open={opened !== null} onClose={() => open(null)} title={opened?.type ?? ""} size="large">
        {opened !== null && <Value value={opened.details} />}
      </Dialog>
    </div>
  );
}
