/** Lists of records: as many rows as there are, only those in view drawn; keys, selection, columns to choose. */
import { Popover } from "@base-ui/react/popover";
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
import { Columns3 } from "lucide-react";
import { type KeyboardEvent, type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { Button } from "./controls/button.tsx";
import { classes } from "./controls/classes.ts";
import { Checkbox } from "./controls/field.tsx";
import { Loading, Trouble } from "./page.tsx";

const features = tableFeatures({ rowSelectionFeature, columnVisibilityFeature });

/** One column. */
export interface Column<T> {
  readonly id: string;
  readonly title: string;
  readonly cell: (row: T) => ReactNode;
  /** A CSS width: `8rem`, `minmax(10rem, 2fr)`; `minmax(6rem, 1fr)` when absent. */
  readonly width?: string;
  /** Not shown on narrow screens. */
  readonly wide?: boolean;
  /** Not shown until it is chosen. */
  readonly extra?: boolean;
  readonly right?: boolean;
}

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
  const shown = columns.filter(({ id }) => visible[id] !== false);
  const grid = [bulk === undefined ? "" : "2.25rem", ...shown.map(({ width = "minmax(6rem, 1fr)" }) => width)].join(
    " ",
  );
  if (error != null && rows.length === 0)
    return <Trouble error={error} {...(props.retry === undefined ? {} : { retry: props.retry })} />;
  return (
    <div className="overflow-hidden rounded-panel border border-line bg-surface">
      <div className="flex min-h-10 items-center gap-2 border-line border-b px-3 text-ink-soft text-xs">
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
      {loading && rows.length === 0 ? (
        <Loading lines={6} className="p-4" />
      ) : rows.length === 0 ? (
        empty
      ) : (
        <Rows {...props} grid={grid} shown={shown} selection={selection} setSelection={setSelection} table={table} />
      )}
    </div>
  );
}

interface RowsProps<T extends RowData> extends TableProps<T> {
  readonly grid: string;
  readonly shown: readonly Column<T>[];
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
  selection,
  setSelection,
  table,
  more,
  loadingMore = false,
  height = "min(70dvh, 60rem)",
}: RowsProps<T>) {
  const box = useRef<HTMLDivElement>(null);
  const [at, setAt] = useState(-1);
  const navigate = useNavigate();
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => rowHeight,
    overscan: 12,
  });
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
  return (
    <div
      ref={box}
      role="grid"
      tabIndex={0}
      aria-rowcount={rows.length + 1}
      aria-activedescendant={current === undefined ? undefined : `row-${idOf(current)}`}
      onKeyDown={keys}
      className="overflow-auto outline-none focus-visible:[&_[data-current]]:bg-hover"
      style={{ maxHeight: height }}
    >
      <div
        role="row"
        className="sticky top-0 z-10 grid min-w-fit items-center gap-3 border-line border-b bg-surface px-3"
        style={{ gridTemplateColumns: grid }}
      >
        {bulk !== undefined && (
          <span role="columnheader" className="flex">
            <Checkbox
              quiet
              label="Select all"
              checked={isAllSelected}
              mixed={isSomeSelected}
              onChange={(checked) =>
                setSelection(checked ? Object.fromEntries(rows.map((row) => [idOf(row), true as const])) : {})
              }
            />
          </span>
        )}
        {shown.map(({ id, title, wide, right }) => (
          <span
            key={id}
            role="columnheader"
            className={classes(
              "truncate py-1.5 font-medium text-ink-faint text-xs",
              wide && "max-md:hidden",
              right && "text-right",
            )}
          >
            {title}
          </span>
        ))}
      </div>
      <div className="relative min-w-fit" style={{ height: virtual.getTotalSize() }}>
        {items.map(({ index, start }) => {
          const row = table.getRowModel().rows[index];
          if (row === undefined) return null;
          const id = row.id;
          const isSelected = selection[id] === true;
          return (
            <div
              key={id}
              id={`row-${id}`}
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
                "absolute inset-x-0 top-0 grid items-center gap-3 border-line border-b px-3 hover:bg-hover",
                (linkOf !== undefined || onOpen !== undefined) && "cursor-pointer",
                isSelected && "bg-selected",
              )}
              style={{ gridTemplateColumns: grid, height: rowHeight, transform: `translateY(${start}px)` }}
            >
              {bulk !== undefined && (
                <span role="gridcell" className="flex">
                  <Checkbox quiet label="Select this row" checked={isSelected} onChange={() => toggle(row.original)} />
                </span>
              )}
              {shown.map((column) => (
                <span
                  key={column.id}
                  role="gridcell"
                  className={classes(
                    "min-w-0 truncate [&>*]:align-middle",
                    column.wide && "max-md:hidden",
                    column.right && "text-right tabular-nums",
                  )}
                >
                  {column.cell(row.original)}
                </span>
              ))}
            </div>
          );
        })}
      </div>
      {loadingMore && <Loading lines={1} className="p-3" />}
    </div>
  );
}

function ColumnChoice<T>({
  columns,
  visible,
  choose,
}: {
  readonly columns: readonly Column<T>[];
  readonly visible: Readonly<Record<string, boolean>>;
  readonly choose: (visible: Record<string, boolean>) => void;
}) {
  return (
    <Popover.Root>
      <Popover.Trigger render={<Button small look="ghost" aria-label="Columns" />}>
        <Columns3 aria-hidden />
        <span className="max-sm:hidden">Columns</span>
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Positioner align="end" sideOffset={4} className="z-40">
          <Popover.Popup className="pop flex min-w-44 flex-col gap-1 p-2.5 outline-none">
            <Popover.Title className="sr-only">Columns</Popover.Title>
            {columns.map(({ id, title }) => (
              <Checkbox
                key={id}
                checked={visible[id] !== false}
                onChange={(checked) => choose({ ...visible, [id]: checked })}
                label={title}
              />
            ))}
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}

/** Which columns are shown: as they are declared, until the reader chooses. */
function useChosenColumns<T>(name: string, columns: readonly Column<T>[]) {
  const key = `svc.columns.${name}`;
  const [visible, setVisible] = useState<Record<string, boolean>>(() => {
    const stored = localStorage.getItem(key);
    const declared = Object.fromEntries(columns.map(({ id, extra = false }) => [id, !extra]));
    return stored === null ? declared : { ...declared, ...(JSON.parse(stored) as Record<string, boolean>) };
  });
  const choose = (next: Record<string, boolean>) => {
    localStorage.setItem(key, JSON.stringify(next));
    setVisible(next);
  };
  return [visible, choose] as const;
}
