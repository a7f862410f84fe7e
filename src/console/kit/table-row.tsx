/** One row of a list. It is drawn anew when something of it changes, not when the list moves. */
import { memo } from "react";
import { classes } from "./controls/classes.ts";
import { Checkbox } from "./controls/field.tsx";
import type { CardPlaces, Column } from "./table-columns.tsx";

export const rowHeight = 40;

/** What a row does; read when it is done, so that a row need not be drawn for it. */
export interface RowActs<T> {
  readonly toggle: (row: T) => void;
  readonly choose: (row: T, index: number) => void;
}

interface RowProps<T> {
  readonly id: string;
  readonly index: number;
  /** Pixels from the top of the list. */
  readonly start: number;
  readonly row: T;
  readonly isSelected: boolean;
  readonly isCurrent: boolean;
  readonly isLink: boolean;
  readonly isSelectable: boolean;
  readonly grid: string;
  readonly shown: readonly Column<T>[];
  /** Null: its columns stand side by side. */
  readonly card: CardPlaces<T> | null;
  readonly measure: (element: HTMLElement | null) => void;
  readonly acts: { readonly current: RowActs<T> };
}

function Row<T>({ id, index, start, row, isSelected, isCurrent, isLink, isSelectable, ...form }: RowProps<T>) {
  const { grid, shown, card, measure, acts } = form;
  const isCard = card !== null;
  return (
    <div
      id={`row-${id}`}
      ref={isCard ? measure : undefined}
      data-index={index}
      role="row"
      tabIndex={-1}
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      data-current={isCurrent ? "" : undefined}
      onClick={(event) => {
        if (event.target instanceof Element && event.target.closest("a, button, input, label, [role=checkbox]")) return;
        acts.current.choose(row, index);
      }}
      className={classes(
        "absolute inset-x-0 top-0 border-line border-b px-3 hover:bg-hover",
        "group-focus-visible/grid:data-current:bg-hover group-focus-visible/grid:data-current:shadow-[inset_3px_0_0_var(--color-accent)]",
        isCard ? "flex gap-3 py-2.5" : "grid items-center gap-3",
        isLink && "cursor-pointer",
        isSelected && "bg-selected",
      )}
      style={{
        transform: `translateY(${start}px)`,
        ...(isCard ? {} : { gridTemplateColumns: grid, height: rowHeight }),
      }}
    >
      {isSelectable && (
        <span role="gridcell" className="flex pt-px">
          <Checkbox quiet label="Select this row" checked={isSelected} onChange={() => acts.current.toggle(row)} />
        </span>
      )}
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
            {column.cell(row)}
          </span>
        ))
      ) : (
        <Card places={card} row={row} />
      )}
    </div>
  );
}

// `memo` forgets that a component has a type parameter.
export const TableRow = memo(Row) as typeof Row;

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
