/** Pages of lists, newest first as the provider gives them. */
import { invalid, noSuch } from "./errors.ts";
import type { Params } from "./params.ts";

export const listParams = ["limit", "starting_after", "ending_before", "expand"];

export interface Listed<T> {
  readonly object: "list";
  readonly url: string;
  readonly has_more: boolean;
  readonly data: T[];
}

/** @param rows oldest first */
export function listed<T extends { readonly id: string }>(url: string, rows: readonly T[], params: Params): Listed<T> {
  const limit = params.integer("limit") ?? 10;
  if (limit < 1 || limit > 100) throw invalid("This value must be between 1 and 100.", "limit");
  const all = rows.toReversed();
  const placeOf = (name: string): number | null => {
    const id = params.text(name);
    if (id === null) return null;
    const place = all.findIndex((row) => row.id === id);
    if (place === -1) throw noSuch("object", id, name);
    return place;
  };
  const after = placeOf("starting_after");
  const before = placeOf("ending_before");
  if (before !== null) {
    const data = all.slice(Math.max(0, before - limit), before);
    return { object: "list", url, has_more: before > limit, data };
  }
  const from = after === null ? 0 : after + 1;
  return { object: "list", url, has_more: all.length > from + limit, data: all.slice(from, from + limit) };
}

export interface Found<T> {
  readonly object: "search_result";
  readonly url: string;
  readonly has_more: boolean;
  readonly next_page: string | null;
  readonly data: T[];
}

export const searchParams = ["query", "limit", "page", "expand"];

/** Rows whose metadata is as the query says; of the query language `metadata['key']:'value'` joined by AND is understood. */
export function searched<T extends { readonly metadata: Readonly<Record<string, string>> }>(
  url: string,
  rows: readonly T[],
  params: Params,
): Found<T> {
  const query = params.requireText("query");
  const terms = query.split(/ AND /i).map((term) => {
    const [, key, value] =
      /^\s*metadata\[(?:'|")([^'"]+)(?:'|")\]:(?:'|")((?:[^'"\\]|\\.)*)(?:'|")\s*$/.exec(term) ?? [];
    if (key === undefined || value === undefined)
      throw invalid(`We were unable to parse your search query: ${query}`, "query");
    return { key, value: value.replace(/\\(.)/g, "$1") };
  });
  const limit = params.integer("limit") ?? 10;
  const from = Number(params.text("page") ?? 0);
  const all = rows.filter((row) => terms.every(({ key, value }) => row.metadata[key] === value)).toReversed();
  const has_more = all.length > from + limit;
  const next_page = has_more ? String(from + limit) : null;
  return { object: "search_result", url, has_more, next_page, data: all.slice(from, from + limit) };
}
