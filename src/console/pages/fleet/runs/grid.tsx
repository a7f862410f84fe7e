/** One cell a host, as large as the number of hosts leaves room for; arrow keys go from one to the next. */
import { type KeyboardEvent, memo, useRef } from "react";
import { classes } from "../../../kit/controls/classes.ts";
import { Status, wordsOf } from "../../../kit/values/status.tsx";
import { inert } from "../../../kit/values/text.tsx";
import type { Cell } from "./cells.ts";

/** Colours and signs of the commands of hosts. */
export const marks: Readonly<Record<string, readonly [sign: string, look: string]>> = {
  pending: ["", "bg-hover text-ink-faint border-line"],
  queued: ["…", "bg-hover text-ink-faint border-line-strong border-dashed"],
  dispatched: ["›", "bg-info-soft text-info border-info/30"],
  running: ["▸", "bg-info text-surface border-transparent pulse"],
  cancelling: ["▸", "bg-warn text-surface border-transparent pulse"],
  ok: ["✓", "bg-good text-surface border-transparent"],
  err: ["✕", "bg-bad text-surface border-transparent"],
  timed_out: ["⏱", "bg-bad text-surface border-transparent"],
  refused: ["⊘", "bg-bad text-surface border-transparent"],
  lost: ["?", "bg-bad text-surface border-transparent"],
  expired: ["⏱", "bg-warn text-surface border-transparent"],
  cancelled: ["–", "bg-hover text-ink-soft border-line-strong"],
  not_started: ["–", "bg-surface text-ink-faint border-line border-dashed"],
};

export type Size = "large" | "middle" | "small";
export const sizeFor = (hosts: number): Size => (hosts <= 40 ? "large" : hosts <= 600 ? "middle" : "small");

const tracks: Readonly<Record<Size, string>> = {
  large: "grid-cols-[repeat(auto-fill,minmax(11rem,1fr))] gap-2",
  middle: "grid-cols-[repeat(auto-fill,1.75rem)] gap-1",
  small: "grid-cols-[repeat(auto-fill,0.875rem)] gap-0.5",
};

interface GridProps {
  readonly parts: readonly (readonly Cell[])[];
  readonly size: Size;
  /** Only cells of these statuses are shown; null: all. */
  readonly only: ReadonlySet<string> | null;
  readonly chosen: string | null;
  readonly onChoose: (id: string) => void;
}

export function Grid({ parts, size, only, chosen, onChoose }: GridProps) {
  const box = useRef<HTMLFieldSetElement>(null);
  const keys = (event: KeyboardEvent) => {
    const buttons = [...(box.current?.querySelectorAll<HTMLButtonElement>("[data-host]") ?? [])];
    const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
    const here = buttons[at];
    if (here === undefined) return;
    const top = here.offsetTop;
    const inRow = Math.max(1, buttons.filter((button) => button.offsetTop === top).length);
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: inRow, ArrowUp: -inRow, Home: -at, End: buttons.length }[
      event.key
    ];
    if (step === undefined) return;
    event.preventDefault();
    buttons[Math.max(0, Math.min(buttons.length - 1, at + step))]?.focus();
  };
  const first = parts.flat().find(({ status }) => only === null || only.has(status))?.id ?? null;
  return (
    <fieldset
      ref={box}
      aria-label="Hosts"
      className={classes("m-0 grid min-w-0 border-0 p-0", tracks[size])}
      onKeyDown={keys}
    >
      {parts.map((cells, part) => (
        <Part
          key={cells[0]?.id ?? part}
          cells={cells}
          size={size}
          only={only}
          chosen={cells.some(({ id }) => id === chosen) ? chosen : null}
          entry={cells.some(({ id }) => id === (chosen ?? first)) ? (chosen ?? first) : null}
          onChoose={onChoose}
        />
      ))}
    </fieldset>
  );
}

interface PartProps extends Omit<GridProps, "parts"> {
  readonly cells: readonly Cell[];
  /** The one that the tab key leads to. */
  readonly entry: string | null;
}

const Part = memo(function Part({ cells, size, only, chosen, entry, onChoose }: PartProps) {
  return cells.map(({ id, name, status, message, exitCode }) => {
    if (only !== null && !only.has(status)) return null;
    const [sign, look] = marks[status] ?? ["", "bg-hover text-ink-soft border-line"];
    const label = `${inert(name)}: ${wordsOf(status)}`;
    const shared = {
      type: "button" as const,
      "data-host": id,
      "aria-pressed": id === chosen,
      tabIndex: id === entry ? 0 : -1,
      onClick: () => onChoose(id),
    };
    if (size === "large")
      return (
        <button
          key={id}
          {...shared}
          className={classes(
            "flex min-w-0 flex-col gap-0.5 rounded-control border border-line bg-surface px-2.5 py-1.5 text-left hover:bg-hover",
            id === chosen && "border-accent! ring-1 ring-accent",
          )}
        >
          <span className="truncate font-medium">{inert(name)}</span>
          <span className="flex items-center gap-2">
            <Status status={status} bare />
            {exitCode !== null && exitCode !== 0 && <span className="text-ink-faint text-xs">exit {exitCode}</span>}
          </span>
          {message !== null && <span className="truncate text-bad text-xs">{inert(message)}</span>}
        </button>
      );
    return (
      <button
        key={id}
        {...shared}
        aria-label={label}
        title={label}
        className={classes(
          "flex aspect-square items-center justify-center rounded-sm border font-bold leading-none",
          size === "small" ? "text-[0.5rem]" : "text-xs",
          look,
          id === chosen && "ring-2 ring-accent ring-offset-1 ring-offset-surface",
        )}
      >
        <span aria-hidden>{sign}</span>
      </button>
    );
  });
});
