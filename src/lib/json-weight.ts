/** How much memory a JSON value is about to take, without making its text. */
import type { Json } from "../../actors/kernel/json.ts";

/** Characters that a number, a member or an element counts for besides what is in it. */
const small = 8;

/** Characters of a value, about: those of its strings and member names, and a few for everything else. */
export function jsonWeight(value: Json): number {
  let weight = 0;
  const open: Json[] = [value];
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    weight += typeof one === "string" ? one.length : small;
    if (one === null || typeof one !== "object") continue;
    // A list's indexes are its member names.
    for (const [name, member] of Object.entries(one)) {
      weight += name.length;
      if (member !== undefined) open.push(member);
    }
  }
  return weight;
}
