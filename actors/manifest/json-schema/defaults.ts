/**
 * Property `default`s of a schema, put where a value lacks the property.
 *
 * Followed are `properties`, `items`, `prefixItems`, `allOf` and references inside the schema; alternatives
 * (`anyOf`, `oneOf`, `if`) are not: which of them holds is known only afterwards. What was filled in stands as it is
 * written. Work and growth are bounded, since both schema and value are untrusted.
 */

import { isObject, type Json } from "../../kernel/json.ts";

/** Filling in would make too much of the value. */
export class TooManyDefaults extends Error {
  override readonly name = "TooManyDefaults";
}

const deepest = 64;
const mostSteps = 1_000_000;

/**
 * @param maxCharacters of JSON that may be added in all
 * @returns the value itself where nothing is missing
 * @throws TooManyDefaults
 */
export function fillDefaults(schema: Json, value: Json, maxCharacters: number): Json {
  return new Filling(schema, maxCharacters).fill(schema, value, 0);
}

/** Likewise, of the members of the value itself only: `properties` at the top of the schema. */
export function fillTopDefaults(schema: Json, value: Json, maxCharacters: number): Json {
  if (!isObject(schema) || !isObject(schema.properties) || !isObject(value)) return value;
  const shallow = Object.entries(schema.properties).flatMap(([name, property]) =>
    isObject(property) && property.default !== undefined ? [[name, { default: property.default }] as const] : [],
  );
  return fillDefaults({ properties: Object.fromEntries(shallow) }, value, maxCharacters);
}

class Filling {
  private steps = 0;
  constructor(
    private readonly root: Json,
    private characters: number,
  ) {}

  fill(schema: Json | undefined, value: Json, depth: number): Json {
    this.count();
    if (!isObject(schema) || value === null || typeof value !== "object" || depth > deepest) return value;
    let filled = value as Json;
    if (typeof schema.$ref === "string") filled = this.fill(this.target(schema.$ref), filled, depth + 1);
    for (const part of listOf(schema.allOf)) filled = this.fill(part, filled, depth + 1);
    if (Array.isArray(filled)) return this.items(schema, filled, depth);
    return isObject(filled) && isObject(schema.properties) ? this.members(schema.properties, filled, depth) : filled;
  }

  private members(properties: JsonObject, value: JsonObject, depth: number): Json {
    const changed = new Map<string, Json>();
    for (const [name, schema] of Object.entries(properties)) {
      this.count();
      const present = Object.hasOwn(value, name) ? value[name] : undefined;
      if (present !== undefined) {
        const filled = this.fill(schema, present, depth + 1);
        if (filled !== present) changed.set(name, filled);
      } else if (isObject(schema) && schema.default !== undefined) {
        this.spend(schema.default);
        changed.set(name, schema.default);
      }
    }
    return changed.size === 0 ? value : Object.fromEntries([...Object.entries(value), ...changed]);
  }

  private items({ prefixItems, items }: JsonObject, value: readonly Json[], depth: number): Json {
    // Draft 7 writes a list of schemas where 2020-12 has `prefixItems`.
    const first = listOf(Array.isArray(items) ? items : prefixItems);
    const rest = Array.isArray(items) ? undefined : items;
    if (first.length === 0 && !isObject(rest)) return value;
    const filled = value.map((item, index) => this.fill(first[index] ?? rest, item, depth + 1));
    return filled.every((item, index) => item === value[index]) ? value : filled;
  }

  private target(reference: string): Json | undefined {
    if (reference !== "#" && !reference.startsWith("#/")) return undefined;
    let at: Json | undefined = this.root;
    for (const step of reference.split("/").slice(1)) {
      const name = decoded(step).replaceAll("~1", "/").replaceAll("~0", "~");
      at = at !== null && typeof at === "object" && Object.hasOwn(at, name) ? (at as JsonObject)[name] : undefined;
    }
    return at;
  }

  private count(): void {
    this.steps += 1;
    if (this.steps > mostSteps) throw new TooManyDefaults("takes too long to fill in defaults");
  }

  private spend(value: Json): void {
    this.characters -= JSON.stringify(value).length;
    if (this.characters < 0) throw new TooManyDefaults("becomes too large by its defaults");
  }
}

type JsonObject = { readonly [key: string]: Json | undefined };

const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);

function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}
