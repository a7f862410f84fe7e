/** When deliveries last came in, per source: noted in memory and written down every few seconds. */
import { repeatedly } from "../../../lib/timers.ts";
import type { StimulusSource } from "./port.ts";

const usualPauseMs = 5000;
/** Routes noted at once; those beyond are noted with their next delivery. */
const maxNoted = 50_000;
/** Routes written by one statement. */
const atOnce = 1000;

interface Mark {
  readonly tenant: string;
  readonly id: string;
  readonly at: Date;
}

export interface ReceivedNotes {
  /** @param at Unix milliseconds */
  note(source: Pick<StimulusSource, "tenant" | "id">, at: number): void;
  /** Writes down what is noted, and notes no more. */
  close(): Promise<void>;
}

export function noteReceived(
  write: (marks: readonly Mark[]) => Promise<void>,
  report: (event: string, facts: Record<string, unknown>) => void,
  everyMs = usualPauseMs,
): ReceivedNotes {
  const noted = new Map<string, Mark>();

  async function flush(): Promise<void> {
    const all = [...noted.values()];
    for (let from = 0; from < all.length; from += atOnce) {
      const marks = all.slice(from, from + atOnce);
      await write(marks);
      // One that was renewed meanwhile is written next time.
      for (const mark of marks) if (noted.get(mark.id) === mark) noted.delete(mark.id);
    }
  }

  const stop = repeatedly(everyMs, flush, (error) => report("last_received_not_written", { error: String(error) }));
  return {
    note({ tenant, id }, at) {
      const before = noted.get(id);
      if (before === undefined ? noted.size >= maxNoted : before.at.getTime() >= at) return;
      noted.set(id, { tenant, id, at: new Date(at) });
    },
    async close() {
      await stop();
      await flush().catch((error) => report("last_received_not_written", { error: String(error) }));
    },
  };
}
