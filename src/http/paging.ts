/** Lists: how a page is asked for and how it is answered. */

import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { invalidField } from "../../actors/kernel/problem.ts";
import { Nullable } from "../../actors/kernel/schema.ts";
import { JsonText } from "./answer.ts";

/** Members for a list route's query: `Type.Object({ ...pagingQuery, status: … })`. */
export const pagingQuery = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, description: "Items per page; 50 when absent" })),
  offset: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 1_000_000_000, description: "Items to skip; not with cursor" }),
  ),
  cursor: Type.Optional(Type.String({ maxLength: 2048, description: "`next_cursor` of the page before" })),
};
const PagingQuery = Type.Partial(Type.Object(pagingQuery));

/**
 * What a list route's `label` members ask for.
 *
 * @throws Problem 422 for one that is not `key=value`
 */
export function readLabels(labels: readonly string[] = []): Readonly<Record<string, string>> {
  return Object.fromEntries(
    labels.map((label) => {
      const split = label.indexOf("=");
      if (split <= 0) throw invalidField("label", "must be key=value");
      return [label.slice(0, split), label.slice(split + 1)];
    }),
  );
}

/** Which part of a list a request asks for. */
export interface Page {
  readonly limit: number;
  readonly offset: number;
  /** Sort key of the last item already seen; null = from the start. */
  readonly after: readonly string[] | null;
}

/**
 * Reads the paging members of a query. A request with none of them gets up to 500 items, because many
 * client methods cannot page.
 * @param keys members of the list's sort key
 * @throws Problem 422 for a cursor that is none of this list's
 */
export function pageOf({ limit, offset, cursor }: Static<typeof PagingQuery>, keys: number): Page {
  const asksNothing = limit === undefined && offset === undefined && cursor === undefined;
  return {
    limit: limit ?? (asksNothing ? 500 : 50),
    offset: cursor === undefined ? (offset ?? 0) : 0,
    after: cursor === undefined || cursor === "" ? null : readCursor(cursor, keys),
  };
}

/**
 * The answer to a list request.
 * @param alias the plural that clients read beside `items`
 * @param rows  up to `limit + 1` items: one more than asked for says that there is a next page
 * @param keyOf sort key of an item
 */
export function listOf<Alias extends string, Item>(
  alias: Alias,
  rows: readonly Item[],
  { limit }: Page,
  keyOf: (item: Item) => readonly string[],
): List<Alias, Item> {
  const items = rows.slice(0, limit);
  const last = rows.length > limit ? items.at(-1) : undefined;
  return {
    items,
    count: items.length,
    next_cursor: last === undefined ? null : writeCursor(keyOf(last)),
    ...aliased(alias, items),
  };
}

/** A page of a list: the items once as `items` and once under the plural that clients read. */
export type List<Alias extends string, Item> = {
  readonly items: readonly Item[];
  readonly count: number;
  readonly next_cursor: string | null;
} & { readonly [Name in Alias]: readonly Item[] };

/** The same as JSON text. */
export type ListText<Alias extends string, Item> = JsonText<List<Alias, Item>>;

/**
 * The answer to a list request whose items are stored as JSON text: they are sent without being parsed.
 * @param next sort key of the last item, null when there is no next page
 */
export function listText<Alias extends string, Item>(
  alias: Alias,
  documents: readonly string[],
  next: readonly string[] | null,
): ListText<Alias, Item> {
  const items = `[${documents.join(",")}]`;
  const cursor = JSON.stringify(next === null ? null : writeCursor(next));
  return new JsonText(`{"${alias}":${items},"items":${items},"count":${documents.length},"next_cursor":${cursor}}`);
}

/** One member, whose name the compiler keeps: it takes a computed name for any name. */
const aliased = <Alias extends string, Value>(alias: Alias, value: Value) =>
  ({ [alias]: value }) as { [Name in Alias]: Value };

/** The schema of such an answer. */
export function listSchema<Alias extends string, Item extends TSchema>(alias: Alias, item: Item) {
  return Type.Object({
    items: Type.Array(item),
    count: Type.Integer(),
    next_cursor: Nullable(Type.String()),
    ...aliased(alias, Type.Array(item)),
  });
}

/** The cursor that goes on behind an item with this sort key. */
const writeCursor = (key: readonly string[]): string => Buffer.from(JSON.stringify(key)).toString("base64url");

function readCursor(cursor: string, keys: number): readonly string[] {
  try {
    const key: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString());
    if (Array.isArray(key) && key.length === keys && key.every(isCursorPart)) return key;
  } catch {
    // refused below
  }
  throw invalidField("cursor", "is not a cursor of this list");
}

const isCursorPart = (part: unknown): boolean => typeof part === "string" && !part.includes("\0");
