/** What the journal knows of each command, in memory. */
import { frameLimits, type ListedCommand, type Result } from "../../../../actors/edge/frames.ts";
import type { Span, StartedRecord } from "./record.ts";

export type Entry =
  | { readonly state: "started"; readonly record: StartedRecord }
  /** `place`: null while only memory has it, and then it is told to no one unless it `isVolatile`. */
  | {
      readonly state: "finished";
      readonly n: number;
      readonly place: Span | null;
      readonly result: Result | null;
      readonly isVolatile: boolean;
      readonly ackedAt: number | null;
    };

/** It has ended, and that is not on disk yet. */
export const isEnding = (entry: Entry): boolean =>
  entry.state === "finished" && entry.place === null && !entry.isVolatile;

export const numberOf = (entry: Entry): number => (entry.state === "started" ? entry.record.n : entry.n);

/** Ends that may wait for the service; it has far fewer commands unfinished on one host. */
const mostUntold = 1_024;

export class Entries {
  readonly #all = new Map<string, Entry>();
  /** Ids of those that have an end which the service has not acknowledged. */
  readonly #untold = new Set<string>();

  get(id: string): Entry | undefined {
    return this.#all.get(id);
  }

  set(id: string, entry: Entry): void {
    this.#all.set(id, entry);
    if (entry.state === "finished" && entry.ackedAt === null) this.#untold.add(id);
    else this.#untold.delete(id);
  }

  delete(id: string): void {
    this.#all.delete(id);
    this.#untold.delete(id);
  }

  clear(): void {
    this.#all.clear();
    this.#untold.clear();
  }

  [Symbol.iterator](): IterableIterator<[string, Entry]> {
    return this.#all[Symbol.iterator]();
  }

  get isFull(): boolean {
    return this.#untold.size >= mostUntold;
  }

  /** Commands that may have started and have no end. */
  started(): StartedRecord[] {
    return [...this.#all.values()].flatMap((entry) => (entry.state === "started" ? [entry.record] : []));
  }

  /** Ids of commands whose end may be told and is not acknowledged. */
  unacknowledged(): string[] {
    return this.#ended().flatMap(([id, entry]) => (isEnding(entry) ? [] : [id]));
  }

  /** What runs, then what is ending, then what has ended; the newest first, since the service waits for those. */
  listed(most: number = frameLimits.maxListed): ListedCommand[] {
    const running = this.started().map(({ id }) => id);
    const ended = this.#ended().reverse();
    const ending = ended.filter(([, entry]) => isEnding(entry)).map(([id]) => id);
    const finished = ended.filter(([, entry]) => !isEnding(entry)).map(([id]) => id);
    return [
      ...[...running.reverse(), ...ending].map((command_id) => ({ command_id, state: "running" as const })),
      ...finished.map((command_id) => ({ command_id, state: "finished" as const })),
    ].slice(0, most);
  }

  /** In the order in which they ended. */
  #ended(): [string, Entry][] {
    const ended = [...this.#untold].flatMap((id): [string, Entry][] => {
      const entry = this.#all.get(id);
      return entry === undefined ? [] : [[id, entry]];
    });
    return ended.sort(([, one], [, other]) => numberOf(one) - numberOf(other));
  }
}
