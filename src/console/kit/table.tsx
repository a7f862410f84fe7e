/** Lists of records: as many rows as there are, only those in view drawn; keys, selection, columns to choose. */
import { useNavigate } from "@tanstack/react-router";
import {
  type ColumnDef,
  columnVisibilityFeature,
  type RowData,
  type RowSelectionState,
  rowSelectionFeature,
  tableFeatures,
  useTable,
} from "@tanstack/react-table";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, type ReactNode, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { Button } from "./controls/button.tsx";
import { classes } from "./controls/classes.ts";
import { Checkbox } from "./controls/field.tsx";
import { Filtered } from "./controls/filtered.tsx";
import { Loading, Trouble } from "./page.tsx";
import { type CardPlaces, type Column, ColumnChoice, cardPlaces, useChosenColumns, useRoom } from "./table-columns.tsx";
import { type RowActs, rowHeight, TableRow } from "./table-row.tsx";

export type { Column } from "./table-columns.tsx";

const features = tableFeatures({ rowSelectionFeature, columnVisibilityFeature });

export interface TableProps<T> {
  /** Under this name the chosen columns are kept in this browser. */
  readonly name: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  readonly idOf: (row: T) => string;
  /** The page of a row, below the console. */
  readonly linkOf?: (row: T) => string | null;
  readonly onOpen?: (row: T) => void;
  /** What can be done with several rows at once; absent: rows cannot be selected. */
  readonly bulk?: ((selected: readonly T[], clear: () => void) => ReactNode) | undefined;
  readonly loading?: boolean;
  readonly error?: unknown;
  readonly retry?: () => void;
  /** Shown where there is no row, and nothing is left out by a filter. */
  readonly empty: ReactNode;
  /** Filters in the address that leave rows out: with one of them, no row does not mean that there is none. */
  readonly filters?: readonly string[];
  /** Fetches the next rows when the end comes into view; null: there are none. */
  readonly more?: (() => void) | null;
  readonly loadingMore?: boolean;
  readonly height?: string;
}

/** Of a card, until it is measured. */
const cardHeight = 72;
/** How many pixels before the end the next rows are fetched. */
const aheadPx = 600;

export function DataTable<T extends RowData>(props: TableProps<T>) {
  const { columns, rows, idOf, bulk, empty, error, loading = false } = props;
  const [visible, choose] = useChosenColumns(props.name, columns);
  const [selection, setSelection] = useState<RowSelectionState>({});
  const definitions = useMemo(
    () =>
      columns.map(
        (column): ColumnDef<typeof features, T> => ({
          id: column.id,
          header: column.title,
          cell: ({ row }) => column.cell(row.original),
        }),
      ),
    [columns],
  );
  const table = useTable({
    features,
    columns: definitions,
    data: rows as T[],
    getRowId: idOf,
    state: { rowSelection: selection, columnVisibility: visible },
    onRowSelectionChange: (next) => setSelection(next),
    enableRowSelection: bulk !== undefined,
  });
  const selected = rows.filter((row) => selection[idOf(row)]);
  const room = useRoom();
  const chosen = columns.filter(({ id }) => visible[id] !== false);
  const shown = room === "narrow" ? chosen.filter(({ wide = false }) => !wide) : chosen;
  const grid = [bulk === undefined ? "" : "2.25rem", ...shown.map(({ width = "minmax(6rem, 1fr)" }) => width)].join(
    " ",
  );
  if (error != null && rows.length === 0)
    return <Trouble error={error} {...(props.retry === undefined ? {} : { retry: props.retry })} />;
  // There is nothing to count and no column to choose.
  if (!loading && rows.length === 0)
    return (
      <div className="rounded-panel border border-line bg-surface">
        <Filtered names={props.filters ?? []}>{empty}</Filtered>
      </div>
    );
  return (
    <div className="overflow-hidden rounded-panel border border-line bg-surface">
      <div className="flex min-h-10 flex-wrap items-center gap-2 border-line border-b px-3 py-1 text-ink-soft text-xs">
        {bulk !== undefined && selected.length > 0 ? (
          <>
            <span className="font-medium text-ink">{selected.length} selected</span>
            {bulk(selected, () => setSelection({}))}
            <Button small look="ghost" onClick={() => setSelection({})}>
              Clear
            </Button>
          </>
        ) : (
          <span aria-live="polite">
            {loading ? "Loading …" : `${rows.length.toLocaleString("en")}${props.more == null ? "" : "+"} shown`}
          </span>
        )}
        <div className="ml-auto">
          <ColumnChoice columns={columns} visible={visible} choose={choose} />
        </div>
      </div>
      {rows.length === 0 ? (
        <Loading lines={6} className="p-4" />
      ) : (
        <Rows
          {...props}
          grid={grid}
          shown={shown}
          card={room === "cards" ? cardPlaces(chosen) : null}
          selection={selection}
          setSelection={setSelection}
          table={table}
        />
      )}
    </div>
  );
}

interface RowsProps<T extends RowData> extends TableProps<T> {
  readonly grid: string;
  readonly shown: readonly Column<T>[];
  /** Null: rows have their columns side by side. */
  readonly card: CardPlaces<T> | null;
  readonly selection: RowSelectionState;
  readonly setSelection: (selection: RowSelectionState) => void;
  readonly table: ReturnType<typeof useTable<typeof features, T>>;
}

