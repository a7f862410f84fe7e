/** Usage against limits: rates of the caller and the tenant, storage, and what was used over time. */
import { useQuery } from "@tanstack/react-query";
import { Gauge } from "lucide-react";
import { useState } from "react";
import { answer, type Schemas } from "../../../programs/client/client.ts";
import { svc } from "../../app/session/api.ts";
import { useCan } from "../../app/session/session.ts";
import { Button } from "../../kit/controls/button.tsx";
import { Select } from "../../kit/controls/field.tsx";
import { useFilters } from "../../kit/controls/filters.tsx";
import { Tabs } from "../../kit/controls/tabs.tsx";
import { tellError } from "../../kit/dialogs/toast.tsx";
import { useList } from "../../kit/list.ts";
import { Empty, Loading, Page, Panel, Trouble } from "../../kit/page.tsx";
import { type Column, DataTable } from "../../kit/table.tsx";
import { bytesText } from "../../kit/values/file-preview.tsx";
import { Badge, wordsOf } from "../../kit/values/status.tsx";
import { inert } from "../../kit/values/text.tsx";
import { Ago } from "../../kit/values/time.tsx";
import { Meter } from "./meter.tsx";
import { saveAs } from "./save.ts";

type Rate = Schemas["UserRate"];
type Row = Schemas["UsageRow"];

const number = new Intl.NumberFormat("en", { maximumFractionDigits: 2 });
const amount = (value: number | null | undefined): string =>
  value === null || value === undefined ? "–" : number.format(value);

export function Limits() {
  const [filters, change] = useFilters();
  return (
    <Page title="Limits and usage" about="What you may use, what of it is used, and what was used before.">
      <Tabs
        chosen={filters.tab ?? "limits"}
        onChoose={(tab) => change({ tab })}
        tabs={[
          { id: "limits", label: "Limits", content: <Rates /> },
          { id: "usage", label: "Usage", content: <Usage /> },
        ]}
      />
    </Page>
  );
}

function Rates() {
  const can = useCan();
  const rates = useQuery({
    queryKey: ["rates"],
    queryFn: () => answer(svc.GET("/v1/user/rate-limits")),
    refetchInterval: 10_000,
  });
  const storage = useQuery({
    queryKey: ["volume", "quota"],
    queryFn: () => answer(svc.GET("/v1/volumes/quota")),
    enabled: can("volume:read"),
  });
  if (rates.error !== null && rates.data === undefined)
    return <Trouble error={rates.error} retry={() => void rates.refetch()} />;
  if (rates.data === undefined) return <Loading />;
  const byResource = [...Map.groupBy(rates.data.items, ({ resource_type }) => resource_type)];
  return (
    <div className="grid items-start gap-4 lg:grid-cols-2 2xl:grid-cols-3">
      {storage.data !== undefined && (
        <Panel title="Storage" beside={<Badge>{storage.data.tier}</Badge>}>
          <Line
            label="Stored"
            used={storage.data.total_bytes_used}
            limit={storage.data.quota_bytes}
            text={ofText(storage.data.total_bytes_used, storage.data.quota_bytes, bytesText)}
          />
          <Line
            label="Volumes"
            used={storage.data.volume_count}
            limit={storage.data.volume_limit}
            text={ofText(storage.data.volume_count, storage.data.volume_limit)}
          />
        </Panel>
      )}
      {byResource.map(([resource, buckets]) => (
        <Panel key={resource} title={resourceNames[resource] ?? wordsOf(resource)} flush>
          <Buckets buckets={buckets} />
        </Panel>
      ))}
    </div>
  );
}

/** Limits above this are none: the platform's own tenant has no real one. */
const endless = 1e12;

const isEndless = (limit: number): boolean => limit < 0 || limit > endless;

const ofText = (used: number, limit: number, text = (value: number) => number.format(value)): string =>
  isEndless(limit) ? `${text(used)}, no limit` : `${text(used)} of ${text(limit)}`;

const resourceNames: Readonly<Record<string, string>> = {
  agent_execution: "Executions of agents",
  workflow_execution: "Runs of workflows",
  llm_call: "Calls of models",
  llm_token: "Tokens of models",
};

