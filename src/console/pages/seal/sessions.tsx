/** Sessions of signed tool calls: whose they are, under which context, until when; and how to end them. */

import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Signature } from "lucide-react";
import { useState } from "react";
import { answer, type Schemas } from "../../../programs/client/client.ts";
import { endSession } from "../../../programs/client/seal.ts";
import { svc } from "../../app/session/api.ts";
import { useCan } from "../../app/session/session.ts";
import { Button } from "../../kit/controls/button.tsx";
import { ChoiceFilter, FilterBar, SearchFilter, useFilters } from "../../kit/controls/filters.tsx";
import { TextLink } from "../../kit/controls/link.tsx";
import { Bulk, type BulkWork } from "../../kit/dialogs/bulk.tsx";
import { useList } from "../../kit/list.ts";
import { Empty, Page } from "../../kit/page.tsx";
import { type Column, DataTable } from "../../kit/table.tsx";
import { Cli } from "../../kit/values/cli.tsx";
import { Badge, Status } from "../../kit/values/status.tsx";
import { Copyable, inert } from "../../kit/values/text.tsx";
import { Ago } from "../../kit/values/time.tsx";
import { contextLink } from "../contexts/words.ts";

export type Session = Schemas["SealSession"];

/** No stream tells of sessions: the page reads again after so long, ms. */
export const renewMs = 5_000;

export const sessionLink = (id: string): string => `/seal-sessions/${id}`;

/** Whose it is. */
export function Holder({ session }: { readonly session: Session }) {
  const { detached, execution_id: execution, opened_by: by } = session;
  if (!detached) return <TextLink to={`/executions/${execution}`}>execution …{execution.slice(-6)}</TextLink>;
  return (
    <span title={by?.user_id} className="flex min-w-0 items-center gap-1.5">
      <span className="shrink-0">
        <Badge title="It has no execution: tools of sandboxes are out of its reach">detached</Badge>
      </span>
      {by !== null && <Copyable value={by.user_id} short />}
    </span>
  );
}

const columns: readonly Column<Session>[] = [
  {
    id: "id",
    title: "Session",
    width: "minmax(6rem, 1fr)",
    cell: ({ session_id: id }) => (
      <Link
        to={sessionLink(id) as never}
        className="font-medium font-mono text-ink text-xs no-underline hover:underline"
      >
        …{id.slice(-8)}
      </Link>
    ),
  },
  { id: "of", title: "Of", width: "minmax(9rem, 1.5fr)", cell: (session) => <Holder session={session} /> },
  {
    id: "context",
    title: "Security context",
    width: "minmax(9rem, 1.2fr)",
    wide: true,
    cell: ({ security_context: context }) => (
      <Link to={contextLink(context) as never} className="truncate">
        {inert(context)}
      </Link>
    ),
  },
  {
    id: "status",
    title: "Status",
    width: "6.5rem",
    cell: ({ status, revoked_reason: reason }) => (
      <span title={reason?.replaceAll("_", " ") ?? undefined}>
        <Status status={status} />
      </span>
    ),
  },
  { id: "calls", title: "Calls", width: "4.5rem", right: true, wide: true, cell: ({ calls }) => calls },
  {
    id: "used",
    title: "Last call",
    width: "6.5rem",
    wide: true,
    cell: ({ last_used_at: at }) => (at === null ? <span className="text-ink-faint">none</span> : <Ago at={at} />),
  },
  {
    id: "expires",
    title: "Ends",
    width: "6.5rem",
    wide: true,
    cell: ({ expires_at: at, revoked_at: revoked }) => <Ago at={revoked ?? at} />,
  },
  { id: "opened", title: "Opened", width: "6.5rem", wide: true, cell: ({ created_at: at }) => <Ago at={at} /> },
  {
    id: "key",
    title: "Key",
    width: "9.5rem",
    extra: true,
    cell: ({ public_key_fingerprint: print }) => <Copyable value={print} short />,
  },
];

const statuses = ["active", "expired", "revoked"].map((value) => ({ value, label: value }));

export function Sessions() {
  const can = useCan();
  const queries = useQueryClient();
  const [{ status = "active", execution }] = useFilters();
  const [work, setWork] = useState<BulkWork<Session> | null>(null);
  const isAll = status === "all";
  const list = useList<Session>(
    ["seal_session", "list", { status, execution }],
    (cursor) => {
      const filters = { cursor, execution_id: execution, status: isAll ? undefined : status };
      const given = Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined));
      return answer(svc.GET("/v1/seal/sessions", { params: { query: { limit: 100, ...given } } }));
    },
    true,
    renewMs,
  );
  const revoke = (records: readonly Session[], clear: () => void) =>
    setWork({
      title: records.length === 1 ? "Revoke the session" : `Revoke ${records.length} sessions`,
      about: "Their next call is refused, and calls of them that wait for a person are taken back.",
      verb: "Revoke",
      danger: true,
      records,
      nameOf: ({ session_id: id }) => id,
      async act({ session_id: id }) {
        await endSession(svc, id, "Revoked in the console");
        clear();
      },
    });
  return (
    <Page
      title="SEAL sessions"
      about="A program proves its key once and then signs each of its tool calls. A session is that proof, while it holds."
    >
      <FilterBar names={["status", "execution"]}>
        <ChoiceFilter name="status" label="Status" single choices={[...statuses, { value: "all", label: "all" }]} />
        <SearchFilter name="execution" label="Id of an execution" />
        {status === "active" && <span className="text-ink-soft text-xs">Those that are active are shown.</span>}
      </FilterBar>
      <DataTable
        name="seal-sessions"
        filters={isAll || status === "active" ? ["execution"] : ["status", "execution"]}
        columns={columns}
        {...list}
        idOf={({ session_id: id }) => id}
        linkOf={({ session_id: id }) => sessionLink(id)}
        bulk={
          can("seal:manage")
            ? (selected, clear) => {
                const active = selected.filter((one) => one.status === "active");
                return (
                  <Button small look="danger" disabled={active.length === 0} onClick={() => revoke(active, clear)}>
                    Revoke {active.length}
                  </Button>
                );
              }
            : undefined
        }
        empty={
          <Empty icon={Signature} title={isAll ? "No session yet" : "No session is active"}>
            An agent's sandbox opens one when it begins; “Try it” on the page of a tool opens one for a moment, and so
            does a terminal:
            <span className="mt-2 block">
              <Cli args="tools call svc.agent.list" />
            </span>
          </Empty>
        }
      />
      <Bulk
        work={work}
        onClose={() => {
          setWork(null);
          void queries.invalidateQueries({ queryKey: ["seal_session"] });
        }}
      />
    </Page>
  );
}
