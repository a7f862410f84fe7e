/** How many hosts stand how, as a bar and as switches that show only some of them. */
import { classes } from "../../../kit/controls/classes.ts";
import { toneOf, wordsOf } from "../../../kit/values/status.tsx";
import { marks } from "./grid.tsx";

const order = Object.keys(marks).sort((one, other) => rank(one) - rank(other));
function rank(status: string): number {
  const places = [
    "ok",
    "running",
    "dispatched",
    "cancelling",
    "err",
    "timed_out",
    "refused",
    "lost",
    "expired",
    "cancelled",
    "not_started",
    "queued",
    "pending",
  ];
  return places.indexOf(status);
}

const bars: Readonly<Record<string, string>> = {
  good: "bg-good",
  bad: "bg-bad",
  info: "bg-info",
  warn: "bg-warn",
  neutral: "bg-line-strong",
  violet: "bg-violet",
};

export function Legend({
  counts,
  total,
  only,
  onChange,
}: {
  readonly counts: Readonly<Record<string, number>>;
  readonly total: number;
  readonly only: ReadonlySet<string> | null;
  readonly onChange: (show: string) => void;
}) {
  const shown = order.filter((status) => (counts[status] ?? 0) > 0);
  const toggle = (status: string) => {
    const next = new Set(only ?? []);
    if (!next.delete(status)) next.add(status);
    onChange([...next].join(","));
  };
  return (
    <div className="flex flex-col gap-2">
      <div className="flex h-2 overflow-hidden rounded-full bg-hover" aria-hidden>
        {shown
          .filter((status) => status !== "pending")
          .map((status) => (
            <span
              key={status}
              className={bars[toneOf(status)]}
              style={{ width: `${((counts[status] ?? 0) / Math.max(1, total)) * 100}%` }}
            />
          ))}
      </div>
      <fieldset aria-label="Show only" className="m-0 flex min-w-0 flex-wrap gap-1.5 border-0 p-0">
        {shown.map((status) => {
          const [sign, look] = marks[status] ?? ["", ""];
          const isOn = only?.has(status) === true;
          return (
            <button
              key={status}
              type="button"
              aria-pressed={isOn}
              onClick={() => toggle(status)}
              className={classes(
                "flex h-7 items-center gap-1.5 rounded-control border px-2 text-xs hover:bg-hover",
                isOn ? "border-accent bg-selected" : "border-line",
              )}
            >
              <span
                aria-hidden
                className={classes("flex size-3.5 items-center justify-center rounded-sm border text-[0.5rem]", look)}
              >
                {sign}
              </span>
              {wordsOf(status)}
              <span className="font-medium tabular-nums">{(counts[status] ?? 0).toLocaleString("en")}</span>
            </button>
          );
        })}
      </fieldset>
    </div>
  );
}
