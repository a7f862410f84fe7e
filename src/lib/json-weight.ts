/** How much memory a JSON value is about to take, without making its text. */
import type { Json } from "../../actors/kernel/json.ts";

/** Characters that a number, a member or an element counts for besides what is in it. */
const small = 8;

/**
 * Characters of a value, about: those of its strings and member names, and a few for everything else. Every message that
 * is handed over in memory is weighed, so this makes no list of an object's members.
 */
export function jsonWeight(value: Json): number {
  let weight = 0;
  const open: Json[] = [value];
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    weight += typeof one === "string" ? one.length : small;
    if (one === null || typeof one !== "object") continue;
    if (isList(one)) {
      for (const member of one) open.push(member);
      continue;
    }
    for (const name in one) {
      const member = one[name];
      weight += name.length;
      if (member !== undefined) open.push(member);
    }
  }
  return weight;
}

const isList = (value: object): value is readonly Json[] => Array.isArray(value);
