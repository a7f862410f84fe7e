/**
 * A stimulus is told to the Waits that it fits, once it is stored. Which these are is found by the keys that are waited
 * for at its source: what does not fit is not touched. Each is told by a question, so that what was answered is
 * committed; a node that goes on with the stimulus after a crash tells those that have not taken it yet.
 *
 * No Wait is missed: its row is committed with its entry, and it looks back only after that (`looking-back.ts`). So
 * either the row is there when the stimulus, which is stored already, looks for it, or the stimulus is there when the
 * Wait looks back.
 */
import { matterOf } from "../../../../actors/stimulus/fitting.ts";
import type { Stimulus } from "../../../../actors/stimulus/stimulus.ts";
import { Effort } from "../../../../actors/template/effort.ts";
import { type Matter, matcherOf, matchSteps, textAt } from "../../../../actors/template/matching.ts";
import { workflowRun } from "../../../../actors/workflow/run/run.ts";
import { sideBySide } from "../../../lib/side-by-side.ts";
import { MailboxFull, MessageRejected, type Runtime } from "../../../runtime/port.ts";
import type { FittingWait, WaitRecords } from "./records.ts";
import { type Watched, watchedOf } from "./watched.ts";

export interface TellingOptions {
  readonly runtime: Pick<Runtime, "of">;
  readonly records: Pick<WaitRecords, "keysOf" | "fitting">;
  readonly report: (event: string, facts: Record<string, unknown>) => void;
}

/**
 * Tells the Waits that the stimulus fits.
 * @returns how many took it now
 * @throws what says that a store or the runtime is away: some may have been told
 */
export type TellWaits = (stimulus: Stimulus) => Promise<number>;

/** Waits of one page, and how many are told at once; less of what is large. */
const page = 256;
const atOnce = 64;
const bytesAtOnce = 4 * 1_048_576;
/** Tries at a Wait whose mailbox is full, and the pause before another one, ms. */
const tries = 50;
const pauseMs = 100;

export function telling({ runtime, records, report }: TellingOptions): TellWaits {
  /** @returns whether it was taken */
  async function tell(stimulus: Stimulus, { payload }: Matter, { taker, entry }: FittingWait): Promise<boolean> {
    const { tenant, id: stimulus_id } = stimulus;
    const run = runtime.of(workflowRun).at(tenant, taker);
    for (let left = tries; ; left--) {
      try {
        return (await run.ask("stimulus_arrived", { entry, stimulus_id, payload }, { repeatable: true })).taken;
      } catch (error) {
        if (error instanceof MessageRejected) {
          // It stands among the dead letters; other Waits, and the route, are not held up by it.
          report("stimulus_not_taken", { tenant, stimulus_id, taker, error: String(error) });
          return false;
        }
        if (!(error instanceof MailboxFull) || left <= 1) throw error;
        await Bun.sleep(pauseMs);
      }
    }
  }

  /** Tells those that wait for what stands at one key. @returns how many took it */
  async function tellAt(watched: Watched, { stimulus, matter, holds }: Telling): Promise<number> {
    const width = Math.max(1, Math.min(atOnce, Math.floor(bytesAtOnce / Math.max(1, stimulus.contentSize))));
    let taken = 0;
    for (let last: FittingWait | null = null; ; ) {
      const found: readonly FittingWait[] = await records.fitting(stimulus, watched, last, page);
      const fitting: FittingWait[] = [];
      for (const wait of found) if (await holds(wait.match)) fitting.push(wait);
      await sideBySide(fitting, width, async (wait) => {
        if (await tell(stimulus, matter, wait)) taken++;
      });
      last = found.at(-1) ?? null;
      if (found.length < page) return taken;
    }
  }

  return async (stimulus) => {
    const keys = await records.keysOf(stimulus);
    if (keys.length === 0) return 0;
    const matter = matterOf(stimulus);
    const telling = { stimulus, matter, holds: matching(matter) };
    let taken = 0;
    for (const key of keys) {
      const watched = watchedAt(matter, key);
      if (watched !== null) taken += await tellAt(watched, telling);
    }
    return taken;
  };
}

/** A stimulus that is being told. */
interface Telling {
  readonly stimulus: Stimulus;
  readonly matter: Matter;
  readonly holds: (match: string | null) => Promise<boolean>;
}

/** What Waits for a key are found by; null: the stimulus has nothing there. @param key empty: of those without a key */
function watchedAt({ payload }: Matter, key: string): Watched | null {
  if (key === "") return watchedOf({ key: null, equals: null });
  const equals = textAt(payload, key);
  return equals === null ? null : watchedOf({ key, equals });
}

/** Whether expressions hold, each evaluated once. Other work of the node goes on in between. */
function matching(matter: Matter): (match: string | null) => Promise<boolean> {
  const known = new Map<string, boolean>();
  return async (match) => {
    if (match === null) return true;
    const before = known.get(match);
    if (before !== undefined) return before;
    const holds = matcherOf(match)(matter, new Effort(matchSteps));
    known.set(match, holds);
    await new Promise(setImmediate);
    return holds;
  };
}
