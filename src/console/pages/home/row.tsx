/** One line that leads to a record: a sign, what it is, and since when. */
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

export function Row({
  to,
  sign,
  title,
  about,
  beside,
}: {
  readonly to: string;
  readonly sign: ReactNode;
  readonly title: ReactNode;
  readonly about?: ReactNode;
  readonly beside?: ReactNode;
}) {
  return (
    <li className="border-line border-b last:border-b-0">
      <Link
        to={to as never}
        className="flex min-w-0 items-center gap-3 px-4 py-2.5 text-ink no-underline hover:bg-hover"
      >
        <span className="shrink-0">{sign}</span>
        <span className="min-w-0 flex-1">
          <span className="block truncate font-medium">{title}</span>
          {about !== undefined && <span className="block truncate text-ink-soft text-xs">{about}</span>}
        </span>
        {beside !== undefined && <span className="shrink-0 text-ink-soft text-xs">{beside}</span>}
      </Link>
    </li>
  );
}
