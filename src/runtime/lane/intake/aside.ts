/** Which actors have so many messages in a mailbox that they are set aside for those behind them. */

export interface AsideLimits {
  /** Messages of a mailbox in memory from which on its long lines are looked for. */
  readonly from: number;
  /** Lines of single actors in one partition. */
  readonly lines: number;
  /** Messages that such a line holds, and characters of them, before its mailbox is left alone. */
  readonly messages: number;
  readonly bytes: number;
  /** Characters of all such lines together. Then only those with little in them take more. */
  readonly totalBytes: number;
}

/** The part of a line that one actor must have to be set aside. */
const share = 1 / 4;

/** The actors that have a quarter of a line or more, the longest first. */
export function longLinesOf<Waiting>(
  waiting: readonly Waiting[],
  actorOf: (one: Waiting) => string,
  { from }: Pick<AsideLimits, "from">,
): readonly string[] {
  const counts = new Map<string, number>();
  for (const one of waiting) {
    const actor = actorOf(one);
    if (actor !== "") counts.set(actor, (counts.get(actor) ?? 0) + 1);
  }
  const least = Math.max(from, waiting.length) * share;
  return [...counts]
    .filter(([, count]) => count >= least)
    .sort(([, left], [, right]) => right - left)
    .map(([actor]) => actor);
}
