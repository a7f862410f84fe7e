/** How much a schema comes to when it is compiled. */
import { isObject, type Json } from "../../kernel/json.ts";

const referring = new Set(["$ref", "$dynamicRef", "$recursiveRef"]);

/**
 * Characters of a schema's JSON, and of what each distinct reference leads to: the compiler makes a function of each.
 * A reference that cannot be followed by its text alone counts as the whole schema, and so does each one in a schema
 * whose parts have an `$id` of their own.
 */
export function expandedCharacters(schema: Json): number {
  const sizes = new Map<object, number>();
  const references: string[] = [];
  let parts = 0;

  const note = (key: string, value: Json | undefined): void => {
    if (typeof value !== "string") return;
    if (referring.has(key)) references.push(value);
    if (key === "$id") parts += 1;
  };
  /** Members of an object are counted with their names, quotes and separators. */
  const measure = (value: Json | undefined): number => {
    if (value === undefined || value === null || typeof value !== "object") return JSON.stringify(value ?? null).length;
    let size = 2;
    if (Array.isArray(value)) for (const item of value) size += measure(item) + 1;
    else {
      for (const [key, member] of Object.entries(value)) {
        note(key, member);
        size += key.length + 4 + measure(member);
      }
    }
    sizes.set(value, size);
    return size;
  };

  const whole = measure(schema);
  const isOne = parts === 0 || (parts === 1 && isObject(schema) && typeof schema.$id === "string");
  let sum = whole;
  for (const reference of isOne ? new Set(references) : references) {
    const target = isOne ? targetOf(schema, reference) : undefined;
    sum += (isObject(target) || Array.isArray(target) ? sizes.get(target) : undefined) ?? whole;
  }
  return sum;
}

function targetOf(root: Json, reference: string): Json | undefined {
  if (!reference.startsWith("#/")) return undefined;
  let at: Json | undefined = root;
  for (const step of reference.slice(2).split("/")) {
    const name = decoded(step).replaceAll("~1", "/").replaceAll("~0", "~");
    if (Array.isArray(at)) at = /^\d{1,9}$/.test(name) ? at[Number(name)] : undefined;
    else at = isObject(at) && Object.hasOwn(at, name) ? at[name] : undefined;
  }
  return at;
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}
