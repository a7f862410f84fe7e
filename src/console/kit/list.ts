/** Lists of the service, page by page, for `DataTable`. */
import { type QueryKey, useInfiniteQuery } from "@tanstack/react-query";
import { useMemo } from "react";

interface Page<T> {
  readonly items: readonly T[];
  readonly next_cursor?: string | null;
}

/**
 * @param key begins with the kind of record and `"list"`, so that events renew it (`src/console/app/streams/live.ts`)
 * @param page fetches the page behind a cursor
 * @param everyMs reads it again after so long, while the page is looked at: only for what no stream tells of
 * @returns what `DataTable` takes
 */
export function useList<T>(
  key: QueryKey,
  page: (cursor: string | undefined) => Promise<Page<T>>,
  enabled = true,
  everyMs: number | false = false,
) {
  const query = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam }) => page(pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    placeholderData: (previous) => previous,
    enabled,
    refetchInterval: everyMs,
  });
  const rows = useMemo(() => query.data?.pages.flatMap(({ items }) => items) ?? [], [query.data]);
  return {
    rows,
    loading: query.isPending && enabled,
    error: query.error,
    retry: () => void query.refetch(),
    more: query.hasNextPage ? () => void query.fetchNextPage() : null,
    loadingMore: query.isFetchingNextPage,
  };
}
