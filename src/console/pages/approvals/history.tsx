/** What was decided, by whom, and how. */

import { History as HistoryIcon } from "lucide-react";
import { answer } from "../../../programs/client/client.ts";
import { svc } from "../../app/session/api.ts";
import { Who } from "../../app/who.tsx";
import { ChoiceFilter, FilterBar, SearchFilter, useFilters } from "../../kit/controls/filters.tsx";
import { useList } from "../../kit/list.ts";
import { Empty } from "../../kit/page.tsx";
import { type Column, DataTable } from "../../kit/table.tsx";
import { Status, wordsOf } from "../../kit/values/status.tsx";
import { Copyable, inert } from "../../kit/values/text.tsx";
import { Ago, Duration } from "../../kit/values/time.tsx";
import { nameOf } from "./decide.tsx";
import { type ApprovalRecord, kindWords } from "./queries.ts";

const statuses = ["approved", "rejected", "responded", "timed_out", "withdrawn"].map((value) => ({
  value,
  label: wordsOf(value),
}));

type Row = Omit<ApprovalRecord, "events">;

const columns: readonly Column<Row>[] = [
  { id: "status", title: "Decision", width: "8rem", cell: ({ status }) => <Status status={status} /> },
  { id: "name", title: "What", width: "minmax(10rem, 1.4fr)", cell: (row) => inert(nameOf(row)) },
  {
    id: "by",
    title: "By",
    width: "minmax(8rem, 1fr)",
    cell: ({ decided_by, via }) =>
      decided_by === null ? via === "cancel" ? "cancelled with its run" : wordsOf(via ?? "") : <Who of={decided_by} />,
  },
  {
    id: "feedback",
    title: "Feedback",
    wide: true,
    width: "minmax(8rem, 1.4fr)",
    cell: ({ feedback }) => inert(feedback ?? ""),
  },
  { id: "kind", title: "Kind", wide: true, width: "7rem", cell: ({ kind }) => kindWords[kind] ?? kind },
  {
    id: "took",
    title: "Waited",
    wide: true,
    width: "7rem",
    cell: ({ created_at, decided_at }) => <Duration from={created_at} to={decided_at} />,
  },
  { id: "at", title: "Decided", width: "7rem", cell: ({ decided_at }) => <Ago at={decided_at} /> },
  { id: "id", title: "Id", extra: true, width: "9rem", cell: ({ id }) => <Copyable value={id} short /> },
];

export function History() {
  const [filters] = useFilters();
  const { status, workflow, by, run } = filters;
  const list = useList<Row>(["approval", "list", "history", status, workflow, by, run], (cursor) =>
    answer(
      svc.GET("/v1/human-approvals/history", {
        params: {
          query: {
            limit: 100,
            ...(cursor === undefined ? {} : { cursor }),
            ...(status === undefined ? {} : { status }),
            ...(workflow === undefined ? {} : { workflow_name: workflow }),
            ...(by === undefined ? {} : { decided_by: by }),
            ...(run === undefined ? {} : { execution_id: run }),
          },
        },
      }),
    ),
  );
  return (
    <div className="flex flex-col gap-3">
      <FilterBar names={["status", "workflow", "by", "run"]}>
        <SearchFilter name="workflow" label="Workflow, by its whole name" />
        <SearchFilter name="by" label="Decided by: address or subject" />
        <ChoiceFilter name="status" label="Decision" choices={statuses} />
      </FilterBar>
      <DataTable
        {...list}
        name="approval-history"
        filters={["status", "workflow", "by", "run"]}
        columns={columns}
        idOf={({ id }) => id}
        linkOf={({ id }) => `/approvals/${id}`}
        empty={
          <Empty icon={HistoryIcon} title="Nothing was decided yet">
            Decisions stay here for as long as the operator keeps them.
          </Empty>
        }
      />
    </div>
  );
}
