/** Ids in an answer that the request wants as whole objects. */
import { invalid } from "./errors.ts";

/** @param find the object of an id, null for what has none */
export function expanded(answer: object, paths: readonly string[], find: (id: string) => object | null): object {
  const copy: Record<string, unknown> = structuredClone({ ...answer });
  for (const path of paths) {
    if (path.split(".").length > 4) throw invalid(`You cannot expand more than 4 levels: ${path}`, "expand");
    expandAt(copy, path.split("."), path, find);
  }
  return copy;
}

function expandAt(
  at: Record<string, unknown>,
  [name = "", ...rest]: readonly string[],
  path: string,
  find: (id: string) => object | null,
): void {
  const value = at[name];
  if (value === undefined) throw invalid(`This property cannot be expanded (${path}).`, "expand");
  const expandOne = (one: unknown): unknown => {
    const found = typeof one === "string" ? find(one) : one;
    if (found === null || typeof found !== "object") return one;
    const copy: Record<string, unknown> = typeof one === "string" ? structuredClone({ ...found }) : { ...found };
    if (rest.length > 0) expandAt(copy, rest, path, find);
    return copy;
  };
  at[name] = Array.isArray(value) ? value.map(expandOne) : expandOne(value);
}
