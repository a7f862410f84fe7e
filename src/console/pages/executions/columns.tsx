/** The columns of lists of executions. */
import { Link } from "@tanstack/react-router";
import type { Schemas } from "../../../programs/client/client.ts";
import type { Column } from "../../kit/table.tsx";
import { Badge, Status } from "../../kit/values/status.tsx";
import { Copyable, inert } from "../../kit/values/text.tsx";
import { Ago, Duration } from "../../kit/values/time.tsx";

export type Row = Schemas["Execution"];

const tokens = ({ usage }: Row): string => (usage.input_tokens + usage.output_tokens).toLocaleString("en");

export const executionColumns: readonly Column<Row>[] = [
  {
    id: "status",
    title: "Status",
    width: "9.5rem",
    cell: (row) => <Status status={row.waiting_for === null ? row.status : "waiting"} />,
  },
  {
    id: "agent",
    title: "Agent",
    lead: true,
    width: "minmax(10rem, 1.6fr)",
    cell: (row) => (
      <Link to="/executions/$id" params={{ id: row.id }} className="font-medium text-ink no-underline hover:underline">
        {inert(row.agent_name)}
      </Link>
    ),
  },
  {
    id: "about",
    title: "What came of it",
    width: "minmax(10rem, 3fr)",
    wide: true,
    cell: (row) =>
      row.waiting_for !== null ? (
        <span className="text-violet">asks a person about {inert(row.waiting_for.tool)}</span>
      ) : row.error !== null ? (
        <span className="text-bad" title={row.error_code ?? ""}>
          {inert(row.error.slice(0, 300))}
        </span>
      ) : (
        <span className="text-ink-soft">
          {row.intent !== null && <span className="mr-2 text-ink">{inert(row.intent.slice(0, 100))}</span>}
          {Object.entries(row.labels).map(([name, value]) => (
            <span key={name} className="mr-1.5">
              <Badge>
                {inert(name)}={inert(value)}
              </Badge>
            </span>
          ))}
          {inert(row.summary.slice(0, 300))}
        </span>
      ),
  },
  { id: "id", title: "Id", width: "9.5rem", wide: true, cell: (row) => <Copyable value={row.id} short /> },
  { id: "started", title: "Started", width: "6rem", cell: (row) => <Ago at={row.started_at} /> },
  {
    id: "took",
    title: "Duration",
    width: "6rem",
    right: true,
    wide: true,
    cell: (row) => <Duration from={row.started_at} to={row.ended_at} />,
  },
  { id: "tokens", title: "Tokens", width: "5.5rem", right: true, wide: true, cell: tokens },
  {
    id: "version",
    title: "Version",
    width: "6rem",
    wide: true,
    extra: true,
    cell: (row) => <Badge>{inert(row.agent_version)}</Badge>,
  },
  {
    id: "iterations",
    title: "Iterations",
    width: "6rem",
    right: true,
    wide: true,
    extra: true,
    cell: (row) => `${row.current_iteration}/${row.max_iterations}`,
  },
  {
    id: "cost",
    title: "Cost",
    width: "5rem",
    right: true,
    wide: true,
    extra: true,
    cell: (row) => (row.usage.cost_usd === 0 ? "–" : `$${row.usage.cost_usd.toFixed(4)}`),
  },
  { id: "trigger", title: "Trigger", width: "7rem", wide: true, extra: true, cell: (row) => row.trigger },
  {
    id: "workflow",
    title: "Workflow",
    width: "9rem",
    wide: true,
    extra: true,
    cell: (row) => (row.workflow_name === null ? "–" : inert(row.workflow_name)),
  },
  {
    id: "labels",
    title: "Labels",
    width: "12rem",
    wide: true,
    extra: true,
    cell: (row) => (
      <span className="flex gap-1">
        {Object.entries(row.labels).map(([name, value]) => (
          <Badge key={name}>
            {inert(name)}={inert(value)}
          </Badge>
        ))}
      </span>
    ),
  },
];
