/** The security contexts of the tenant and of the system. */

import { Link } from "@tanstack/react-router";
import { Plus, ShieldCheck } from "lucide-react";
import { answer } from "../../../programs/client/client.ts";
import { svc } from "../../app/session/api.ts";
import { useCan } from "../../app/session/session.ts";
import { ButtonLink } from "../../kit/controls/button.tsx";
import { ChoiceFilter, FilterBar, useFilters } from "../../kit/controls/filters.tsx";
import { useList } from "../../kit/list.ts";
import { Empty, Page } from "../../kit/page.tsx";
import { type Column, DataTable } from "../../kit/table.tsx";
import { Cli } from "../../kit/values/cli.tsx";
import { Badge } from "../../kit/values/status.tsx";
import { inert } from "../../kit/values/text.tsx";
import { Ago } from "../../kit/values/time.tsx";
import { type Context, contextLink, isSystem } from "./words.ts";

/** Patterns that are named in a row. */
const shown = 2;

const columns: readonly Column<Context>[] = [
  {
    id: "name",
    title: "Context",
    width: "minmax(13rem, 1.4fr)",
    cell: ({ name }) => (
      <Link
        to={contextLink(name) as never}
        className="block truncate font-medium text-ink no-underline hover:underline"
      >
        {name}
      </Link>
    ),
  },
  {
    id: "opens",
    title: "Opens",
    width: "minmax(9rem, 2fr)",
    cell: ({ capabilities }) => <Patterns of={capabilities.map(({ tool_pattern: pattern }) => pattern)} />,
  },
  {
    id: "denies",
    title: "Never",
    width: "minmax(9rem, 2fr)",
    wide: true,
    cell: ({ deny_list: denied }) => <Patterns of={denied} tone="bad" />,
  },
  {
    id: "asks",
    title: "Asks people",
    width: "7rem",
    wide: true,
    cell: ({ capabilities }) => {
      const asking = capabilities.filter(({ approval }) => approval != null).length;
      return asking === 0 ? (
        <span className="text-ink-faint">–</span>
      ) : (
        <Badge tone="violet">{asking === 1 ? "1 rule" : `${asking} rules`}</Badge>
      );
    },
  },
  {
    id: "usable",
    title: "May be named by",
    width: "minmax(7rem, 1fr)",
    wide: true,
    extra: true,
    cell: ({ usable_by: by }) => (by === null ? "all" : <Patterns of={by} />),
  },
  {
    id: "about",
    title: "Description",
    width: "minmax(8rem, 2fr)",
    wide: true,
    cell: ({ description }) => (
      <span title={inert(description ?? "")} className="block truncate text-ink-soft">
        {inert(description ?? "")}
      </span>
    ),
  },
  {
    id: "version",
    title: "Version",
    width: "5rem",
    right: true,
    wide: true,
    cell: ({ metadata }) => metadata.version,
  },
  {
    id: "changed",
    title: "Changed",
    width: "6.5rem",
    wide: true,
    cell: ({ metadata: { updated_at: at } }) =>
      at === null ? <span className="text-ink-faint">built in</span> : <Ago at={at} />,
  },
];

function Patterns({ of, tone = "neutral" }: { readonly of: readonly string[]; readonly tone?: "neutral" | "bad" }) {
  if (of.length === 0) return <span className="text-ink-faint">–</span>;
  return (
    <span title={of.map(inert).join(", ")} className="flex gap-1 overflow-hidden">
      {of.slice(0, shown).map((pattern) => (
        <span key={pattern} className="flex min-w-0 max-w-full shrink-0">
          <Badge tone={tone}>{inert(pattern)}</Badge>
        </span>
      ))}
      {of.length > shown && <span className="text-ink-faint text-xs">+{of.length - shown}</span>}
    </span>
  );
}

export function Contexts() {
  const can = useCan();
  const [{ of }] = useFilters();
  const list = useList<Context>(["security_context", "list"], (cursor) =>
    answer(
      svc.GET("/v1/security-contexts", {
        params: { query: { limit: 200, ...(cursor === undefined ? {} : { cursor }) } },
      }),
    ),
  );
  const rows = list.rows.filter((row) => of === undefined || isSystem(row) === (of === "system"));
  const make = can("security_context:write") && (
    <ButtonLink to={"/security-contexts/-/new" as never} look="primary">
      <Plus aria-hidden />
      New context
    </ButtonLink>
  );
  return (
    <Page
      title="Security contexts"
      about="Which tools an execution, a session or a caller may call, within which bounds, and which calls a person is asked about first."
      actions={make}
    >
      <FilterBar names={["of"]}>
        <ChoiceFilter
          name="of"
          label="Made by"
          single
          choices={[
            { value: "tenant", label: "the tenant" },
            { value: "system", label: "the system" },
          ]}
        />
      </FilterBar>
      <DataTable
        name="security-contexts"
        filters={["of"]}
        columns={columns}
        {...list}
        rows={rows}
        idOf={({ name }) => name}
        linkOf={({ name }) => contextLink(name)}
        empty={
          <Empty icon={ShieldCheck} title="The tenant has no context of its own" actions={make}>
            Agents run under <code>svc-agent-runtime</code> until there is one named <code>default</code>, or their
            manifest names another. From a terminal:
            <span className="mt-2 block">
              <Cli args="contexts create context.yaml" />
            </span>
          </Empty>
        }
      />
    </Page>
  );
}
