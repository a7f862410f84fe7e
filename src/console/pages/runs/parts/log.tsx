/** The log of a run: what happened, in order, each with all that is told of it. */
import { useState } from "react";
import { Button } from "../../../kit/controls/button.tsx";
import { Value } from "../../../kit/values/json.tsx";
import { Badge } from "../../../kit/values/status.tsx";
import { inert } from "../../../kit/values/text.tsx";
import { Ago } from "../../../kit/values/time.tsx";
import type { RunEvent } from "../model/entries.ts";

/** As many are shown at first; older ones on demand. */
const page = 200;

export function Log({ events }: { readonly events: readonly RunEvent[] }) {
  const [shown, show] = useState(page);
  if (events.length === 0) return <p className="m-0 text-ink-soft">Nothing has happened yet.</p>;
  const latest = events.slice(-shown).reverse();
  return (
    <div className="flex flex-col gap-2">
      <ol
        aria-label="Log, the newest first"
        className="m-0 list-none overflow-hidden rounded-panel border border-line bg-surface p-0"
      >
        {latest.map((event) => (
          <li key={event.sequence} className="border-line border-b last:border-b-0">
            <Line event={event} />
          </li>
        ))}
      </ol>
      {events.length > shown && (
        <Button small className="self-start" onClick={() => show(shown + page)}>
          Show older ones ({(events.length - shown).toLocaleString("en")})
        </Button>
      )}
    </div>
  );
}

function Line({ event }: { readonly event: RunEvent }) {
  const [isOpen, open] = useState(false);
  const { sequence, type, state_name, details, timestamp } = event;
  return (
    <details onToggle={({ currentTarget }) => open(currentTarget.open)}>
      <summary className="flex min-h-9 cursor-pointer flex-wrap items-center gap-x-3 gap-y-0.5 px-3 py-1.5 text-xs hover:bg-hover">
        <span className="w-10 shrink-0 text-right text-ink-faint tabular-nums">{sequence}</span>
        <span className="font-medium">{sayingOf(type)}</span>
        {state_name != null && <Badge>{inert(state_name)}</Badge>}
        <span className="min-w-0 flex-1 truncate text-ink-soft">{hintOf(details)}</span>
        <Ago at={timestamp} className="shrink-0 text-ink-faint tabular-nums" />
      </summary>
      {isOpen && (
        <div className="px-3 pb-3">
          <Value value={details} open={2} />
        </div>
      )}
    </details>
  );
}

/** `WorkflowStateEntered` → `State entered` */
function sayingOf(type: string): string {
  const words = type.replace(/^Workflow(?=[A-Z])/, "").replace(/(?<=[a-z])(?=[A-Z])/g, " ");
  return words.charAt(0) + words.slice(1).toLowerCase();
}

/** The one thing of an event that people look for. */
function hintOf(details: RunEvent["details"]): string {
  for (const name of ["error", "reason", "signal_name", "prompt", "feedback", "child_execution_id"]) {
    const value = details[name];
    if (typeof value === "string" && value !== "") return inert(value.slice(0, 200));
  }
  return "";
}
