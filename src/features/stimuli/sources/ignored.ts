/** What sources passed over: counted in memory and written down every few seconds. */
import { repeatedly } from "../../../lib/timers.ts";
import type { IgnoredMessage, StimulusSource } from "./port.ts";
import type { IgnoredMark } from "./records.ts";

const usualPauseMs = 2000;
/** Sources noted at once; those beyond are noted with their next message. */
const maxNoted = 50_000;
/** Sources written by one statement. */
const atOnce = 1000;

export interface IgnoredNotes {
  /** @param at Unix milliseconds */
  note(source: Pick<StimulusSource, "tenant" | "id">, what: IgnoredMessage, at: number): void;
  /** Writes down what is noted, and notes no more. */
  close(): Promise<void>;
}

export function noteIgnored(
  write: (marks: readonly IgnoredMark[]) => Promise<void>,
  report: (event: string, facts: Record<string, unknown>) => void,
  everyMs = usualPauseMs,
): IgnoredNotes {
  let noted = new Map<string, IgnoredMark>();

  function add(mark: IgnoredMark): void {
    const before = noted.get(mark.id);
    if (before === undefined && noted.size >= maxNoted) return;
    const last = before !== undefined && before.at > mark.at ? before : mark;
    noted.set(mark.id, { ...last, count: mark.count + (before?.count ?? 0) });
  }

  async function flush(): Promise<void> {
    const all = [...noted.values()];
    noted = new Map();
    for (let from = 0; from < all.length; from += atOnce) {
      try {
        await write(all.slice(from, from + atOnce));
      } catch (error) {
        // It counts next time.
        for (const mark of all.slice(from)) add(mark);
        throw error;
      }
    }
  }

  const failed = (error: unknown) => report("ignored_stimuli_not_written", { error: String(error) });
  const stop = repeatedly(everyMs, flush, failed);
  return {
    note: ({ tenant, id }, what, at) => add({ tenant, id, ...what, count: 1, at: new Date(at) }),
    async close() {
      await stop();
      await flush().catch(failed);
    },
  };
}
