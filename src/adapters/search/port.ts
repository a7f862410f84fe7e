/** The port to engines that search the web, and the adapters behind it. */
export { openSearch } from "./open.ts";
export { type SearchEngine, SearchFailed } from "./search.ts";