function Rows<T extends RowData>({
  rows,
  idOf,
  linkOf,
  onOpen,
  bulk,
  grid,
  shown,
  card,
  selection,
  setSelection,
  table,
  more,
  loadingMore = false,
  height,
}: RowsProps<T>) {
  const box = useRef<HTMLDivElement>(null);
  const [at, setAt] = useState(-1);
  const navigate = useNavigate();
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => (card === null ? rowHeight : cardHeight),
    overscan: 12,
  });
  const isCard = card !== null;
  // biome-ignore lint/correctness/useExhaustiveDependencies: rows of another form have other heights
  useLayoutEffect(() => virtual.measure(), [isCard]);
  const room = useHeight(box);
  const isAllSelected = rows.length > 0 && rows.every((row) => selection[idOf(row)]);
  const isSomeSelected = !isAllSelected && rows.some((row) => selection[idOf(row)]);
  const toggle = (row: T) => {
    const { [idOf(row)]: isSelected, ...others } = selection;
    setSelection(isSelected === true ? others : { ...others, [idOf(row)]: true as const });
  };
  const open = (row: T) => {
    const link = linkOf?.(row) ?? null;
    if (link !== null) navigate({ to: link }).catch(() => {});
    else onOpen?.(row);
  };
  const keys = (event: KeyboardEvent<HTMLDivElement>) => {
    if (event.target instanceof HTMLInputElement || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = {
      ArrowDown: 1,
      j: 1,
      ArrowUp: -1,
      k: -1,
      PageDown: 15,
      PageUp: -15,
      Home: -rows.length,
      End: rows.length,
    }[event.key];
    const row = rows[at];
    if (step !== undefined) {
      const next = Math.max(0, Math.min(rows.length - 1, at + step));
      setAt(next);
      virtual.scrollToIndex(next);
    } else if (row !== undefined && event.key === "Enter" && event.target === box.current) open(row);
    else if (row !== undefined && event.key === "x" && bulk !== undefined) toggle(row);
    else return;
    event.preventDefault();
  };
  const acts = useRef<RowActs<T>>({ toggle, choose: () => {} });
  acts.current = {
    toggle,
    choose(row, index) {
      setAt(index);
      open(row);
    },
  };
  const items = virtual.getVirtualItems();
  useEffect(() => {
    const last = items.at(-1);
    if (more != null && !loadingMore && last !== undefined && (rows.length - last.index) * rowHeight < aheadPx) more();
  }, [items, more, loadingMore, rows.length]);
  const current = rows[at];
  const selectAll = bulk !== undefined && (
    <Checkbox
      quiet={!isCard}
      label="Select all"
      checked={isAllSelected}
      mixed={isSomeSelected}
      onChange={(checked) =>
        setSelection(checked ? Object.fromEntries(rows.map((row) => [idOf(row), true as const])) : {})
      }
    />
  );
  return (
    <div
      ref={box}
      role="grid"
      tabIndex={0}
      aria-label="List"
      aria-rowcount={rows.length + 1}
      aria-activedescendant={current === undefined ? undefined : `row-${idOf(current)}`}
      onKeyDown={keys}
      onFocus={(event) => {
        // The keys act on a row: there is one as soon as they are heard.
        if (event.target === box.current && at === -1) setAt(0);
      }}
      className="group/grid overflow-auto focus-visible:-outline-offset-2"
      style={{ maxHeight: height ?? room }}
    >
      {card === null ? (
        <div
          role="row"
          className="sticky top-0 z-10 grid min-w-fit items-center gap-3 border-line border-b bg-surface px-3"
          style={{ gridTemplateColumns: grid }}
        >
          {bulk !== undefined && (
            <span role="columnheader" className="flex">
              {selectAll}
            </span>
          )}
          {shown.map(({ id, title, right }) => (
            <span
              key={id}
              role="columnheader"
              className={classes(
                "truncate py-1.5 font-medium text-ink-faint text-xs",
                right && "text-right [&:not(:last-child)]:pr-3",
              )}
            >
              {title}
            </span>
          ))}
        </div>
      ) : (
        bulk !== undefined && (
          <div role="row" className="border-line border-b px-3 py-1.5 text-ink-soft text-xs">
            <span role="columnheader">{selectAll}</span>
          </div>
        )
      )}
      <div className={classes("relative", !isCard && "min-w-fit")} style={{ height: virtual.getTotalSize() }}>
        {items.map(({ index, start }) => {
          const row = table.getRowModel().rows[index];
          if (row === undefined) return null;
          const id = row.id;
          return (
            <TableRow
              key={id}
              id={id}
              index={index}
              start={start}
              row={row.original}
              isSelected={selection[id] === true}
              isCurrent={index === at}
              isLink={linkOf !== undefined || onOpen !== undefined}
              isSelectable={bulk !== undefined}
              grid={grid}
              shown={shown}
              card={card}
              measure={virtual.measureElement}
              acts={acts}
            />
          );
        })}
      </div>
      {loadingMore && <Loading lines={1} className="p-3" />}
    </div>
  );
}

/** As high as the rest of the window, so that a page of one list does not scroll twice; a list further down has a part. */
function useHeight(box: { readonly current: HTMLElement | null }): string {
  const [top, setTop] = useState<number | null>(null);
  useLayoutEffect(() => {
    if (box.current !== null) setTop(box.current.getBoundingClientRect().top + scrollY);
  }, [box]);
  return top === null || top > innerHeight / 2
    ? "min(70dvh, 60rem)"
    : `max(20rem, calc(100dvh - ${Math.round(top)}px - 1.6rem))`;
}
