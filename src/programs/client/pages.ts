/** Lists that go on: one item after the other, fetched page by page. */

/** What every list answers, beside its items under their own name. */
interface Page<T> {
  readonly items: readonly T[];
  readonly next_cursor: string | null;
}

/**
 * @param page fetches the page behind a cursor; the first for undefined
 * @param most items in all
 * @example for await (const agent of items((cursor) => answer(svc.GET("/v1/agents", { params: { query: { cursor } } })))) …
 */
export async function* items<T>(
  page: (cursor: string | undefined) => Promise<Page<T>>,
  most = Number.POSITIVE_INFINITY,
): AsyncGenerator<T> {
  let cursor: string | undefined;
  let count = 0;
  while (count < most) {
    const { items, next_cursor } = await page(cursor);
    for (const item of items) {
      yield item;
      if (++count >= most) return;
    }
    if (next_cursor === null) return;
    cursor = next_cursor;
  }
}
