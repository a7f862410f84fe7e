/** Filter of a list by when its records were started: a span up to now, or one between two moments. */
import { X } from "lucide-react";
import { Button } from "./button.tsx";
import { ChoiceFilter, useFilters } from "./filters.tsx";
import { spans } from "./started-within.ts";

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
