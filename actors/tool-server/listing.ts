/** What a tool server lists: what of it is offered, under which names, and what waits for a person's word. */
import type { Json } from "../kernel/json.ts";

/** A schema, or another JSON object. */
export type JsonObject = { readonly [member: string]: Json };

/** A tool as its server describes it. */
export interface ListedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema: JsonObject | null;
  readonly annotations: {
    readonly readOnlyHint: boolean;
    readonly destructiveHint: boolean;
    readonly idempotentHint: boolean;
    readonly openWorldHint: boolean;
  };
}

export const bounds = {
  tools: 500,
  descriptionBytes: 4 * 1_024,
  schemaBytes: 64 * 1_024,
  answerBytes: 10 * 1_024 * 1_024,
} as const;

const toolName = /^[A-Za-z0-9_./-]{1,96}$/;

export interface Bounded {
  readonly tools: readonly ListedTool[];
  /** One sentence for each tool that is left out, and for what is cut off behind the last one. */
  readonly warnings: readonly string[];
}

/** @param sizeOf bytes of a text in UTF-8 */
export function withinBounds(listed: readonly ListedTool[], sizeOf: (text: string) => number): Bounded {
  const kept = new Map<string, ListedTool>();
  const warnings: string[] = [];
  let beyond = 0;
  for (const tool of listed) {
    const fault = faultOf(tool, sizeOf) ?? (kept.has(tool.name) ? "is listed twice" : null);
    if (fault !== null) warnings.push(`The tool ${shownName(tool.name)} ${fault}: it is left out`);
    else if (kept.size >= bounds.tools) beyond += 1;
    else kept.set(tool.name, tool);
  }
  if (beyond > 0) warnings.push(`${beyond} tools beyond the first ${bounds.tools} are left out`);
  return { tools: [...kept.values()], warnings };
}

function faultOf({ name, description, inputSchema, outputSchema }: ListedTool, sizeOf: (text: string) => number) {
  if (!toolName.test(name)) return "has a name with other characters than letters, digits and _ . / -, or a long one";
  if (sizeOf(description) > bounds.descriptionBytes) return "has a description of more than 4 KiB";
  const schemas = [inputSchema, ...(outputSchema === null ? [] : [outputSchema])];
  if (schemas.some((schema) => sizeOf(JSON.stringify(schema)) > bounds.schemaBytes)) {
    return "has a schema of more than 64 KiB";
  }
  return null;
}

const shownName = (name: string): string => JSON.stringify(name.slice(0, 96));

/** Digests of tools' definitions, by their names. */
export type Digests = Readonly<Record<string, string>>;

/** What of a list may be called. */
export interface Standing {
  /** What a person, or the first list, accepted; null: nothing was listed yet, or definitions are followed. */
  readonly accepted: Digests | null;
  /** Names that are listed and not callable, in the order of the list. */
  readonly withheld: readonly string[];
}

/**
 * `follow`: everything listed is callable. `pinned`: the first list is accepted as a whole; later a tool that is new, or
 * not as it was accepted, is withheld.
 */
export function standingOf(mode: "pinned" | "follow", accepted: Digests | null, listed: Digests): Standing {
  if (mode === "follow") return { accepted: null, withheld: [] };
  if (accepted === null) return { accepted: listed, withheld: [] };
  return { accepted, withheld: Object.keys(listed).filter((name) => accepted[name] !== listed[name]) };
}

/** What is accepted once a person has accepted these names; of names that are not withheld nothing changes. */
export function accepting(accepted: Digests | null, listed: Digests, names: readonly string[]): Digests {
  const fresh = names.flatMap((name) => {
    const digest = listed[name];
    return digest === undefined ? [] : [[name, digest] as const];
  });
  return { ...accepted, ...Object.fromEntries(fresh) };
}

/** How a list differs from the one before it. */
export interface Difference {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
}

/** @returns null when nothing differs */
export function differenceOf(before: Digests, after: Digests): Difference | null {
  const added = Object.keys(after).filter((name) => before[name] === undefined);
  const removed = Object.keys(before).filter((name) => after[name] === undefined);
  const changed = Object.keys(after).filter((name) => before[name] !== undefined && before[name] !== after[name]);
  return added.length + removed.length + changed.length === 0 ? null : { added, removed, changed };
}

/** The text that a definition's digest is made of: the same for the same content in another order. */
export function definitionText({ description, inputSchema, outputSchema, annotations }: ListedTool): string {
  return JSON.stringify(sorted({ description, inputSchema, outputSchema, annotations: { ...annotations } }));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([name, each]) => [name, sorted(each)]));
}
