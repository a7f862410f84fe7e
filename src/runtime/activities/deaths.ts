/**
 * Work that ends its process. The insertion of a row is the first attempt; a node that takes the row of a dead node over
 * notes that node where the work had been begun within moments of the end, as a piece of work that ends its process was.
 * Work with two such nodes is begun one piece at a time, so that the third is its own; it fails once three have died. A
 * node that was taken for dead and comes back takes its name away.
 */
import { texts } from "../../store/postgres/array-literal.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import { retryUntil } from "../timeout.ts";
import type { Work } from "./fair-queue.ts";

/** Deaths within moments of its beginning after which work fails. */
const deathLimit = 3;
/** Nodes that died with it at any time after which work fails: it may be what ends them later. */
const takeoverLimit = 20;
/** So soon after its beginning, a death is held against a piece of work, ms. */
export const suspectMs = 2000;

/** The code of an outcome of work that was set aside. */
export const processDied = "process_died";

/** What is known of nodes that had a piece of work. */
interface Deadly {
  /** Those that were taken for dead within moments of beginning it. */
  readonly suspects: readonly string[];
  readonly takeovers: number;
}

/** Nodes whose fate decides whether work is begun again: those of work that has enough of them. */
export function decisiveNodes(works: readonly Deadly[]): readonly string[] {
  return works.flatMap(({ suspects }) => (suspects.length >= deathLimit ? suspects : []));
}

/**
 * Why work is not begun again, or null.
 * @param died those of its suspects that have died
 */
export function setAside({ suspects, takeovers }: Deadly, died: ReadonlySet<string>): string | null {
  const deaths = suspects.filter((id) => died.has(id)).length;
  if (deaths >= deathLimit) return `its process died ${deaths} times as soon as it ran`;
  return takeovers >= takeoverLimit ? `its process died ${takeovers} times while it ran` : null;
}

/** Notes of what is about to begin again on this node. */
export class Beginnings {
  private waiting: string[] = [];
  private writing: Promise<boolean> | null = null;
  /** Resolves when the last suspect has ended, or outlived the suspicion. */
  private lastSuspect: Promise<void> = Promise.resolve();

  constructor(
    private readonly sql: Sql,
    private readonly node: string,
    private readonly isGivenUp: () => boolean,
  ) {}

  /**
   * Writes that work is about to begin, and waits for its turn where it is suspected.
   * @returns called when the work has ended; null when it is not to begin
   */
  async begin(work: Work): Promise<(() => void) | null> {
    if (!work.resumed) return () => {};
    if (work.deaths + 1 < deathLimit) return (await this.note(work.id)) ? () => {} : null;
    const { promise, resolve } = Promise.withResolvers<void>();
    const turn = this.lastSuspect;
    this.lastSuspect = turn.then(() => promise);
    await turn;
    if (!(await this.note(work.id))) {
      resolve();
      return null;
    }
    const timer = setTimeout(() => void this.clear(work.id).then(resolve), suspectMs);
    return () => {
      clearTimeout(timer);
      resolve();
    };
  }

  /** What begins in the same moment is written together. @returns false when this node leaves */
  private note(id: string): Promise<boolean> {
    this.waiting.push(id);
    this.writing ??= Promise.resolve().then(() => this.write());
    return this.writing;
  }

  private write(): Promise<boolean> {
    const ids = this.waiting;
    this.waiting = [];
    this.writing = null;
    return retryUntil(async () => {
      await this.sql`
        update runtime_activities set begun_at = now() where id = any(${texts(ids)}::text[]) and node = ${this.node}`;
    }, this.isGivenUp);
  }

  /** It lives: its deaths were another's doing. */
  private async clear(id: string): Promise<void> {
    await this
      .sql`update runtime_activities set deaths = 0, suspects = '{}' where id = ${id} and node = ${this.node}`.catch(
      () => {},
    );
  }
}
