/** The frame of a page, its panels, and what stands where there is nothing. */
import { type LucideIcon, Search } from "lucide-react";
import { type ReactNode, useEffect } from "react";
import { ApiError } from "../../programs/client/errors.ts";
import { Button } from "./controls/button.tsx";
import { classes } from "./controls/classes.ts";
import { Copyable, inert } from "./values/text.tsx";

/** Sets the tab's title; a count of what waits stands before it (see `layout.tsx`). */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title === "" ? "svc" : `${title} · svc`;
  }, [title]);
}

interface PageProps {
  readonly title: string;
  /** Beside the title: a status, a version. */
  readonly beside?: ReactNode;
  /** Below the title: where it came from, when. */
  readonly about?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
  /** Uses the whole width: for lists and graphs. */
  readonly wide?: boolean;
}

export function Page({ title, beside, about, actions, children, wide = true }: PageProps) {
  useTitle(title);
  return (
    <div className={classes("flex min-w-0 flex-col gap-4 p-4 sm:p-6", wide ? "mx-auto max-w-[110rem]" : "max-w-5xl")}>
      <header className="flex flex-wrap items-start gap-x-4 gap-y-2">
        <div className="min-w-0 flex-1 basis-full sm:basis-72">
          <div className="flex min-w-0 flex-wrap items-center gap-x-2.5 gap-y-1">
            <h1 className="m-0 min-w-0 break-words font-semibold text-xl leading-7 tracking-tight [overflow-wrap:anywhere]">
              {inert(title)}
            </h1>
            {beside}
          </div>
          {about !== undefined && (
            <div className="about mt-1 flex min-w-0 flex-wrap items-center gap-x-3 gap-y-0.5 break-words text-ink-soft text-xs">
              {about}
            </div>
          )}
        </div>
        {actions !== undefined && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

interface PanelProps {
  readonly title?: string;
  readonly beside?: ReactNode;
  readonly actions?: ReactNode;
  /** Without space around what is inside: for tables and editors. */
  readonly flush?: boolean;
  readonly className?: string;
  readonly children: ReactNode;
}

export function Panel({ title, beside, actions, flush = false, className, children }: PanelProps) {
  return (
    <section className={classes("min-w-0 rounded-panel border border-line bg-surface", className)}>
      {title !== undefined && (
        <header className="flex min-h-11 flex-wrap items-center gap-x-2 gap-y-1 border-line border-b px-4 py-1.5">
          <h2 className="m-0 font-semibold text-[0.95rem]">{title}</h2>
          {beside}
          {actions !== undefined && <div className="ml-auto flex items-center gap-1.5">{actions}</div>}
        </header>
      )}
      <div className={flush ? "min-w-0" : "min-w-0 p-4"}>{children}</div>
    </section>
  );
}

/** Names and values, one below the other; two columns where there is room. */
export function Facts({
  of,
  columns = 1,
}: {
  readonly of: readonly (readonly [name: string, value: ReactNode])[];
  readonly columns?: 1 | 2 | 3;
}) {
  const grid = columns === 1 ? "" : columns === 2 ? "sm:grid-cols-2" : "sm:grid-cols-2 xl:grid-cols-3";
  return (
    <dl className={classes("m-0 grid grid-cols-1 gap-x-8 gap-y-2", grid)}>
      {of.map(([name, value]) => (
        <div key={name} className="flex min-w-0 items-baseline gap-3">
          <dt className="w-32 shrink-0 text-ink-soft text-xs">{name}</dt>
          <dd className="m-0 min-w-0 flex-1 [overflow-wrap:anywhere]">
            {value ?? <span className="text-ink-faint">–</span>}
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** Where there is nothing yet: what this place is for, and the next step. */
export function Empty({
  icon: Icon = Search,
  title,
  children,
  actions,
}: {
  readonly icon?: LucideIcon;
  readonly title: string;
  readonly children?: ReactNode;
  readonly actions?: ReactNode;
}) {
  return (
    <div className="flex flex-col items-center gap-2 px-6 py-12 text-center">
      <span className="mb-1 flex size-10 items-center justify-center rounded-full bg-hover text-ink-soft">
        <Icon aria-hidden className="size-5" />
      </span>
      <p className="m-0 font-medium">{title}</p>
      {children !== undefined && <div className="w-full min-w-0 max-w-prose text-ink-soft">{children}</div>}
      {actions !== undefined && <div className="mt-2 flex flex-wrap justify-center gap-2">{actions}</div>}
    </div>
  );
}

/** What helps where trying again does not. */
const hints: Readonly<Record<number, string>> = {
  403: "Those who administer the tenant can give you this right.",
  404: "It was deleted, or it belongs to another tenant, or the address is incomplete.",
};

/** Why something cannot be shown or was not done: message, code, each finding, the request's id. */
export function Trouble({
  error,
  retry,
  title,
}: {
  readonly error: unknown;
  readonly retry?: () => void;
  readonly title?: string;
}) {
  const api = error instanceof ApiError ? error : null;
  const hint = api === null ? undefined : hints[api.status];
  return (
    <div role="alert" className="rounded-panel border border-bad/40 bg-bad-soft p-3">
      <div className="flex flex-wrap items-start gap-x-3 gap-y-1">
        <p className="m-0 min-w-0 flex-1 break-words font-medium text-bad">
          {title !== undefined && <span>{title}: </span>}
          {inert(error instanceof Error ? error.message : String(error))}
        </p>
        {retry !== undefined && hint === undefined && (
          <Button small onClick={retry}>
            Try again
          </Button>
        )}
      </div>
      {hint !== undefined && <p className="mt-1 mb-0 text-ink-soft">{hint}</p>}
      {api !== null && api.issues.length > 0 && (
        <ul className="mt-1.5 mb-0 list-disc pl-5 text-xs">
          {api.issues.map((issue) => (
            <li key={`${issue.path} ${issue.message}`}>
              {issue.path !== "" && <code className="mr-1">{inert(issue.path)}</code>}
              {issue.line !== null && <span className="mr-1 text-ink-soft">line {issue.line}</span>}
              {inert(issue.message)}
            </li>
          ))}
        </ul>
      )}
      {api !== null && (
        <p className="mt-1.5 mb-0 flex flex-wrap items-center gap-x-3 text-ink-soft text-xs">
          <span>
            {api.status} <code>{api.code}</code>
          </span>
          {api.requestId !== null && (
            <span className="flex items-center gap-1">
              request <Copyable value={api.requestId} />
            </span>
          )}
          {api.retryAfter !== null && <span>try again in {api.retryAfter} s</span>}
        </p>
      )}
    </div>
  );
}

/** Grey lines where text will stand. */
export function Loading({ lines = 4, className }: { readonly lines?: number; readonly className?: string }) {
  return (
    <div aria-busy="true" role="status" aria-label="Loading" className={classes("flex flex-col gap-3", className)}>
      {Array.from({ length: lines }, (_, line) => `line ${line}`).map((key, line) => (
        <div key={key} className={classes("skeleton h-4", ["w-3/4", "w-full", "w-2/3", "w-5/6"][line % 4])} />
      ))}
    </div>
  );
}
