/** SearXNG, and what speaks like it: `GET /search?q=…&format=json`. */
import { objectsIn, type SearchWire, textOf } from "./search.ts";

/** @param base address of the instance, with or without `/search` at its end */
export function searxng(base: URL): SearchWire {
  return {
    name: "searxng",
    request(query) {
      const url = new URL(base);
      const path = url.pathname.replace(/\/+$/, "");
      url.pathname = path.endsWith("/search") ? path : `${path}/search`;
      url.searchParams.set("q", query);
      url.searchParams.set("format", "json");
      return { url, headers: {} };
    },
    hits: (answer) =>
      objectsIn((answer as { results?: unknown } | null)?.results).map(({ title, url, content, engine }) => ({
        title: textOf(title),
        url: textOf(url),
        snippet: textOf(content),
        source: textOf(engine),
      })),
  };
}
