/** Brave's search API, and what speaks like it: `GET /res/v1/web/search?q=…&count=…` with a subscription token. */
import type { Secret } from "../../lib/secret.ts";
import { objectsIn, type SearchWire, textOf } from "./search.ts";

const usualPath = "/res/v1/web/search";

/** @param base address of the API; without a path, its usual one */
export function brave(base: URL, key: Secret): SearchWire {
  return {
    name: "brave",
    request(query, most) {
      const url = new URL(base);
      if (url.pathname === "/") url.pathname = usualPath;
      url.searchParams.set("q", query);
      url.searchParams.set("count", String(most));
      url.searchParams.set("text_decorations", "false");
      return { url, headers: { "X-Subscription-Token": key.reveal() } };
    },
    hits: (answer) =>
      objectsIn((answer as { web?: { results?: unknown } } | null)?.web?.results).map((one) => ({
        title: textOf(one.title),
        url: textOf(one.url),
        snippet: textOf(one.description),
        source: siteOf(one),
      })),
  };
}

function siteOf({ meta_url: meta, profile }: Readonly<Record<string, unknown>>): string {
  const host = (meta as { hostname?: unknown } | undefined)?.hostname;
  const name = (profile as { name?: unknown } | undefined)?.name;
  return textOf(host) || textOf(name);
}
