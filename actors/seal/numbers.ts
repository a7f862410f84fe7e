/** Received numbers as values that tools get: the nearest double for fractions, exactly the number for integers. */
import type { Json } from "../kernel/json.ts";
import { type JsonNode, type Members, NumberText } from "./json-text.ts";

/** A number that no tool can be given as it was meant. */
export class NotRepresentable extends Error {
  override readonly name = "NotRepresentable";
  /** @param path dotted, of the value */
  constructor(readonly path: string) {
    super(`${path}: the number cannot be passed on exactly`);
  }
}

/** @throws NotRepresentable */
function toJson(node: JsonNode, path: string): Json {
  if (node === null || typeof node !== "object") return node;
  if (node instanceof NumberText) return numberOf(node.text, path);
  if (node instanceof Map) return objectOf(node, path);
  return node.map((item, index) => toJson(item, `${path}.${index}`));
}

/** @throws NotRepresentable */
export function objectOf(members: Members, path: string): { readonly [name: string]: Json } {
  const entries = [...members].map(([name, member]) => [name, toJson(member, `${path}.${name}`)] as const);
  // Makes members of their own of all names, `__proto__` among them.
  return Object.fromEntries(entries);
}

function numberOf(text: string, path: string): number {
  const value = Number(text);
  if (!Number.isFinite(value)) throw new NotRepresentable(path);
  if (Math.abs(value) > Number.MAX_SAFE_INTEGER && !isExact(text, value)) throw new NotRepresentable(path);
  return value;
}

/** Whether a number beyond the safe integers is a fraction, or an integer that the double is equal to. */
function isExact(text: string, value: number): boolean {
  const [, digits = "", fraction = "", exponent = "0"] = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const significant = (digits + fraction).replace(/^0+/, "");
  const kept = trailingZerosCut(significant);
  const zeros = significant.length - kept.length + Number(exponent) - fraction.length;
  if (zeros < 0) return true;
  const exact = BigInt(kept) * 10n ** BigInt(zeros);
  return exact === BigInt(Math.abs(value));
}

/** By hand: an expression for zeros at the end tries every row of zeros in a long text anew. */
function trailingZerosCut(digits: string): string {
  let end = digits.length;
  while (end > 0 && digits[end - 1] === "0") end -= 1;
  return digits.slice(0, end);
}
