/** Messages that could not be processed: read, then sent again once the cause is gone. */
import { useQueryClient } from "@tanstack/react-query";
import { MailX } from "lucide-react";
import { useState } from "react";
import { answer, type Schemas } from "../../../programs/client/client.ts";
import { svc } from "../../app/session/api.ts";
import { useMe } from "../../app/session/session.ts";
import { Button } from "../../kit/controls/button.tsx";
import { ChoiceFilter, FilterBar, SearchFilter, useFilters } from "../../kit/controls/filters.tsx";
import { Bulk, type BulkWork } from "../../kit/dialogs/bulk.tsx";
import { useList } from "../../kit/list.ts";
import { Empty, Page } from "../../kit/page.tsx";
import { type Column, DataTable } from "../../kit/table.tsx";
import { Status } from "../../kit/values/status.tsx";
import { inert } from "../../kit/values/text.tsx";
import { Ago } from "../../kit/values/time.tsx";

type Letter = Omit<Schemas["DeadLetter"], "body">;

/** Kinds of actors that receive messages. */
const kinds = ["execution", "workflow_run", "approval", "fleet_run", "edge_host", "stimulus", "tool_call"];

export function DeadLetters() {
  const { role } = useMe();
  const queries = useQueryClient();
  const [{ in_tenant: tenant, kind }] = useFilters();
  const [asked, ask] = useState<BulkWork<Letter> | null>(null);
  const replayOf = (selected: readonly Letter[]): BulkWork<Letter> => ({
    title: "Send these messages again?",
    about: "Do so once the cause is gone. Each is processed once, in the order of its receiver’s mailbox.",
    verb: "Send again",
    records: selected.filter(({ replayed_at }) => replayed_at === null),
    nameOf: ({ id }) => id,
    act: async ({ id }) => {
      await svc.POST("/v1/admin/dead-letters/{id}/replay", { params: { path: { id } } });
    },
  });
  const list = useList(["dead_letter", "list", tenant, kind], (cursor) =>
    answer(svc.GET("/v1/admin/dead-letters", { params: { query: { limit: 100, cursor, tenant_id: tenant, kind } } })),
  );
  const columns: readonly Column<Letter>[] = [
    { id: "at", title: "When", width: "6rem", cell: (one) => <Ago at={one.created_at} /> },
    {
      id: "message",
      title: "Message",
      width: "minmax(9rem, 1fr)",
      cell: (one) => <code>{`${one.kind} ${inert(one.message)}`}</code>,
    },
    {
      id: "error",
      title: "Error",
      width: "minmax(12rem, 3fr)",
      cell: (one) => <bdi title={inert(one.error)}>{inert(one.error)}</bdi>,
    },
    { id: "attempts", title: "Attempts", width: "5rem", right: true, wide: true, cell: (one) => one.attempts },
    { id: "tenant", title: "Tenant", wide: true, width: "8rem", cell: (one) => one.tenant_id },
    {
      id: "state",
      title: "State",
      width: "8rem",
      cell: (one) =>
        one.replayed_at === null ? (
          <Status status="failed" label="set aside" />
        ) : (
          <Status status="completed" label="sent again" />
        ),
    },
  ];
  const mayReplay = role !== null && role !== "readonly";
  return (
    <Page title="Dead letters" about="Messages that failed at every attempt. Nothing is lost: each can be sent again.">
      <FilterBar names={["in_tenant", "kind"]}>
        <SearchFilter name="in_tenant" label="Tenant" />
        <ChoiceFilter
          name="kind"
          label="Kind"
          single
          choices={kinds.map((value) => ({ value, label: value.replaceAll("_", " ") }))}
        />
      </FilterBar>
      <DataTable
        {...list}
        name="dead-letters"
        filters={["in_tenant", "kind"]}
        columns={columns}
        idOf={({ id }) => id}
        linkOf={({ id }) => `/admin/dead-letters/${id}`}
        {...(mayReplay
          ? {
              bulk: (selected: readonly Letter[]) => (
                <Button small onClick={() => ask(replayOf(selected))}>
                  Send again
                </Button>
              ),
            }
          : {})}
        empty={
          <Empty icon={MailX} title="No dead letters">
            Every message was processed.
          </Empty>
        }
      />
      <Bulk
        work={asked}
        onClose={() => {
          ask(null);
          queries.invalidateQueries({ queryKey: ["dead_letter"] }).catch(() => {});
        }}
      />
    </Page>
  );
}
