/** The inbox of what waits for people: the list, beside it the one that is read; and the history. */
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { ArrowLeft, CheckSquare, Inbox as InboxIcon } from "lucide-react";
import { useEffect, useMemo, useRef } from "react";
import { answer } from "../../../programs/client/client.ts";
import { svc } from "../../app/session/api.ts";
import { useCan } from "../../app/session/session.ts";
import { classes } from "../../kit/controls/classes.ts";
import { ChoiceFilter, FilterBar, SearchFilter, useFilters } from "../../kit/controls/filters.tsx";
import { Tabs } from "../../kit/controls/tabs.tsx";
import { Empty, Loading, Page, Trouble } from "../../kit/page.tsx";
import { Badge } from "../../kit/values/status.tsx";
import { inert } from "../../kit/values/text.tsx";
import { Ago } from "../../kit/values/time.tsx";
import { Countdown } from "./countdown.tsx";
import { nameOf } from "./decide.tsx";
import { Detail } from "./detail.tsx";
import { History } from "./history.tsx";
import { isTyping } from "./keys.ts";
import { kindWords, type Pending } from "./queries.ts";

const kinds = Object.entries(kindWords).map(([value, label]) => ({ value, label }));

export function Approvals() {
  const [filters, change] = useFilters();
  const can = useCan();
  const { id = null } = useParams({ strict: false }) as { id?: string };
  const list = useWaiting();
  const tab = filters.tab === "history" ? "history" : "waiting";
  const count = list.rows.length;
  return (
    <Page title="Approvals" beside={count > 0 ? <Badge tone="violet">{count} waiting</Badge> : undefined}>
      <Tabs
        chosen={tab}
        onChoose={(next) => change({ tab: next === "history" ? next : "" })}
        tabs={[
          {
            id: "waiting",
            label: "Waiting",
            beside: count > 0 ? <Badge tone="violet">{count}</Badge> : undefined,
            content: tab === "waiting" && <Inbox id={id} list={list} />,
          },
          ...(can("approval:read")
            ? [{ id: "history", label: "History", content: tab === "history" && <History /> }]
            : []),
        ]}
      />
    </Page>
  );
}

type Waiting = ReturnType<typeof useWaiting>;

function useWaiting() {
  const [filters] = useFilters();
  const { q = "", kind = "" } = filters;
  const query = useQuery({
    queryKey: ["approval", "list", "waiting", kind],
    queryFn: () =>
      answer(
        svc.GET("/v1/human-approvals", {
          params: { query: kind === "" ? {} : { kind: kind as "workflow" | "fleet_run" | "tool_call" } },
        }),
      ),
    placeholderData: (known) => known,
  });
  const rows = useMemo(() => {
    const wanted = q.toLowerCase();
    // What another window has decided is gone at once: events change its status before the list is read again.
    return (query.data?.items ?? []).filter(
      (one) => one.status === "pending" && (wanted === "" || textOf(one).includes(wanted)),
    );
  }, [query.data, q]);
  return { rows, error: query.error, loading: query.isPending, retry: () => void query.refetch() };
}

const textOf = (one: Pending): string =>
  [
    one.id,
    one.execution_id,
    one.workflow_name,
    one.state_name,
    one.prompt,
    one.tool_call?.tool,
    one.tool_call?.agent_name,
  ]
    .join(" ")
    .toLowerCase();

