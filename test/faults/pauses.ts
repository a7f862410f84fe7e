/** Questions to several actors at once, and how long each went without an answer. */
import { until } from "../harness/until.ts";

/** A pace: a few questions at once keep the machine for what is measured, ms. */
const pauseMs = 20;

export interface Gaps {
  /** Of each key: the longest time from one answer to the next, ms. */
  readonly longestMs: ReadonlyMap<string, number>;
  readonly answered: ReadonlyMap<string, number>;
  readonly errors: readonly string[];
}

/** Asks each key again and again, one question at a time, until `end`. */
export function gapsOf(keys: readonly string[], ask: (key: string, number: number) => Promise<unknown>) {
  const longestMs = new Map<string, number>();
  const answered = new Map(keys.map((key) => [key, 0]));
  const errors: string[] = [];
  let stopping = false;
  const running = keys.map(async (key, index) => {
    let last = performance.now();
    for (let number = index; !stopping; number++) {
      try {
        await ask(key, number);
        answered.set(key, (answered.get(key) ?? 0) + 1);
      } catch (error) {
        errors.push(`${key}: ${error}`);
      }
      const now = performance.now();
      longestMs.set(key, Math.max(longestMs.get(key) ?? 0, now - last));
      last = now;
      await Bun.sleep(pauseMs);
    }
  });
  return {
    /** Waits until each key was answered as many times more. */
    async more(count: number): Promise<void> {
      const before = new Map(answered);
      const isThere = ([key, times]: [string, number]) => times >= (before.get(key) ?? 0) + count;
      await until(() => [...answered].every(isThere), { what: "answers of each key", timeoutMs: 20_000 });
    },
    async end(): Promise<Gaps> {
      stopping = true;
      await Promise.all(running);
      return { longestMs, answered, errors };
    },
  };
}
