/** The functions a template may call, and how values count and print. */
import type { Json } from "../kernel/json.ts";

export type Value = Json | undefined;

/** Own members only; strings have none. */
export function member(value: Value, name: string): Value {
  if (value === null || typeof value !== "object" || !Object.hasOwn(value, name)) return undefined;
  if (Array.isArray(value)) return /^(0|[1-9]\d*)$/.test(name) ? value[Number(name)] : undefined;
  return (value as { readonly [key: string]: Value })[name];
}

/** Absent, false, 0, "" and empty lists are false. */
export function isTrue(value: Value): boolean {
  return Array.isArray(value) ? value.length > 0 : Boolean(value);
}

/** Objects and lists print as compact JSON, what is absent as nothing. */
export function print(value: Value): string {
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function size(value: Value): number {
  if (typeof value === "string") return [...value].length;
  if (Array.isArray(value)) return value.length;
  return value !== null && typeof value === "object" ? Object.keys(value).length : 0;
}

function equal(one: Value, other: Value): boolean {
  if (one === other) return true;
  const bothObjects = typeof one === "object" && typeof other === "object" && one !== null && other !== null;
  return bothObjects && JSON.stringify(one) === JSON.stringify(other);
}

/** Numbers and numeric texts by size, other texts by code unit; anything else compares as false. */
function compare(one: Value, other: Value, holds: (order: number) => boolean): boolean {
  const [left, right] = [numberOf(one), numberOf(other)];
  if (left !== null && right !== null) return holds(left - right);
  if (typeof one !== "string" || typeof other !== "string") return false;
  return holds(one < other ? -1 : one > other ? 1 : 0);
}

function numberOf(value: Value): number | null {
  if (typeof value === "number") return value;
  if (typeof value !== "string" || value.trim() === "") return null;
  const number = Number(value);
  return Number.isNaN(number) ? null : number;
}

function includes(collection: Value, item: Value): boolean {
  if (typeof collection === "string") return collection.includes(print(item));
  if (Array.isArray(collection)) return collection.some((entry) => equal(entry, item));
  return member(collection, print(item)) !== undefined;
}

type Call = (given: readonly Value[]) => Value;

export const helpers: Readonly<Record<string, Call>> = {
  lookup: ([from, name]) => member(from, print(name)),
  length: ([value]) => size(value),
  upper: ([value]) => print(value).toUpperCase(),
  lower: ([value]) => print(value).toLowerCase(),
  trim: ([value]) => print(value).trim(),
  json: ([value]) => JSON.stringify(value ?? null),
  first_line: ([value]) => print(value).trimStart().split(/\r?\n/, 1)[0] ?? "",
  keys: ([value]) => (value !== null && typeof value === "object" ? Object.keys(value) : []),
  default: ([value, fallback]) => (value === undefined || value === null || value === "" ? fallback : value),
  eq: ([one, other]) => equal(one, other),
  ne: ([one, other]) => !equal(one, other),
  gt: ([one, other]) => compare(one, other, (order) => order > 0),
  gte: ([one, other]) => compare(one, other, (order) => order >= 0),
  lt: ([one, other]) => compare(one, other, (order) => order < 0),
  lte: ([one, other]) => compare(one, other, (order) => order <= 0),
  and: (given) => given.every(isTrue),
  or: (given) => given.some(isTrue),
  not: ([value]) => !isTrue(value),
  includes: ([collection, item]) => includes(collection, item),
};
