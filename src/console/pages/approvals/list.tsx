/** What waits for a decision, each with what it is about and how long it waits still. */
import { Link } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { classes } from "../../kit/controls/classes.ts";
import { Checkbox } from "../../kit/controls/field.tsx";
import { useFilters } from "../../kit/controls/filters.tsx";
import { inert } from "../../kit/values/text.tsx";
import { Ago } from "../../kit/values/time.tsx";
import { Countdown } from "./countdown.tsx";
import { nameOf } from "./decide.tsx";
import { kindWords, type Pending } from "./queries.ts";

interface ListProps {
  readonly rows: readonly Pending[];
  /** The one that is read. */
  readonly id: string | null;
  /** Those that are decided together. */
  readonly chosen: ReadonlySet<string>;
  readonly onToggle: (id: string) => void;
}

export function List({ rows, id, chosen, onToggle }: ListProps) {
  const [filters] = useFilters();
  const box = useRef<HTMLUListElement>(null);
  useEffect(() => {
    if (id !== null) box.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
  }, [id]);
  return (
    <ul
      ref={box}
      aria-label="Approvals that wait"
      className="m-0 max-h-[calc(100dvh-18.5rem)] min-h-40 list-none overflow-auto p-0"
    >
      {rows.map((row) => {
        const isShown = row.id === id;
        return (
          <li
            key={row.id}
            className={classes(
              "flex items-start border-line border-b border-l-2 last:border-b-0 hover:bg-hover",
              isShown ? "border-l-accent bg-selected" : "border-l-transparent",
            )}
          >
            <span className="flex pt-3 pl-3">
              <Checkbox
                quiet
                label={`Select ${inert(nameOf(row))}`}
                checked={chosen.has(row.id)}
                onChange={() => onToggle(row.id)}
              />
            </span>
            <Link
              to="/approvals/$id"
              params={{ id: row.id } as never}
              search={filters as never}
              aria-current={isShown ? "true" : undefined}
              className="block min-w-0 flex-1 px-3 py-2.5 text-ink no-underline"
            >
              <span className="flex items-baseline gap-2">
                <span className="min-w-0 flex-1 truncate font-medium">{inert(nameOf(row))}</span>
                <Ago at={row.created_at} className="shrink-0 text-2xs text-ink-faint tabular-nums" />
              </span>
              <span className="mt-0.5 line-clamp-2 break-words text-ink-soft text-xs">
                {inert(row.prompt.slice(0, 300))}
              </span>
              <span className="mt-1 flex items-center gap-2 text-2xs text-ink-faint">
                {kindWords[row.kind] ?? row.kind}
                {row.quorum > 1 && (
                  <span>
                    {row.approvals}/{row.quorum} approved
                  </span>
                )}
                <span className="ml-auto">
                  <Countdown to={row.expires_at} /> left
                </span>
              </span>
            </Link>
          </li>
        );
      })}
    </ul>
  );
}
