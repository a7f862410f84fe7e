/** The inbox of what waits for people: the list, beside it the one that is read; and the history. */
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { ArrowLeft, CheckSquare, Inbox as InboxIcon } from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";
import { answer } from "../../../programs/client/client.ts";
import { svc } from "../../app/session/api.ts";
import { useCan } from "../../app/session/session.ts";
import { classes } from "../../kit/controls/classes.ts";
import { Filtered } from "../../kit/controls/filtered.tsx";
import { ChoiceFilter, FilterBar, SearchFilter, useFilters } from "../../kit/controls/filters.tsx";
import { Tabs } from "../../kit/controls/tabs.tsx";
import { Empty, Loading, Page, Trouble } from "../../kit/page.tsx";
import { Badge } from "../../kit/values/status.tsx";
import { Detail } from "./detail.tsx";
import { History } from "./history.tsx";
import { isTyping } from "./keys.ts";
import { List } from "./list.tsx";
import { kindWords, type Pending } from "./queries.ts";
import { Together } from "./together.tsx";

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

/** Opens the only one that waits, where there is room beside the list. */
function useLone(id: string | undefined, open: (id: string) => void): void {
  const opener = useRef(open);
  opener.current = open;
  // One that was just decided may stand in the list for a moment more.
  const last = useRef<string | null>(null);
  useEffect(() => {
    if (id === undefined || id === last.current || !matchMedia("(min-width: 64rem)").matches) return;
    last.current = id;
    opener.current(id);
  }, [id]);
}

function NothingWaits() {
  return (
    <Empty icon={CheckSquare} title="Nothing waits for a decision">
      Workflows with a Human state, fleet runs on many hosts and tool calls that a policy asks about come here.
    </Empty>
  );
}

function Inbox({ id, list }: { readonly id: string | null; readonly list: Waiting }) {
  const navigate = useNavigate();
  const [filters] = useFilters();
  const { rows, error, loading, retry } = list;
  const [chosen, choose] = useState<ReadonlySet<string>>(new Set());
  const selected = rows.filter((row) => chosen.has(row.id));
  const toggle = (row: string) => {
    const next = new Set(chosen);
    if (!next.delete(row)) next.add(row);
    choose(next);
  };
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
  const mark = () => {
    if (id !== null) toggle(id);
  };
  const known = useRef({ step, mark });
  known.current = { step, mark };
  useEffect(() => {
    const keys = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isTyping(event.target)) return;
      const by = { j: 1, k: -1 }[event.key] as 1 | -1 | undefined;
      if (by === undefined && event.key !== "x") return;
      event.preventDefault();
      if (by === undefined) known.current.mark();
      else known.current.step(by);
    };
    addEventListener("keydown", keys);
    return () => removeEventListener("keydown", keys);
  }, []);
  // A single one is read at once, where there is room beside the list.
  const isFiltered = filters.q !== undefined || filters.kind !== undefined;
  const lone = rows.length === 1 && !loading && !isFiltered && chosen.size === 0 ? rows[0]?.id : undefined;
  useLone(id === null ? lone : undefined, open);
  /** What stood behind the one that was decided. */
  const goOn = () => {
    const place = order.current.indexOf(id ?? "");
    const behind = order.current.slice(place + 1).find((one) => one !== id && rows.some((row) => row.id === one));
    const before = order.current.slice(0, Math.max(0, place)).findLast((one) => rows.some((row) => row.id === one));
    open(behind ?? before ?? null);
  };
  return (
    <div
      className={classes(
        "grid min-w-0 grid-cols-1 gap-4",
        (id !== null || rows.length > 0) && "lg:grid-cols-[minmax(18rem,24rem)_minmax(0,1fr)]",
      )}
    >
      <div className={classes("flex min-w-0 flex-col gap-3", id !== null && "max-lg:hidden")}>
        <FilterBar names={["q", "kind"]}>
          <SearchFilter name="q" label="Search" />
          <ChoiceFilter name="kind" label="Kind" choices={kinds} single />
        </FilterBar>
        {error !== null && rows.length === 0 ? (
          <Trouble error={error} retry={retry} />
        ) : (
          <div className="overflow-hidden rounded-panel border border-line bg-surface">
            <Together
              rows={rows}
              selected={selected}
              onChoose={(ids) => choose(new Set(ids))}
              onDecided={() => open(null)}
            />
            {loading ? (
              <Loading className="p-4" />
            ) : rows.length === 0 ? (
              <Filtered names={["q", "kind"]}>
                <NothingWaits />
              </Filtered>
            ) : (
              <List rows={rows} id={id} chosen={chosen} onToggle={toggle} />
            )}
          </div>
        )}
        {rows.length > 0 && (
          <p className="m-0 text-ink-faint text-xs max-lg:hidden">
            <kbd>j</kbd> <kbd>k</kbd> next and previous · <kbd>a</kbd> approve · <kbd>r</kbd> reject · <kbd>x</kbd>{" "}
            select
          </p>
        )}
      </div>
      <div className={classes("min-w-0", id === null && (rows.length === 0 ? "hidden" : "max-lg:hidden"))}>
        <div className="rounded-panel border border-line bg-surface lg:sticky lg:top-4 lg:max-h-[calc(100dvh-2rem)] lg:overflow-auto">
          {id === null ? (
            <Empty icon={InboxIcon} title="Choose what to read">
              Press <kbd>j</kbd> for the first one.
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
