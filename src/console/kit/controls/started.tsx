/** Filter of a list by when its records were started: a span up to now, or one between two moments. */
import { X } from "lucide-react";
import { Button } from "./button.tsx";
import { ChoiceFilter, type Filters, useFilters } from "./filters.tsx";

const spans = [
  { value: "1h", label: "last hour" },
  { value: "24h", label: "last 24 hours" },
  { value: "7d", label: "last 7 days" },
  { value: "30d", label: "last 30 days" },
];
const spanMs: Readonly<Record<string, number>> = { "1h": 3.6e6, "24h": 8.64e7, "7d": 6.048e8, "30d": 2.592e9 };

/** What the address has of it. */
export const startedNames = ["since", "after", "before"] as const;

/** The address of a list of what was started between two moments, Unix seconds. */
export const startedWithin = (from: number, to: number) => ({
  after: new Date(from * 1_000).toISOString(),
  before: new Date(to * 1_000).toISOString(),
});

/** What a list is asked for. */
export function startedQuery({ since = "", after, before }: Filters) {
  const ago = spanMs[since];
  // By the minute: the same filter is the same list.
  const from =
    after ?? (ago === undefined ? undefined : new Date(Math.floor((Date.now() - ago) / 60_000) * 60_000).toISOString());
  return {
    ...(from === undefined ? {} : { started_after: from }),
    ...(before === undefined ? {} : { started_before: before }),
  };
}

export function StartedFilter() {
  const [{ after, before }, change] = useFilters();
  if (after === undefined && before === undefined)
    return <ChoiceFilter name="since" label="Started" choices={spans} single />;
  const words =
    after !== undefined && before !== undefined
      ? `${said(after)} – ${said(before, after)}`
      : after !== undefined
        ? `after ${said(after)}`
        : `before ${said(before ?? "")}`;
  return (
    <Button
      className="border-accent text-accent"
      aria-label={`Started ${words}: remove this filter`}
      onClick={() => change({ after: "", before: "" })}
    >
      <span>
        Started: <span className="font-normal">{words}</span>
      </span>
      <X aria-hidden />
    </Button>
  );
}

const moment = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });

/** @param behind of the same day: the day is not said again */
function said(text: string, behind?: string): string {
  const at = new Date(text);
  if (Number.isNaN(at.getTime())) return text;
  const isSameDay = behind !== undefined && new Date(behind).toDateString() === at.toDateString();
  return (isSameDay ? clock : moment).format(at);
}
