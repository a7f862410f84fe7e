/** Which engine searches for this service. */
import type { Secret } from "../../lib/secret.ts";
import { brave } from "./brave.ts";
import { engineOf, type SearchEngine } from "./search.ts";
import { searxng } from "./searxng.ts";

/**
 * @param url SVC_WEB_SEARCH_URL; null: nothing is searched
 * @param key SVC_WEB_SEARCH_KEY; with one the engine is spoken to as Brave's API, without as SearXNG
 */
export function openSearch(url: string | null, key: Secret | null): SearchEngine | null {
  if (url === null) return null;
  const base = new URL(url);
  return engineOf(key === null ? searxng(base) : brave(base, key));
}
