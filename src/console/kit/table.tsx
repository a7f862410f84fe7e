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
import { Loading, Trouble } from "./page.tsx";
import { type CardPlaces, type Column, ColumnChoice, cardPlaces, useChosenColumns, useRoom } from "./table-columns.tsx";

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
  /** Shown where there is no row. */
  readonly empty: ReactNode;
  /** Fetches the next rows when the end comes into view; null: there are none. */
  readonly more?: (() => void) | null;
  readonly loadingMore?: boolean;
  readonly height?: string;
}

const rowHeight = 40;
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
  if (!loading && rows.length === 0) return <div className="rounded-panel border border-line bg-surface">{empty}</div>;
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
          const isSelected = selection[id] === true;
          const select = bulk !== undefined && (
            <span role="gridcell" className="flex pt-px">
              <Checkbox quiet label="Select this row" checked={isSelected} onChange={() => toggle(row.original)} />
            </span>
          );
          return (
            <div
              key={id}
              id={`row-${id}`}
              ref={isCard ? virtual.measureElement : undefined}
              data-index={index}
              role="row"
              tabIndex={-1}
              aria-rowindex={index + 2}
              aria-selected={isSelected}
              data-current={index === at ? "" : undefined}
              onClick={(event) => {
                if (event.target instanceof Element && event.target.closest("a, button, input, label, [role=checkbox]"))
                  return;
                setAt(index);
                open(row.original);
              }}
              className={classes(
                "absolute inset-x-0 top-0 border-line border-b px-3 hover:bg-hover",
                "group-focus-visible/grid:data-current:bg-hover group-focus-visible/grid:data-current:shadow-[inset_3px_0_0_var(--color-accent)]",
                isCard ? "flex gap-3 py-2.5" : "grid items-center gap-3",
                (linkOf !== undefined || onOpen !== undefined) && "cursor-pointer",
                isSelected && "bg-selected",
              )}
              style={{
                transform: `translateY(${start}px)`,
                ...(isCard ? {} : { gridTemplateColumns: grid, height: rowHeight }),
              }}
            >
              {select}
              {card === null ? (
                shown.map((column) => (
                  <span
                    key={column.id}
                    role="gridcell"
                    className={classes(
                      "min-w-0 truncate [&>*]:align-middle",
                      column.right && "text-right tabular-nums [&:not(:last-child)]:pr-3",
                    )}
                  >
                    {column.cell(row.original)}
                  </span>
                ))
              ) : (
                <Card places={card} row={row.original} />
              )}
            </div>
          );
        })}
      </div>
      {loadingMore && <Loading lines={1} className="p-3" />}
    </div>
  );
}

/** One row where there is no room for columns: nothing of it is cut off at the side. */
function Card<T>({ places, row }: { readonly places: CardPlaces<T>; readonly row: T }) {
  const { lead, corner, lines, values } = places;
  return (
    <div className="flex min-w-0 flex-1 flex-col gap-1">
      <div className="flex min-w-0 items-start gap-3">
        {lead !== null && (
          <span role="gridcell" className="min-w-0 flex-1 break-words [overflow-wrap:anywhere]">
            {lead.cell(row)}
          </span>
        )}
        {corner !== null && (
          <span role="gridcell" className="shrink-0">
            {corner.cell(row)}
          </span>
        )}
      </div>
      {lines.map((column) => (
        <span key={column.id} role="gridcell" className="min-w-0 truncate text-xs empty:hidden">
          {column.cell(row)}
        </span>
      ))}
      {values.length > 0 && (
        <div className="flex min-w-0 flex-wrap items-center gap-x-4 gap-y-1 text-xs">
          {values.map(({ id, title, cell }) => (
            <span key={id} role="gridcell" className="inline-flex min-w-0 items-center gap-1.5">
              {title !== "" && <span className="shrink-0 text-ink-faint">{title}</span>}
              <span className="min-w-0 truncate">{cell(row)}</span>
            </span>
          ))}
        </div>
      )}
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