function Inbox({ id, list }: { readonly id: string | null; readonly list: Waiting }) {
  const navigate = useNavigate();
  const [filters] = useFilters();
  const { rows, error, loading, retry } = list;
  const at = rows.findIndex((row) => row.id === id);
  const order = useRef<readonly string[]>([]);
  if (at >= 0) order.current = rows.map((row) => row.id);
  const open = (next: string | null) =>
    void navigate({
      to: next === null ? "/approvals" : `/approvals/${next}`,
      search: filters as never,
      replace: id !== null,
    });
  const step = (by: 1 | -1) => {
    const next = rows[at < 0 ? 0 : Math.max(0, Math.min(rows.length - 1, at + by))];
    if (next !== undefined) open(next.id);
  };
  const known = useRef(step);
  known.current = step;
  useEffect(() => {
    const keys = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isTyping(event.target)) return;
      const by = { j: 1, k: -1 }[event.key] as 1 | -1 | undefined;
      if (by === undefined) return;
      event.preventDefault();
      known.current(by);
    };
    addEventListener("keydown", keys);
    return () => removeEventListener("keydown", keys);
  }, []);
  /** What stood behind the one that was decided. */
  const goOn = () => {
    const place = order.current.indexOf(id ?? "");
    const behind = order.current.slice(place + 1).find((one) => one !== id && rows.some((row) => row.id === one));
    const before = order.current.slice(0, Math.max(0, place)).findLast((one) => rows.some((row) => row.id === one));
    open(behind ?? before ?? null);
  };
  return (
    <div className="grid min-w-0 grid-cols-1 gap-4 lg:grid-cols-[minmax(18rem,24rem)_minmax(0,1fr)]">
      <div className={classes("flex min-w-0 flex-col gap-3", id !== null && "max-lg:hidden")}>
        <FilterBar names={["q", "kind"]}>
          <SearchFilter name="q" label="Search" />
          <ChoiceFilter name="kind" label="Kind" choices={kinds} single />
        </FilterBar>
        {error !== null && rows.length === 0 ? (
          <Trouble error={error} retry={retry} />
        ) : (
          <div className="overflow-hidden rounded-panel border border-line bg-surface">
            {loading ? (
              <Loading className="p-4" />
            ) : rows.length === 0 ? (
              <Empty icon={CheckSquare} title="Nothing waits for a decision">
                Workflows with a Human state, fleet runs on many hosts and tool calls that a policy asks about come
                here.
              </Empty>
            ) : (
              <List rows={rows} id={id} />
            )}
          </div>
        )}
        {rows.length > 0 && (
          <p className="m-0 text-ink-faint text-xs max-lg:hidden">
            <kbd>j</kbd> <kbd>k</kbd> next and previous · <kbd>a</kbd> approve · <kbd>r</kbd> reject
          </p>
        )}
      </div>
      <div className={classes("min-w-0", id === null && "max-lg:hidden")}>
        <div className="rounded-panel border border-line bg-surface lg:sticky lg:top-4 lg:max-h-[calc(100dvh-2rem)] lg:overflow-auto">
          {id === null ? (
            <Empty icon={InboxIcon} title={rows.length === 0 ? "Nothing to read" : "Choose what to read"}>
              {rows.length === 0 ? (
                "What is asked stands here, with all that belongs to it."
              ) : (
                <>
                  Press <kbd>j</kbd> for the first one.
                </>
              )}
            </Empty>
          ) : (
            <Detail
              id={id}
              onDecided={goOn}
              back={
                <Link
                  to="/approvals"
                  search={filters as never}
                  className="inline-flex items-center gap-1 self-start text-accent text-xs hover:underline lg:hidden"
                >
                  <ArrowLeft aria-hidden className="size-3.5" />
                  All that waits
                </Link>
              }
            />
          )}
        </div>
      </div>
    </div>
  );
}

function List({ rows, id }: { readonly rows: readonly Pending[]; readonly id: string | null }) {
  const [filters] = useFilters();
  const box = useRef<HTMLUListElement>(null);
  useEffect(() => {
    if (id !== null) box.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
  }, [id]);
  return (
    <ul
      ref={box}
      aria-label="Approvals that wait"
      className="m-0 max-h-[calc(100dvh-16rem)] min-h-40 list-none overflow-auto p-0"
    >
      {rows.map((row) => {
        const isShown = row.id === id;
        return (
          <li key={row.id} className="border-line border-b last:border-b-0">
            <Link
              to="/approvals/$id"
              params={{ id: row.id } as never}
              search={filters as never}
              aria-current={isShown ? "true" : undefined}
              className={classes(
                "block border-l-2 px-3 py-2.5 text-ink no-underline hover:bg-hover",
                isShown ? "border-accent bg-selected" : "border-transparent",
              )}
            >
              <span className="flex items-baseline gap-2">
                <span className="min-w-0 flex-1 truncate font-medium">{inert(nameOf(row))}</span>
                <Ago at={row.created_at} className="shrink-0 text-2xs text-ink-faint tabular-nums" />
              </span>
              <span className="mt-0.5 line-clamp-2 break-words text-ink-soft text-xs">
                {inert(row.prompt.slice(0, 300))}
              </span>
              <span className="mt-1 flex items-center gap-2 text-2xs text-ink-faint">
                {kindWords[row.kind] ?? row.kind}
                {row.quorum > 1 && (
                  <span>
                    {row.approvals}/{row.quorum} approved
                  </span>
                )}
                <span className="ml-auto">
                  <Countdown to={row.expires_at} /> left
                </span>
              </span>
            </Link>
          </li>
        );
      })}
    </ul>
  );
}
