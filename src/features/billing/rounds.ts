/** What billing does by itself: works events through, ends graces, compares, clears up. */

import { repeatedly } from "../../lib/timers.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import type { Stop } from "../feature.ts";
import type { Comparison } from "./subscriptions/comparison.ts";
import type { Subscriptions } from "./subscriptions/service.ts";
import type { Processing } from "./webhook/processing.ts";
import { eraseEvents } from "./webhook/records.ts";

type Warn = (event: string, facts: Readonly<Record<string, unknown>>) => void;

/** Events that another node stored, and those whose pause is over, wait no longer, ms. */
const lookEveryMs = 1_000;
const gracesEveryMs = 2_000;
const clearEveryMs = 3_600_000;
const clearedAtOnce = 2_000;

export interface Worker {
  /** Looks for events now. */
  wake(): void;
  /** Begins to work; at most once. @returns ends it, once what is under way is done */
  begin(): Stop;
}

export function eventWorker(work: Processing, warn: Warn): Worker {
  let wake = () => {};
  return {
    wake: () => wake(),
    begin() {
      let isStopping = false;
      let isWoken = false;
      const rest = () =>
        new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, lookEveryMs);
          wake = () => {
            isWoken = true;
            clearTimeout(timer);
            resolve();
          };
          if (isWoken || isStopping) wake();
        });
      wake = () => {
        isWoken = true;
      };
      const rounds = (async () => {
        while (!isStopping) {
          isWoken = false;
          const hasMore = await work(() => isStopping).catch((error: unknown) => {
            warn("billing_events", { error: String(error) });
            return false;
          });
          if (!hasMore && !isStopping) await rest();
        }
      })();
      return () => {
        isStopping = true;
        wake();
        return rounds;
      };
    },
  };
}

export interface SweepOptions {
  readonly sql: Sql;
  readonly subscriptions: Pick<Subscriptions, "endGraces">;
  readonly comparison: Pick<Comparison, "due">;
  readonly comparisonSeconds: number;
  readonly eventDays: number;
  readonly warn: Warn;
}

export function billingSweeps({
  sql,
  subscriptions,
  comparison,
  comparisonSeconds,
  eventDays,
  warn,
}: SweepOptions): (() => Stop)[] {
  const failed = (error: unknown): void => warn("billing", { error: String(error) });
  const clear = async (): Promise<void> => {
    while ((await eraseEvents(sql, eventDays, clearedAtOnce)) === clearedAtOnce);
  };
  return [
    () => repeatedly(gracesEveryMs, subscriptions.endGraces, failed),
    () => repeatedly(comparisonSeconds * 1000, comparison.due, failed),
    () => repeatedly(clearEveryMs, clear, failed),
  ];
}
