/** The columns of a list: which there are, which are shown, and which find room. */
import { Popover } from "@base-ui/react/popover";
import { Columns3 } from "lucide-react";
import { type ReactNode, useState, useSyncExternalStore } from "react";
import { Button } from "./controls/button.tsx";
import { Checkbox } from "./controls/field.tsx";

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
  /** What a row is called: the first thing of its card where columns find no room. The first column when none is. */
  readonly lead?: boolean;
}

export function ColumnChoice<T>({
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
export function useChosenColumns<T>(name: string, columns: readonly Column<T>[]) {
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

/** Whether a condition of CSS holds for the window. */
function useMedia(condition: string): boolean {
  return useSyncExternalStore(
    (tell) => {
      const media = matchMedia(condition);
      media.addEventListener("change", tell);
      return () => media.removeEventListener("change", tell);
    },
    () => matchMedia(condition).matches,
  );
}

/** How much room a list has: `cards` where columns side by side would be cut off. */
export function useRoom(): "cards" | "narrow" | "wide" {
  const isSmall = useMedia("(max-width: 639px)");
  const isNarrow = useMedia("(max-width: 767px)");
  return isSmall ? "cards" : isNarrow ? "narrow" : "wide";
}

/** The places of a card: its name, what it is at the moment, lines of text, and values with their titles. */
export interface CardPlaces<T> {
  readonly lead: Column<T> | null;
  readonly corner: Column<T> | null;
  readonly lines: readonly Column<T>[];
  readonly values: readonly Column<T>[];
}

const corners = new Set(["status", "state", "outcome", "severity"]);

/** What takes so many shares of the width is text, and has a line of its own. */
const lineShare = 1.5;
/** How many shares of the free width a column takes; 0: its width is fixed. */
const shareOf = ({ width = "minmax(6rem, 1fr)" }: Pick<Column<never>, "width">): number =>
  Number(/([\d.]+)fr\)$/.exec(width)?.[1] ?? 0);

/** @param shown the chosen columns. Wide ones that are no text are left out, as they are between other columns. */
export function cardPlaces<T>(shown: readonly Column<T>[]): CardPlaces<T> {
  const corner = shown.find(({ id, wide = false }) => corners.has(id) && !wide) ?? null;
  const rest = shown.filter((column) => column !== corner);
  const lead = rest.find((column) => column.lead === true) ?? rest[0] ?? null;
  const others = rest.filter((column) => column !== lead);
  return {
    lead,
    corner,
    lines: others.filter((column) => column.wide === true && shareOf(column) >= lineShare),
    values: others.filter((column) => column.wide !== true || (shareOf(column) > 0 && shareOf(column) < lineShare)),
  };
}
