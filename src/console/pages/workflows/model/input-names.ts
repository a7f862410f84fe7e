/** The members of its input that a workflow reads: where it has no `input_schema`, they are the fields of its form. */
import { type Definition, objectOf } from "./definition.ts";

interface Read {
  /** The workflow looks into it or walks through it: more than a text. */
  isStructure: boolean;
  /** It is printed or compared as it is: where it is missing, something is missing from what is written. */
  isNeeded: boolean;
}

/** Fields of a form; a workflow that reads more is started with JSON. */
const mostNames = 40;

/** What the braces of a template hold. */
const braces = /\{\{\{?([^{}]*)\}?\}\}/g;
/** A path that begins with the input: its first name, and whether it goes on. */
const path = /(?<![\w.\])/-])(?:blackboard\.)?input\.(?:\[([^\]]+)\]|([A-Za-z_][\w-]*))(\.)?/g;
/** What stands between quotes is no path. */
const quoted = /"[^"]*"|'[^']*'/g;

const anyJson = { description: "Any JSON: a list or an object." };

/**
 * @returns a JSON Schema with one member for each name that templates and rules read: text, or any JSON where the
 *   workflow looks into it or walks through it; null: it reads none
 */
export function schemaOfNames(definition: Definition): object | null {
  const names = [...namesRead(definition)].slice(0, mostNames);
  if (names.length === 0) return null;
  return {
    type: "object",
    properties: Object.fromEntries(
      names.map(([name, { isStructure }]) => [name, isStructure ? anyJson : { type: "string" }]),
    ),
  };
}

/** What an input leaves empty although the workflow prints it or decides by it. Checkboxes are empty when they say no. */
export function leftEmpty(definition: Definition, input: unknown): readonly string[] {
  const given = objectOf(input) ?? {};
  const fields = objectOf(definition.inputSchema?.properties) ?? {};
  return [...namesRead(definition)].flatMap(([name, { isNeeded }]) => {
    const value = given[name];
    const isEmpty = value === undefined || value === null || value === "";
    return isNeeded && isEmpty && objectOf(fields[name])?.type !== "boolean" ? [name] : [];
  });
}

function namesRead({ document, states }: Definition): ReadonlyMap<string, Read> {
  const found = new Map<string, Read>();
  const read = (text: string, { isStructure, isNeeded }: Read) => {
    for (const [, bracketed, plain, deeper] of text.replace(quoted, "").matchAll(path)) {
      const name = bracketed ?? plain ?? "";
      const known = found.get(name) ?? { isStructure: false, isNeeded: false };
      known.isStructure ||= isStructure || deeper === ".";
      known.isNeeded ||= isNeeded;
      found.set(name, known);
    }
  };
  const readTemplate = (text: string, isWalked: boolean) => {
    for (const [, held = ""] of text.matchAll(braces)) {
      const isStructure = isWalked || /^\s*#(each|with)\b/.test(held);
      read(held, { isStructure, isNeeded: /^\s*(blackboard\.)?input\./.test(held) });
    }
  };
  for (const { rules, written } of states) {
    for (const { condition, whole } of rules)
      if (condition === "custom") read(whole, { isStructure: false, isNeeded: true });
    if (typeof written.items === "string") readTemplate(written.items, true);
  }
  for (const text of textsIn([document.spec, objectOf(document.metadata)?.output_template])) readTemplate(text, false);
  return found;
}

/** Every text in a manifest, in order; a part that is named twice is read once. */
function textsIn(written: unknown): readonly string[] {
  const texts: string[] = [];
  const seen = new Set<unknown>();
  const waiting: unknown[] = [written];
  while (waiting.length > 0) {
    const next = waiting.shift();
    if (typeof next === "string") texts.push(next);
    else if (typeof next === "object" && next !== null && !seen.has(next)) {
      seen.add(next);
      waiting.unshift(...Object.values(next));
    }
  }
  return texts;
}
