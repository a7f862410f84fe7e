/** What an execution started: judges, agents that it called. */
import { answer } from "../../../programs/client/client.ts";
import { svc } from "../../app/session/api.ts";
import { useList } from "../../kit/list.ts";
import { Empty } from "../../kit/page.tsx";
import { DataTable } from "../../kit/table.tsx";
import { executionColumns } from "./columns.tsx";

export function Children({ id }: { readonly id: string }) {
  const list = useList(["execution", "list", "children", id], (cursor) =>
    answer(svc.GET("/v1/executions", { params: { query: { parent_execution_id: id, cursor, limit: 100 } as never } })),
  );
  return (
    <DataTable
      name="children"
      columns={executionColumns}
      {...list}
      idOf={(row) => row.id}
      linkOf={(row) => `/executions/${row.id}`}
      empty={<Empty title="It started no other execution" />}
    />
  );
}
