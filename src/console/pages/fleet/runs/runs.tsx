/** The history of runs over hosts. */

import { Terminal } from "lucide-react";
import { answer, type Schemas } from "../../../../programs/client/client.ts";
import { svc } from "../../../app/session/api.ts";
import { useCan } from "../../../app/session/session.ts";
import { Who } from "../../../app/who.tsx";
import { ButtonLink } from "../../../kit/controls/button.tsx";
import { ChoiceFilter, FilterBar, useFilters } from "../../../kit/controls/filters.tsx";
import { useList } from "../../../kit/list.ts";
import { Empty } from "../../../kit/page.tsx";
import { type Column, DataTable } from "../../../kit/table.tsx";
import { Cli } from "../../../kit/values/cli.tsx";
import { wordsOf } from "../../../kit/values/status.tsx";
import { inert } from "../../../kit/values/text.tsx";
import { Ago, Duration } from "../../../kit/values/time.tsx";
import { hostTools } from "../wizard/tools.ts";
import { entryWords } from "../words.ts";
import { RunStatus } from "./run-status.tsx";
import { type Target, targetWords } from "./target.ts";

type Row = Omit<Schemas["FleetRun"], "target"> & { readonly target: Target };

const statuses = [
  "awaiting_approval",
  "running",
  "paused",
  "halting",
  "cancelling",
  "complete",
  "halted",
  "cancelled",
] as const;

const columns: readonly Column<Row>[] = [
  { id: "tool", title: "Tool", width: "8rem", cell: ({ tool }) => <code className="font-medium">{tool}</code> },
  { id: "status", title: "State", width: "minmax(9rem, 12rem)", cell: (run) => <RunStatus run={run} bare /> },
  {
    id: "target",
    title: "Target",
    width: "minmax(8rem, 1.4fr)",
    wide: true,
    cell: ({ target }) => <span className="text-ink-soft">{inert(targetWords(target))}</span>,
  },
  {
    id: "hosts",
    title: "Hosts",
    width: "8rem",
    right: true,
    cell: ({ summary, targets_resolved: all }) => (
      <span>
        <span className="text-good">{summary.ok}</span>
        {summary.failed > 0 && <span className="text-bad"> / {summary.failed} ✕</span>}
        <span className="text-ink-faint"> of {all}</span>
      </span>
    ),
  },
  {
    id: "by",
    title: "By",
    width: "minmax(11.5rem, 1fr)",
    wide: true,
    cell: ({ requested_by: by }) => (
      <>
        <Who of={by} />
        {by.entry !== "api" && <span className="text-ink-soft"> (through {entryWords[by.entry] ?? by.entry})</span>}
      </>
    ),
  },
  {
    id: "took",
    title: "Took",
    width: "6rem",
    right: true,
    wide: true,
    cell: ({ started_at, ended_at }) => <Duration from={started_at} to={ended_at} />,
  },
  { id: "when", title: "Asked", width: "6rem", cell: ({ created_at }) => <Ago at={created_at} /> },
];

export function FleetRuns() {
  const can = useCan();
  const [{ tool = "", status: wanted = "" }] = useFilters();
  const status = statuses.find((one) => one === wanted);
  const list = useList(["fleet_run", "list", { tool, status }], (cursor) =>
    answer(
      svc.GET("/v1/edge/fleet/runs", {
        params: {
          query: {
            limit: 100,
            ...(tool === "" ? {} : { tool }),
            ...(status === undefined ? {} : { status }),
            ...(cursor === undefined ? {} : { cursor }),
          },
        },
      }),
    ),
  );
  return (
    <div className="flex flex-col gap-3">
      <FilterBar names={["tool", "status"]}>
        <ChoiceFilter
          name="status"
          label="State"
          single
          choices={statuses.map((value) => ({ value, label: wordsOf(value) }))}
        />
        <ChoiceFilter
          name="tool"
          label="Tool"
          single
          choices={hostTools.map(({ name }) => ({ value: name, label: name }))}
        />
      </FilterBar>
      <DataTable
        name="fleet-runs"
        filters={["tool", "status"]}
        columns={columns}
        {...list}
        idOf={({ id }) => id}
        linkOf={({ id }) => `/fleet/runs/${id}`}
        empty={
          <Empty
            icon={Terminal}
            title="Nothing was run yet"
            actions={can("aegis.edge.fleet.manage") && <ButtonLink to="/fleet/run">Run a command</ButtonLink>}
          >
            <p className="mt-0 mb-2">
              Commands run on many hosts at once, in waves that stop at a fault. From a terminal:
            </p>
            <Cli args="edge fleet run tags=web -- uptime" />
          </Empty>
        }
      />
    </div>
  );
}
