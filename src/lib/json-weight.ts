/** How much memory a JSON value is about to take, without making its text. */
import type { Json } from "../../actors/kernel/json.ts";

/** Characters that a number, a member or an element counts for besides what is in it. */
const small = 8;

/**
 * Characters of a value, about: those of its strings and member names, and a few for everything else. Every message that
 * is handed over in memory is weighed, so this makes no list of an object's members.
 */
export function jsonWeight(value: Json): number {
  const open: object[] = [];
  let weight = weighed(value, open);
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    if (isList(one)) {
      for (const member of one) weight += weighed(member, open);
      continue;
    }
    for (const name in one) {
      const member = (one as Members)[name];
      weight += name.length;
      if (member !== undefined) weight += weighed(member, open);
    }
  }
  return weight;
}

type Members = { readonly [name: string]: Json | undefined };

/** A value without what is in it, which is left open. */
function weighed(value: Json, open: object[]): number {
  if (typeof value === "string") return value.length;
  if (typeof value === "object" && value !== null) open.push(value);
  return small;
}

const isList = (value: object): value is readonly Json[] => Array.isArray(value);
