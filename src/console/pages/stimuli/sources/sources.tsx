/** Who may send messages in, and where they go: the sources, and the router for those that name no workflow. */
import { Plus, Route } from "lucide-react";
import { answer, type Schemas } from "../../../../programs/client/client.ts";
import { svc } from "../../../app/session/api.ts";
import { useCan } from "../../../app/session/session.ts";
import { ButtonLink } from "../../../kit/controls/button.tsx";
import { useFilters } from "../../../kit/controls/filters.tsx";
import { Tabs } from "../../../kit/controls/tabs.tsx";
import { useList } from "../../../kit/list.ts";
import { Empty, Page } from "../../../kit/page.tsx";
import { type Column, DataTable } from "../../../kit/table.tsx";
import { Cli } from "../../../kit/values/cli.tsx";
import { Badge } from "../../../kit/values/status.tsx";
import { Copyable, inert } from "../../../kit/values/text.tsx";
import { Ago } from "../../../kit/values/time.tsx";
import { presetNames } from "../words.ts";
import { Router } from "./router.tsx";

type Source = Schemas["Source"];

const columns: readonly Column<Source>[] = [
  {
    id: "source",
    title: "Source",
    width: "minmax(8rem, 1.2fr)",
    cell: ({ source, enabled }) => (
      <span className="flex min-w-0 items-center gap-1.5">
        <span className="truncate font-medium">{inert(source)}</span>
        {!enabled && <Badge tone="warn">off</Badge>}
      </span>
    ),
  },
  {
    id: "workflow",
    title: "Starts",
    width: "minmax(8rem, 1.2fr)",
    cell: ({ workflow, workflow_version: version }) =>
      workflow === null ? (
        <span className="text-ink-soft">what the router chooses</span>
      ) : (
        <>
          {inert(workflow)} {version !== null && <Badge>{inert(version)}</Badge>}
        </>
      ),
  },
  {
    id: "preset",
    title: "Signature",
    width: "minmax(7rem, 10rem)",
    wide: true,
    cell: ({ signature }) => presetNames[signature.preset],
  },
  {
    id: "secret",
    title: "Secret",
    width: "minmax(7rem, 9rem)",
    wide: true,
    cell: ({ secret_source: from, previous_secret_expires_at: previous }) =>
      from === "none" ? (
        <Badge tone="bad">none</Badge>
      ) : (
        <span className="flex items-center gap-1.5">
          {from === "stored" ? "stored" : "environment"}
          {previous !== null && <Badge tone="warn">two valid</Badge>}
        </span>
      ),
  },
  {
    id: "last",
    title: "Last message",
    width: "7rem",
    cell: ({ last_received_at: at }) => (at === null ? <span className="text-ink-faint">never</span> : <Ago at={at} />),
  },
  {
    id: "ignored",
    title: "Passed over",
    width: "6.5rem",
    right: true,
    wide: true,
    cell: ({ ignored_count: count }) => (count === 0 ? "–" : count.toLocaleString("en")),
  },
  {
    id: "acknowledge",
    title: "Answers",
    width: "8rem",
    extra: true,
    cell: ({ acknowledge }) => (acknowledge === "routed" ? "when routed" : "at once"),
  },
  { id: "url", title: "URL", width: "minmax(10rem, 2fr)", extra: true, cell: ({ url }) => <Copyable value={url} /> },
  { id: "created", title: "Made", width: "6rem", extra: true, cell: ({ created_at: at }) => <Ago at={at} /> },
];

export function Sources() {
  const can = useCan();
  const [{ tab = "sources" }, change] = useFilters();
  return (
    <Page
      title="Sources"
      about="A source is a name, a URL and a secret for one sender, and what its messages start."
      actions={
        can("stimulus:manage") && (
          <ButtonLink to="/sources/new" look="primary">
            <Plus aria-hidden />
            New source
          </ButtonLink>
        )
      }
    >
      <Tabs
        chosen={tab === "router" && can("stimulus:read") ? "router" : "sources"}
        onChoose={(id) => change({ tab: id === "sources" ? "" : id })}
        tabs={[
          { id: "sources", label: "Sources", content: <List /> },
          ...(can("stimulus:read") ? [{ id: "router", label: "Router", content: <Router /> }] : []),
        ]}
      />
    </Page>
  );
}

function List() {
  const can = useCan();
  const list = useList<Source>(["source", "list"], (cursor) =>
    answer(
      svc.GET("/v1/stimulus-routes", {
        params: { query: { limit: 100, ...(cursor === undefined ? {} : { cursor }) } },
      }),
    ),
  );
  return (
    <DataTable
      name="sources"
      columns={columns}
      {...list}
      idOf={({ id }) => id}
      {...(can("stimulus:read") ? { linkOf: ({ id }: Source) => `/sources/${id}` } : {})}
      empty={
        <Empty
          icon={Route}
          title="No source yet"
          actions={can("stimulus:manage") && <ButtonLink to="/sources/new">Make the first one</ButtonLink>}
        >
          <p className="mt-0 mb-2">
            It takes webhooks of GitHub, Stripe, Slack, Standard Webhooks, and of anything that signs with HMAC.
          </p>
          <Cli args="sources create ci --signature github --workflow on-push" />
        </Empty>
      }
    />
  );
}