/** One resource: a line for each span of time, with what the caller and the whole tenant used of it. */
function Buckets({ buckets }: { readonly buckets: readonly Rate[] }) {
  const scopes = [...new Set(buckets.map(({ scope_type }) => scope_type))];
  const spansOf = [...Map.groupBy(buckets, ({ bucket }) => bucket)];
  return (
    <table className="w-full table-fixed border-collapse text-left">
      <thead>
        <tr className="border-line border-b text-ink-faint text-xs">
          <th className="w-1/4 py-1.5 pl-4 font-medium">Span</th>
          {scopes.map((scope) => (
            <th key={scope} className="px-2 py-1.5 font-medium last:pr-4">
              {scope === "user" ? "You" : "The tenant"}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {spansOf.map(([bucket, ofBucket]) => (
          <tr key={bucket} className="border-line border-b align-top last:border-b-0">
            <th scope="row" className="py-2 pl-4 font-normal">
              <span className="block">{wordsOf(bucket)}</span>
              <span className="block text-2xs text-ink-faint">
                resets <Ago at={ofBucket[0]?.resets_at} />
              </span>
            </th>
            {scopes.map((scope) => {
              const one = ofBucket.find(({ scope_type }) => scope_type === scope);
              return (
                <td key={scope} className="px-2 py-2 last:pr-4">
                  {one !== undefined && <Use label={`${wordsOf(bucket)}, ${scope}`} rate={one} />}
                </td>
              );
            })}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Use({ label, rate: { current_count, limit_value } }: { readonly label: string; readonly rate: Rate }) {
  return (
    <span className="flex min-w-0 flex-col gap-1.5">
      <span className="text-ink-soft text-xs tabular-nums">{ofText(current_count, limit_value)}</span>
      {!isEndless(limit_value) && <Meter label={label} used={current_count} limit={limit_value} />}
    </span>
  );
}

function Line({
  label,
  used,
  limit,
  text,
}: {
  readonly label: string;
  readonly used: number;
  readonly limit: number;
  readonly text: string;
}) {
  return (
    <div className="mb-3 flex flex-col gap-1 last:mb-0">
      <div className="flex items-baseline gap-2">
        <span>{label}</span>
        <span className="ml-auto text-ink-soft text-xs tabular-nums">{text}</span>
      </div>
      {!isEndless(limit) && <Meter label={label} used={used} limit={limit} />}
    </div>
  );
}

const groups = ["day", "agent", "model", "workflow", "tool"] as const;
const spans = [
  { value: "1", label: "Last day" },
  { value: "7", label: "Last 7 days" },
  { value: "30", label: "Last 30 days" },
  { value: "90", label: "Last 90 days" },
];
const dayMs = 86_400_000;

function Usage() {
  const [filters, change] = useFilters();
  const group = groups.find((one) => one === filters.by) ?? "day";
  const days = spans.find(({ value }) => value === filters.days)?.value ?? "30";
  const [until] = useState(() => Date.now());
  const from = new Date(until - Number(days) * dayMs).toISOString();
  const query = { group_by: group, from, to: new Date(until).toISOString() };
  const list = useList(["usage", "list", group, days], (cursor) =>
    answer(
      svc.GET("/v1/usage", {
        params: { query: { ...query, limit: 200, ...(cursor === undefined ? {} : { cursor }) } },
      }),
    ),
  );
  const save = async () => {
    const text = new URLSearchParams(query).toString();
    const response = await svc.send(`/v1/usage?${text}`, { headers: { Accept: "text/csv" } });
    saveAs(await response.blob(), `usage-by-${group}.csv`);
  };
  const columns: readonly Column<Row>[] = [
    {
      id: "key",
      title: group,
      width: "minmax(10rem, 2fr)",
      cell: ({ name, key }) => <bdi>{inert(name ?? key ?? "–")}</bdi>,
    },
    { id: "executions", title: "Executions", right: true, width: "7rem", cell: ({ executions }) => amount(executions) },
    { id: "input", title: "Tokens in", right: true, width: "7rem", cell: ({ input_tokens }) => amount(input_tokens) },
    {
      id: "output",
      title: "Tokens out",
      right: true,
      width: "7rem",
      cell: ({ output_tokens }) => amount(output_tokens),
    },
    { id: "cost", title: "Cost", right: true, width: "6rem", cell: ({ cost }) => amount(cost) },
    {
      id: "tools",
      title: "Tool calls",
      right: true,
      wide: true,
      width: "7rem",
      cell: ({ tool_calls }) => amount(tool_calls),
    },
    {
      id: "sandbox",
      title: "Sandbox, s",
      right: true,
      wide: true,
      width: "7rem",
      cell: ({ sandbox_seconds }) => amount(sandbox_seconds),
    },
    {
      id: "commands",
      title: "Host commands",
      right: true,
      extra: true,
      width: "8rem",
      cell: ({ host_commands }) => amount(host_commands),
    },
    {
      id: "storage",
      title: "Storage, GiB h",
      right: true,
      extra: true,
      width: "8rem",
      cell: ({ storage_gib_hours }) => amount(storage_gib_hours),
    },
  ];
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-end gap-2">
        <Select
          label="By"
          value={group}
          choices={groups.map((value) => ({ value, label: value }))}
          onChange={(by) => change({ by })}
        />
        <Select label="Time" value={days} choices={spans} onChange={(next) => change({ days: next })} />
        <Button onClick={() => save().catch((error: unknown) => tellError("The file was not made", error))}>
          Save as CSV
        </Button>
      </div>
      <DataTable
        {...list}
        name="usage"
        columns={columns}
        idOf={({ key, name }) => `${key} ${name}`}
        empty={<Empty icon={Gauge} title="Nothing was used in this time" />}
      />
    </div>
  );
}
