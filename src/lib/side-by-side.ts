/** Work on many things, some of them at once. */

/**
 * @param atOnce how many are under way at once
 * @throws what the work on one of them throws, once those under way have ended; the rest is not begun
 */
export async function sideBySide<Item>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const inTurn = async (): Promise<void> => {
    for (let item = items[next++]; item !== undefined; item = items[next++]) {
      try {
        await work(item);
      } catch (error) {
        next = items.length;
        throw error;
      }
    }
  };
  const sides = await Promise.allSettled(Array.from({ length: Math.min(atOnce, items.length) }, inTurn));
  const failed = sides.find((side) => side.status === "rejected");
  if (failed !== undefined) throw failed.reason;
}
