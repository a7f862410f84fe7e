/** Lists whose rows know their place: it is for the cursor alone. */
import type { List } from "../../http/paging.ts";

/** The list as it is answered. */
export function unplaced<Alias extends string, Item extends { readonly place: unknown }>(
  alias: Alias,
  list: List<Alias, Item>,
): List<Alias, Omit<Item, "place">> {
  const items = list.items.map(({ place: _, ...item }) => item);
  const { count, next_cursor } = list;
  // The compiler takes a computed name for any name.
  return { items, count, next_cursor, [alias]: items } as unknown as List<Alias, Omit<Item, "place">>;
}
