/** How two documents differ, member by member. */
import { isAlike, isObject, type Json } from "../kernel/json.ts";

export interface Difference {
  /** Paths that only the second one has; what lies below a path is not listed again. */
  readonly added: readonly string[];
  /** Paths that only the first one has. */
  readonly removed: readonly string[];
  readonly changed: readonly { readonly path: string; readonly from: Json; readonly to: Json }[];
}

/** Lists are compared place by place; paths are dotted, in the order of the documents. */
export function differenceOf(from: Json, to: Json): Difference {
  const found = { added: [] as string[], removed: [] as string[], changed: [] as Difference["changed"][number][] };
  compare("", from, to);
  return found;

  function compare(path: string, one: Json, other: Json): void {
    if (isAlike(one, other)) return;
    const [mine, theirs] = [membersOf(one), membersOf(other)];
    if (mine === null || theirs === null || Array.isArray(one) !== Array.isArray(other)) {
      found.changed.push({ path, from: one, to: other });
      return;
    }
    for (const [name, value] of mine) {
      const next = theirs.get(name);
      if (next === undefined) found.removed.push(below(path, name));
      else compare(below(path, name), value, next);
    }
    for (const name of theirs.keys()) if (!mine.has(name)) found.added.push(below(path, name));
  }
}

const below = (path: string, name: string): string => (path === "" ? name : `${path}.${name}`);

/** Null: it is no document with members. */
function membersOf(value: Json): ReadonlyMap<string, Json> | null {
  if (Array.isArray(value)) return new Map(value.map((item: Json, at) => [String(at), item]));
  if (!isObject(value)) return null;
  return new Map(Object.entries(value).filter(([, member]) => member !== undefined));
}
