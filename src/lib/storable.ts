/** What others say, as stores take it. */
import { madeStorable } from "../../actors/manifest/storable.ts";

/** The same JSON value without what stores refuse in its texts, names of members too. */
export function storable<T>(value: T): T {
  // Every kind of JSON value comes back as the kind it was.
  return made(value) as T;
}

function made(value: unknown): unknown {
  if (typeof value === "string") return madeStorable(value);
  if (Array.isArray(value)) return value.map(made);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [madeStorable(name), made(each)] as const));
}
