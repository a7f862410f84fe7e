/** One cell a host, as large as the number of hosts leaves room for; arrow keys go from one to the next. */
import { type KeyboardEvent, memo, useRef } from "react";
import { classes } from "../../../kit/controls/classes.ts";
import { Status, wordsOf } from "../../../kit/values/status.tsx";
import { inert } from "../../../kit/values/text.tsx";
import type { Cell, Part } from "./cells.ts";
import { SectionHead, type WavesRun } from "./section-head.tsx";
import type { Section } from "./waves.ts";

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
  readonly parts: readonly Part[];
  /** One for each section; a single one has no heading. */
  readonly sections: readonly Section[];
  readonly run: WavesRun;
  readonly size: Size;
  /** Only cells of these statuses are shown; null: all. */
  readonly only: ReadonlySet<string> | null;
  readonly chosen: string | null;
  readonly onChoose: (id: string) => void;
}

export function Grid({ parts, sections, run, size, only, chosen, onChoose }: GridProps) {
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
  const first = parts.flatMap(({ cells }) => cells).find(({ status }) => only === null || only.has(status))?.id ?? null;
  return (
    <fieldset ref={box} aria-label="Hosts" className="m-0 flex min-w-0 flex-col gap-4 border-0 p-0" onKeyDown={keys}>
      {sections.map((section, number) => {
        const own = parts.filter((part) => part.section === number);
        if (own.length === 0) return null;
        return (
          <div key={section.from} className="flex min-w-0 flex-col gap-2">
            {sections.length > 1 && (
              <SectionHead section={section} cells={own.flatMap(({ cells }) => cells)} run={run} />
            )}
            <div className={classes("grid min-w-0", tracks[size])}>
              {own.map(({ cells }) => (
                <Cells
                  key={cells[0]?.id}
                  cells={cells}
                  size={size}
                  only={only}
                  chosen={cells.some(({ id }) => id === chosen) ? chosen : null}
                  entry={cells.some(({ id }) => id === (chosen ?? first)) ? (chosen ?? first) : null}
                  onChoose={onChoose}
                />
              ))}
            </div>
          </div>
        );
      })}
    </fieldset>
  );
}

interface CellsProps extends Pick<GridProps, "size" | "only" | "chosen" | "onChoose"> {
  readonly cells: readonly Cell[];
  /** The one that the tab key leads to. */
  readonly entry: string | null;
}

const Cells = memo(function Cells({ cells, size, only, chosen, entry, onChoose }: CellsProps) {
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
