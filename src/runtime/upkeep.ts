/** What a runtime does now and then beside its turns: old rows go, timers of former nodes become rows. */
import { repeatedly } from "../lib/timers.ts";
import { eraseOldWork, type RetentionOptions } from "./retention.ts";
import { type FormerTimersOptions, takeOverTimers } from "./timers/former.ts";

/** How often old dead letters and work without an actor are looked for, ms. */
const eraseMs = 600_000;
/** How often timers of nodes of a former version are looked for, ms. */
const takeOverMs = 60_000;

export interface UpkeepOptions extends RetentionOptions, FormerTimersOptions {
  report(what: "old_work_erased" | "old_work_left" | "former_timers_left", facts: Record<string, unknown>): void;
}

/** @returns a function that stops it and resolves after rounds under way */
export function startUpkeep(options: UpkeepOptions): () => Promise<void> {
  const { report } = options;
  const stops = [
    repeatedly(
      takeOverMs,
      () => takeOverTimers(options),
      (error) => report("former_timers_left", { error: String(error) }),
    ),
    repeatedly(
      eraseMs,
      async () => {
        const erased = await eraseOldWork(options);
        if (erased.deadLetters + erased.activities > 0) report("old_work_erased", erased);
      },
      (error) => report("old_work_left", { error: String(error) }),
    ),
  ];
  return async () => {
    await Promise.all(stops.map((stop) => stop()));
  };
}
