/** The actors that the lane keeps in memory, by `kind/key`. Safe to lose at any time between two batches. */
import type { Sql } from "../../../store/postgres/pool.ts";
import { joinState, sizeOf } from "../../reads/listed.ts";
import { decodeTimers } from "../../timers/timer.ts";
import { loadBatch, type StoredRow } from "../journal.ts";
import type { CachedActor } from "../turn.ts";

export interface ActorCacheOptions {
  readonly clock: { now(): number };
  /** Actors kept in memory, and how long an idle one stays, ms. */
  readonly cachedActors: number;
  readonly actorIdleMs: number;
}

const sweepEveryMs = 1000;
/** Actors whose stored state has more characters than this are large. */
const largeSize = 16 * 1024;
/**
 * Characters that the states of all large actors may have together, and those of all others. In memory a state takes
 * about its size where it is mostly text, and ten times that where it is mostly small values.
 */
const [largeTotal, smallTotal] = [64 * 1024 * 1024, 64 * 1024 * 1024];

export class ActorCache extends Map<string, CachedActor> {
  private sweptAt = 0;
  /** A part of this map. */
  private readonly large = new Map<string, CachedActor>();
  private largeCharacters = 0;
  private smallCharacters = 0;
  /** What these two count of an actor, so that it can be taken off. */
  private readonly counted = new WeakMap<CachedActor, number>();

  constructor(private readonly options: ActorCacheOptions) {
    super();
  }

  /** Takes in an actor as it is stored. */
  admit({ kind, key, tenant, partition, version, logs, timers, format, listed, state }: StoredRow): void {
    const actor = {
      kind,
      key,
      tenant,
      partition,
      version: Number(version),
      logs: JSON.parse(logs),
      timers: decodeTimers(timers),
      format,
      state: joinState({ listed, state }),
      usedAt: 0,
      size: sizeOf({ listed, state }),
    };
    this.set(`${kind}/${key}`, actor);
    this.weigh([actor]);
  }

  /** Takes in an actor that is not stored: so far there is none of this name. */
  admitAbsent({ kind, key, tenant, partition }: Pick<CachedActor, "kind" | "key" | "tenant" | "partition">): void {
    const news = { version: 0, logs: {}, timers: {}, format: 0, state: null, usedAt: 0, size: 0 };
    this.set(`${kind}/${key}`, { kind, key, partition, tenant, ...news });
  }

  /**
   * Takes in actors that are not in memory, by name, with one query at most: `fresh` ones cannot be stored yet.
   * @param activities of which to tell, with the same query, whether they are under way, and wanted
   * @param most characters of states, about
   * @returns `left`: the names of actors that did not fit
   */
  async bring(
    sql: Sql,
    missing: Map<string, Pick<CachedActor, "kind" | "key" | "partition" | "tenant"> & { readonly fresh: boolean }>,
    activities: readonly string[],
    most: number = Number.MAX_SAFE_INTEGER,
  ): Promise<{ readonly live: ReadonlyMap<string, boolean>; readonly left: ReadonlySet<string> }> {
    const stored = [...missing.values()].filter((one) => !one.fresh);
    const { rows, left, live } =
      stored.length === 0 && activities.length === 0 ? nothingStored : await loadBatch(sql, stored, activities, most);
    for (const row of rows) {
      this.admit(row);
      missing.delete(`${row.kind}/${row.key}`);
    }
    for (const [name, one] of missing) if (!left.has(name)) this.admitAbsent(one);
    return { live, left };
  }

  /** Puts idle actors out of memory; they cost only their row then. */
  sweep(): void {
    const now = this.options.clock.now();
    if (now - this.sweptAt < sweepEveryMs) return;
    this.sweptAt = now;
    for (const [name, actor] of this) if (now - actor.usedAt > this.options.actorIdleMs) this.delete(name);
  }

  /** Characters of all states, as they are stored. */
  get characters(): number {
    return this.largeCharacters + this.smallCharacters;
  }

  /** Whether it holds a state of more than 16 KiB. */
  get hasLarge(): boolean {
    return this.large.size > 0;
  }

  override set(name: string, actor: CachedActor): this {
    this.uncount(name);
    return super.set(name, actor);
  }

  override delete(name: string): boolean {
    this.uncount(name);
    return super.delete(name);
  }

  private uncount(name: string): void {
    const actor = this.get(name);
    const counted = actor === undefined ? undefined : this.counted.get(actor);
    if (actor === undefined || counted === undefined) return;
    this.counted.delete(actor);
    if (this.large.delete(name)) this.largeCharacters -= counted;
    else this.smallCharacters -= counted;
  }

  /** Notes the sizes that actors have after a commit. @returns their sum, characters */
  weigh(actors: Iterable<CachedActor>): number {
    let sum = 0;
    for (const actor of actors) {
      sum += actor.size;
      const before = this.counted.get(actor);
      // An actor that is counted is in memory: most stay small, and their names are not needed.
      if (before !== undefined && before <= largeSize && actor.size <= largeSize) {
        if (before === actor.size) continue;
        this.smallCharacters += actor.size - before;
        this.counted.set(actor, actor.size);
        continue;
      }
      const name = `${actor.kind}/${actor.key}`;
      if (this.get(name) !== actor) continue;
      this.uncount(name);
      this.counted.set(actor, actor.size);
      if (actor.size > largeSize) {
        this.large.set(name, actor);
        this.largeCharacters += actor.size;
      } else this.smallCharacters += actor.size;
    }
    return sum;
  }

  /** Puts actors out of memory when there are too many, or their states are too large together. */
  evict(): void {
    this.evictLarge();
    this.evictUnused();
  }

  /** The longest unused, until the others have half of their bound: the small ones of everybody else stay. */
  private evictLarge(): void {
    if (this.largeCharacters <= largeTotal) return;
    for (const name of longestUnused(this.large)) {
      if (this.largeCharacters <= largeTotal / 2) return;
      this.delete(name);
    }
  }

  /** The longest unused, until half of the bound that was passed is left. */
  private evictUnused(): void {
    const most = this.size > this.options.cachedActors ? this.size >> 1 : this.size;
    const mostCharacters = this.smallCharacters > smallTotal ? smallTotal / 2 : this.smallCharacters;
    if (this.size === most && this.smallCharacters === mostCharacters) return;
    for (const name of longestUnused(this)) {
      if (this.size <= most && this.smallCharacters <= mostCharacters) return;
      this.delete(name);
    }
  }

  /** Forgets the actors of partitions that are given up. */
  drop(partitions: ReadonlySet<number>): void {
    for (const [name, { partition }] of this) if (partitions.has(partition)) this.delete(name);
  }
}

const longestUnused = (actors: ReadonlyMap<string, CachedActor>): string[] =>
  [...actors].sort(([, left], [, right]) => left.usedAt - right.usedAt).map(([name]) => name);

const nothingStored: Awaited<ReturnType<typeof loadBatch>> = { rows: [], left: new Set(), live: new Map() };
