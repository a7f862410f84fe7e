/** Times as people say them, with the exact one on hover. */
import { useEffect, useState, useSyncExternalStore } from "react";

/** One clock for all that show a time, so that they change together. */
const listeners = new Set<() => void>();
let now = Date.now();
let timer: ReturnType<typeof setInterval> | null = null;

function listen(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    now = Date.now();
    for (const one of listeners) one();
  }, 1_000);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0 || timer === null) return;
    clearInterval(timer);
    timer = null;
  };
}

/** The present, in steps. @param stepMs no change is told within one step */
export function useNow(stepMs = 1_000): number {
  return useSyncExternalStore(listen, () => Math.floor(Math.max(now, Date.now() - 1_000) / stepMs) * stepMs);
}

const steps: readonly (readonly [limit: number, seconds: number, unit: Intl.RelativeTimeFormatUnit])[] = [
  [60, 1, "second"],
  [3_600, 60, "minute"],
  [86_400, 3_600, "hour"],
  [30 * 86_400, 86_400, "day"],
  [365 * 86_400, 30 * 86_400, "month"],
  [Number.POSITIVE_INFINITY, 365 * 86_400, "year"],
];
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "narrow" });
const exact = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" });

/** @returns `5m ago`, `in 3h`, `now` */
function agoText(at: number, present: number): string {
  const seconds = Math.round((at - present) / 1_000);
  // What shows a time may be a step ahead of the clock that it is shown by.
  if (seconds > -2 && seconds < 4) return "now";
  const [, size, unit] = steps.find(([limit]) => Math.abs(seconds) < limit) ?? [0, 1, "second" as const];
  return relative.format(Math.trunc(seconds / size), unit);
}

/** A moment. @param at as the service sends it; null shows a dash */
export function Ago({ at, className }: { readonly at: string | null | undefined; readonly className?: string }) {
  const present = useNow();
  if (at === null || at === undefined) return <span className="text-ink-faint">–</span>;
  return (
    <time
      dateTime={at}
      title={`${exact.format(new Date(at))} (${at})`}
      className={className ?? "whitespace-nowrap tabular-nums"}
    >
      {agoText(Date.parse(at), present)}
    </time>
  );
}

/** @returns `340 ms`, `2.4 s`, `3 m 12 s`, `5 h 2 m` */
export function durationText(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  const seconds = Math.floor(ms / 1_000);
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} m ${seconds % 60} s`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h ${Math.floor((seconds % 3_600) / 60)} m`;
  return `${Math.floor(seconds / 86_400)} d ${Math.floor((seconds % 86_400) / 3_600)} h`;
}

/** How long something took; counts on while it has no end. */
export function Duration({
  from,
  to,
}: {
  readonly from: string | null | undefined;
  readonly to: string | null | undefined;
}) {
  if (from === null || from === undefined) return <span className="text-ink-faint">–</span>;
  if (to === null || to === undefined) return <Counting from={from} />;
  return <span className="whitespace-nowrap tabular-nums">{durationText(Date.parse(to) - Date.parse(from))}</span>;
}

function Counting({ from }: { readonly from: string }) {
  const present = useNow();
  return <span className="whitespace-nowrap tabular-nums">{durationText(present - Date.parse(from))}</span>;
}

/** A value that follows another after it has stood still for a while: for what is typed. */
export function useSettled<T>(value: T, ms = 250): T {
  const [settled, settle] = useState(value);
  useEffect(() => {
    const waiting = setTimeout(() => settle(value), ms);
    return () => clearTimeout(waiting);
  }, [value, ms]);
  return settled;
}
