/**
 * Whether the processes of an instance stand still, agreed on between those that want it so: a node that parks the
 * instance, until it is told otherwise, and what measures what it has written, for moments. Each leaves a mark in
 * the instance's directory, and looks at the marks again once it has changed anything, so that none undoes another's.
 */
import { closeSync, openSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";

/** What has processes stand still. */
export interface Freezer {
  /** @throws when the instance is gone */
  set(frozen: boolean): void | Promise<void>;
  frozen(): boolean | Promise<boolean>;
}

const pausedMark = "paused";
const heldMark = "held-";
/** Who measures longer than this has died, ms. */
const heldAtMostMs = 2_000;
/** A process in the middle of a write stands still after it; measuring waits this long, ms. */
const stillWithinMs = 100;
const pollMs = 5;

export class Stillness {
  /** @param directory of the instance @param freezer null: this host has none */
  constructor(
    readonly directory: string,
    readonly freezer: Freezer | null,
  ) {}

  /** Whether a node parked the instance. */
  isPaused(): boolean {
    return this.#marks().includes(pausedMark);
  }

  /** @returns false where this host has no freezer, or it does not take hold in time */
  async pause(withinMs: number): Promise<boolean> {
    if (this.freezer === null) return false;
    this.#mark(pausedMark);
    try {
      await this.freezer.set(true);
      if (await this.#frozenWithin(this.freezer, withinMs)) return true;
    } catch {
      // The groups are gone, and what was in them.
    }
    await this.resume();
    return false;
  }

  /** Repeatable. */
  async resume(): Promise<void> {
    this.markResumed();
    await this.settle();
  }

  /** Says that another way has the instance stand still, or lets it go on. */
  markPaused(): void {
    this.#mark(pausedMark);
  }
  markResumed(): void {
    this.#unmark(pausedMark);
  }

  /** Does the work while the processes stand still, where this host can have them do so. */
  async hold<T>(work: () => T | Promise<T>): Promise<T> {
    const mark = `${heldMark}${crypto.randomUUID()}`;
    const holds = await this.#beginHold(mark);
    try {
      return await work();
    } finally {
      if (holds) {
        this.#unmark(mark);
        await this.settle();
      }
    }
  }

  /** @returns whether anything was changed */
  async #beginHold(mark: string): Promise<boolean> {
    const { freezer } = this;
    if (freezer === null) return false;
    try {
      // Parked, also by a node of a version that left no mark.
      if (this.isPaused() || (!this.#isWanted() && (await freezer.frozen()))) return false;
      this.#mark(mark);
      await freezer.set(true);
      await this.#frozenWithin(freezer, stillWithinMs);
    } catch {
      // There is no room for a mark, or nothing is left to hold.
    }
    return true;
  }

  /** Has the processes stand still or go on, as the marks say. */
  async settle(): Promise<void> {
    const { freezer } = this;
    if (freezer === null) return;
    try {
      for (let wanted = this.#isWanted(); ; ) {
        await freezer.set(wanted);
        const now = this.#isWanted();
        if (now === wanted) return;
        wanted = now;
      }
    } catch {
      // Gone.
    }
  }

  /** Lets go on what another one held and died with. To be called now and then. */
  async forgetDead(): Promise<void> {
    const dead = this.#marks().filter((name) => name.startsWith(heldMark) && this.#isOld(name));
    if (dead.length === 0) return;
    for (const name of dead) this.#unmark(name);
    await this.settle();
  }

  #isWanted(): boolean {
    return this.#marks().some((name) => name === pausedMark || name.startsWith(heldMark));
  }

  async #frozenWithin(freezer: Freezer, ms: number): Promise<boolean> {
    for (const until = performance.now() + ms; ; ) {
      if (await freezer.frozen()) return true;
      if (performance.now() >= until) return false;
      await Bun.sleep(pollMs);
    }
  }

  #marks(): string[] {
    try {
      return readdirSync(this.directory);
    } catch {
      return [];
    }
  }

  #isOld(name: string): boolean {
    const stats = statSync(join(this.directory, name), { throwIfNoEntry: false });
    return stats !== undefined && Date.now() - stats.mtimeMs > heldAtMostMs;
  }

  #mark(name: string): void {
    closeSync(openSync(join(this.directory, name), "w", 0o600));
  }

  #unmark(name: string): void {
    rmSync(join(this.directory, name), { force: true });
  }
}
