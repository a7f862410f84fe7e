/**
 * How much was made within a window of time that ends now, and when, of a million things as of ten: the window is
 * counted in pieces, and of those that lie behind only what can have changed is counted again.
 */
import { LRUCache } from "lru-cache";
import type { CountedSpan, CountPieces, PieceCount } from "../../runtime/reads/spans.ts";
import type { Sql, Transaction } from "../../store/postgres/pool.ts";

export interface PieceSources {
  /** Of what stays as it is once it is there. */
  readonly settled: CountPieces;
  /** Of what becomes such: a piece in which none did has the others that it had. Null: there is no such thing. */
  readonly open: CountPieces | null;
}

export const pieceMs = 300_000;
/** For so long after its end a piece may get more: nodes name times by their own clocks. */
const settlesMs = 300_000;
/** What is removed by hand leaves a piece after this and up to twice this, ms: not all pieces at once. */
const keptMs = 300_000;
/** Pieces of which each is kept a little longer than the one before. */
const neighbours = 30;
/** Where a window has less than this, all of it is counted each time. */
const leastKept = 20_000;
/** Views of which pieces are kept. */
const maxViews = 200;

interface Piece {
  readonly byStatus: ReadonlyMap<string, number>;
  /** How many were open then. */
  readonly open: number;
  readonly until: number;
}

/** Counts by status of each piece in which something was made; a piece is told by its number since 1970. */
export type Pieces = ReadonlyMap<number, ReadonlyMap<string, number>>;

/** @param now Unix milliseconds @returns what counts a view since a time, Unix ms: a tenant's, or for null all tenants' */
export function inPieces(
  sql: Pick<Sql, "begin">,
  { settled, open }: PieceSources,
  now: () => number,
): (tenant: string | null, since: number) => Promise<Pieces> {
  const views = new LRUCache<string, Map<number, Piece>>({ max: maxViews });

  async function count(tx: Transaction, tenant: string | null, since: number): Promise<Pieces> {
    const at = now();
    const key = JSON.stringify(tenant);
    const whole = { from: new Date(since), to: new Date(at + 2 * settlesMs) };
    const first = Math.ceil(since / pieceMs);
    const end = Math.max(first, Math.floor((at - settlesMs) / pieceMs));
    const opened = (await open?.(tx, tenant, whole, pieceMs)) ?? [];
    const openIn = sums(opened, ({ piece }) => piece);
    const kept = new Map(
      [...(views.get(key) ?? [])].filter(
        ([piece, { open, until }]) => first <= piece && piece < end && at < until && open === (openIn.get(piece) ?? 0),
      ),
    );
    const found: PieceCount[] = [];
    for (const span of besides(kept, whole, first, end)) found.push(...(await settled(tx, tenant, span, pieceMs)));
    const foundIn = Map.groupBy(found, ({ piece }) => piece);
    const all = new Map<number, Map<string, number>>();
    const tell = (piece: number, status: string, more: number) => {
      const counts = all.get(piece) ?? new Map<string, number>();
      all.set(piece, counts);
      add(counts, status, more);
    };
    for (const { piece, status, count } of [...opened, ...found]) tell(piece, status, count);
    for (const [piece, { byStatus }] of kept) for (const [status, more] of byStatus) tell(piece, status, more);
    if ([...inAll(all).values()].reduce((sum, one) => sum + one, 0) < leastKept) {
      views.delete(key);
      return all;
    }
    for (let piece = first; piece < end; piece++) {
      const byStatus = sums(foundIn.get(piece) ?? [], ({ status }) => status);
      const until = at + keptMs + (piece % neighbours) * (keptMs / neighbours);
      if (!kept.has(piece)) kept.set(piece, { byStatus, open: openIn.get(piece) ?? 0, until });
    }
    views.set(key, kept);
    return all;
  }

  // All counts see one moment: what ends meanwhile is not counted twice, nor missed.
  return (tenant, since) =>
    sql.begin("isolation level repeatable read read only", (tx) => count(tx as Transaction, tenant, since));
}

/** @returns counts by status of all pieces together */
export function inAll(pieces: Pieces): ReadonlyMap<string, number> {
  const all = new Map<string, number>();
  for (const counts of pieces.values()) for (const [status, more] of counts) add(all, status, more);
  return all;
}

/** What has to be counted of a window: before its first whole piece, behind its last one, and those that are not kept. */
function besides(
  kept: ReadonlyMap<number, Piece>,
  { from, to }: CountedSpan,
  first: number,
  end: number,
): CountedSpan[] {
  const spans: CountedSpan[] = [];
  let begun = from;
  for (let piece = first; piece < end; piece++) {
    if (!kept.has(piece)) continue;
    const at = new Date(piece * pieceMs);
    if (begun < at) spans.push({ from: begun, to: at });
    begun = new Date((piece + 1) * pieceMs);
  }
  return [...spans, { from: begun, to }];
}

function sums<K>(counts: readonly PieceCount[], keyOf: (one: PieceCount) => K): Map<K, number> {
  const all = new Map<K, number>();
  for (const one of counts) add(all, keyOf(one), one.count);
  return all;
}

function add<K>(all: Map<K, number>, key: K, more: number): void {
  all.set(key, (all.get(key) ?? 0) + more);
}
