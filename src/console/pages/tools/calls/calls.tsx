/** Calls of tools, newest first: who asked, what policy said, what became of it. */

import { Link } from "@tanstack/react-router";
import { History } from "lucide-react";
import { answer } from "../../../../programs/client/client.ts";
import { svc } from "../../../app/session/api.ts";
import { ChoiceFilter, FilterBar, SearchFilter, useFilters } from "../../../kit/controls/filters.tsx";
import { TextLink } from "../../../kit/controls/link.tsx";
import { useList } from "../../../kit/list.ts";
import { Empty } from "../../../kit/page.tsx";
import { type Column, DataTable } from "../../../kit/table.tsx";
import { Cli } from "../../../kit/values/cli.tsx";
import { Badge, Status } from "../../../kit/values/status.tsx";
import { Copyable, inert } from "../../../kit/values/text.tsx";
import { Ago, durationText } from "../../../kit/values/time.tsx";
import { type Invocation, renewMs } from "../words.ts";

export const entryWords: Readonly<Record<string, string>> = {
  seal: "signed",
  dispatch: "agent's loop",
  mcp: "MCP client",
  workflow: "workflow",
};

const columns: readonly Column<Invocation>[] = [
  {
    id: "tool",
    title: "Tool",
    width: "minmax(11rem, 2fr)",
    cell: ({ id, tool_name: tool, count }) => (
      <span className="flex min-w-0 items-center gap-1.5">
        <Link
          to={`/tools/calls/${id}` as never}
          className="truncate font-medium font-mono text-ink text-xs no-underline hover:underline"
        >
          {inert(tool)}
        </Link>
        {count > 1 && <Badge title="Equal refusals within a minute share a record">{count} times</Badge>}
      </span>
    ),
  },
  {
    id: "outcome",
    title: "Outcome",
    width: "8rem",
    cell: ({ decision, outcome }) => <Status status={decision === "deny" ? "refused" : outcome} />,
  },
  {
    id: "code",
    title: "Why",
    width: "minmax(8rem, 1.2fr)",
    wide: true,
    cell: ({ code }) =>
      code === null ? <span className="text-ink-faint">–</span> : <code className="text-xs">{inert(code)}</code>,
  },
  { id: "entry", title: "Came by", width: "7rem", wide: true, cell: ({ entry }) => entryWords[entry] ?? entry },
  {
    id: "of",
    title: "Of",
    width: "9rem",
    wide: true,
    cell: ({ execution_id: execution, session_id: session }) =>
      execution !== null ? (
        <TextLink to={`/executions/${execution}`}>execution …{execution.slice(-6)}</TextLink>
      ) : session !== null ? (
        <TextLink to={`/seal-sessions/${session}`}>session …{session.slice(-6)}</TextLink>
      ) : (
        "a caller"
      ),
  },
  {
    id: "context",
    title: "Security context",
    width: "minmax(8rem, 1fr)",
    wide: true,
    extra: true,
    cell: ({ security_context: context }) =>
      context === null ? "–" : <TextLink to={`/security-contexts/${context}`}>{inert(context)}</TextLink>,
  },
  {
    id: "took",
    title: "Took",
    width: "5.5rem",
    right: true,
    wide: true,
    cell: ({ duration_ms: took }) => (took === null ? "–" : durationText(took)),
  },
  { id: "id", title: "Id", width: "9.5rem", extra: true, cell: ({ id }) => <Copyable value={id} short /> },
  { id: "at", title: "When", width: "6.5rem", cell: ({ started_at: at }) => <Ago at={at} /> },
];

const outcomes = ["success", "failed", "waiting", "running", "interrupted", "withdrawn"].map((value) => ({
  value,
  label: value,
}));
const decisions = [
  { value: "allow", label: "allowed" },
  { value: "deny", label: "refused" },
];

/** With a filter for the tool. */
export function Calls() {
  const [{ tool }] = useFilters();
  return <CallTable {...(tool === undefined ? {} : { tool })} searches />;
}

/** @param tool the calls of this one alone @param session those of this session */
export function CallTable({
  tool,
  session,
  searches = false,
}: {
  readonly tool?: string;
  readonly session?: string;
  readonly searches?: boolean;
}) {
  const [{ outcome, decision }] = useFilters();
  const list = useList<Invocation>(
    ["tool_call", "list", { tool, session, outcome, decision }],
    (cursor) => {
      const filters = { tool_name: tool, session_id: session, outcome, decision };
      const given = Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined));
      const query = { limit: 100, ...(cursor === undefined ? {} : { cursor }), ...given };
      return answer(svc.GET("/v1/tool-invocations", { params: { query } }));
    },
    true,
    renewMs,
  );
  const names = searches ? ["tool", "outcome", "decision"] : ["outcome", "decision"];
  return (
    <div className="flex min-w-0 flex-col gap-3">
      <FilterBar names={names}>
        {searches && <SearchFilter name="tool" label="Name of a tool" />}
        <ChoiceFilter name="outcome" label="Outcome" choices={outcomes} single />
        <ChoiceFilter name="decision" label="Policy" choices={decisions} single />
      </FilterBar>
      <DataTable
        name="tool-calls"
        filters={names}
        columns={columns}
        {...list}
        idOf={({ id }) => id}
        linkOf={({ id }) => `/tools/calls/${id}`}
        empty={
          <Empty icon={History} title="No calls yet">
            {session !== undefined
              ? "Nothing was called in this session."
              : "Each call of an agent, a signed session or an MCP client stands here. From a terminal:"}
            {session === undefined && (
              <span className="mt-2 block">
                <Cli args={`tools call ${tool ?? "svc.agent.list"}`} />
              </span>
            )}
          </Empty>
        }
      />
    </div>
  );
}
