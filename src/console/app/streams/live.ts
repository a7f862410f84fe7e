/**
 * Keeps what is shown as it is now: each change that the service tells renews what was read of that record.
 * Keys of queries begin with the type of record that `GET /v1/events` names and with `"list"` or `"one"` and the id:
 * `["execution", "list", filters]`, `["execution", "one", id, …]`. Types: execution, run, approval, stimulus, fleet_run,
 * host, agent, node. `["day"]`: figures of executions, runs and stimuli of the last day.
 */
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import type { StreamedEvent } from "../../../programs/client/events.ts";
import { type Connection, useStream } from "./streams.ts";

interface Change {
  readonly type: string;
  readonly id: string;
  readonly status: string | null;
}

/** A list is read again at most so often, ms: the first change is shown at once, later ones together. */
const listEveryMs = 1_000;
/** Figures of a day are read so long after a change, ms: the service keeps what it counted for less. */
const dayAfterMs = 2_500;
const inFigures: ReadonlySet<string> = new Set(["execution", "run", "stimulus"]);
/** Keys of which it is known when they were read: records change for as long as the page is open. */
const maxRemembered = 200;

export function useLive(): Connection {
  const queries = useQueryClient();
  const due = useRef(new Map<string, { last: number; timer: ReturnType<typeof setTimeout> | null }>());
  useEffect(() => {
    const waiting = due.current;
    return () => {
      for (const { timer } of waiting.values()) if (timer !== null) clearTimeout(timer);
      waiting.clear();
    };
  }, []);

  /** Reads what begins with the key again, at most once in a while. @param afterMs not before */
  const renew = (key: readonly string[], afterMs = 0) => {
    const name = key.join(" ");
    const entry = due.current.get(name) ?? { last: 0, timer: null };
    due.current.set(name, entry);
    if (entry.timer !== null) return;
    forgetOld(due.current);
    const read = () => {
      entry.timer = null;
      entry.last = performance.now();
      queries.invalidateQueries({ queryKey: key, refetchType: "active" }, { cancelRefetch: false }).catch(() => {});
    };
    const wait = Math.max(afterMs, entry.last === 0 ? 0 : entry.last + listEveryMs - performance.now());
    if (wait <= 0) return read();
    entry.timer = setTimeout(read, wait);
  };

  const hear = ({ event, data }: StreamedEvent) => {
    if (event === "gap") {
      // All that is shown may be old; gaps come in rows, and lists are read once for them.
      renew([]);
      return;
    }
    const { type, id, status } = data as Change;
    patchRows(queries, type, id, status);
    renew([type, "list"]);
    renew([type, "one", id]);
    if (inFigures.has(type)) renew(["day"], dayAfterMs);
  };
  return useStream("/v1/events", null, hear, false);
}

/** What was read long ago is read at once when it changes again: there is nothing to remember of it. */
function forgetOld(due: Map<string, { last: number; timer: ReturnType<typeof setTimeout> | null }>): void {
  if (due.size < maxRemembered) return;
  const until = performance.now() - listEveryMs;
  for (const [name, { last, timer }] of due) if (timer === null && last !== 0 && last < until) due.delete(name);
}

/** The status of a row that is shown changes at once; what else changed comes with the list. */
function patchRows(queries: ReturnType<typeof useQueryClient>, type: string, id: string, status: string | null): void {
  if (status === null) return;
  queries.setQueriesData<{ pages?: readonly { items?: readonly Record<string, unknown>[] }[] }>(
    { queryKey: [type, "list"] },
    (known) => {
      const pages = known?.pages;
      if (pages === undefined || !pages.some((page) => page.items?.some((row) => isRow(row, id)))) return known;
      return {
        ...known,
        pages: pages.map((page) => ({
          ...page,
          items: page.items?.map((row) => (isRow(row, id) ? { ...row, status } : row)) ?? [],
        })),
      };
    },
  );
}

const isRow = (row: Record<string, unknown>, id: string): boolean =>
  row.id === id || row.execution_id === id || row.approval_id === id;
