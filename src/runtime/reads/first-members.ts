/** The outermost members of a state, without reading all of its text: the bulky ones stand last. */
import type { Json } from "../../../actors/kernel/json.ts";

const text = /"[^"\\]*(?:\\.[^"\\]*)*"/y;
const piece = /"[^"\\]*(?:\\.[^"\\]*)*"|[^"[\]{},]+|[[\]{},]/y;

/**
 * @param head what `JSON.stringify` made of an object, or the beginning of that
 * @returns those of the wanted members that there are; null when the text ends before that can be said
 */
export function firstMembers(head: string, wanted: readonly string[]): { readonly [name: string]: Json } | null {
  if (head === "{}") return {};
  const missing = new Set(wanted);
  const found: [string, Json][] = [];
  for (let at = 1; missing.size > 0; ) {
    const colon = endOf(text, head, at);
    if (colon === null || head[colon] !== ":") return null;
    const end = valueEnd(head, colon + 1);
    if (end === null) return null;
    const name = JSON.parse(head.slice(at, colon)) as string;
    if (missing.delete(name)) found.push([name, JSON.parse(head.slice(colon + 1, end)) as Json]);
    if (head[end] === "}") break;
    at = end + 1;
  }
  return Object.fromEntries(found);
}

/** Where the comma or the brace behind a value is; null when it is not there yet. */
function valueEnd(head: string, begin: number): number | null {
  let depth = 0;
  for (let at = begin; ; ) {
    const character = head[at] ?? "";
    if (depth === 0 && at > begin && (character === "," || character === "}")) return at;
    const end = endOf(piece, head, at);
    if (end === null) return null;
    if (character === "[" || character === "{") depth += 1;
    if (character === "]" || character === "}") depth -= 1;
    at = end;
  }
}

function endOf(pattern: RegExp, head: string, at: number): number | null {
  pattern.lastIndex = at;
  return pattern.test(head) ? pattern.lastIndex : null;
}
