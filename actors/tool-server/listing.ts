/** What a tool server lists: what of it is offered, under which names, and what waits for a person's word. */
import { type Json, nestsDeeper } from "../kernel/json.ts";

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
  /** Levels: more than any use, and less than what recursion over it stands. */
  schemaDepth: 128,
  /** Of all tools that are kept. */
  listBytes: 8 * 1_024 * 1_024,
  /** Of all pages, with what of them is not kept. */
  pages: 100,
  readBytes: 16 * 1_024 * 1_024,
  answerBytes: 10 * 1_024 * 1_024,
} as const;

const toolName = /^[A-Za-z0-9_./-]{1,96}$/;

export interface Bounded {
  readonly tools: readonly ListedTool[];
  /** One sentence for each of the first tools that are left out, and for what is cut off behind the last one. */
  readonly warnings: readonly string[];
}

/** Tools that are named when they are left out. */
const maxNamed = 50;

/** Keeps of a list what is within the bounds, while it is read: what is left out is held no longer than that. */
export class ListSieve {
  readonly #kept = new Map<string, ListedTool>();
  readonly #warnings: string[] = [];
  #bytes = 0;
  #unnamed = 0;
  #beyond = 0;

  /** @param sizeOf bytes of a text in UTF-8 */
  constructor(readonly sizeOf: (text: string) => number) {}

  /** Whether nothing behind this can be kept any more. */
  get isFull(): boolean {
    return this.#beyond > 0;
  }

  take(tool: ListedTool): void {
    const { name, description, inputSchema, outputSchema } = tool;
    const schemas = [inputSchema, ...(outputSchema === null ? [] : [outputSchema])];
    const texts = schemas.map((schema) => JSON.stringify(schema));
    const sizes = [this.sizeOf(description), ...texts.map(this.sizeOf)];
    const deep = texts.some((text) => nestsDeeper(text, bounds.schemaDepth)) ? "has a schema of too many levels" : null;
    const fault = faultOf(name, sizes) ?? deep ?? (this.#kept.has(name) ? "is listed twice" : null);
    if (fault !== null) this.#leaveOut(`The tool ${shownName(name)} ${fault}: it is left out`);
    else this.#keep(tool, sizes);
  }

  done(): Bounded {
    const [unnamed, beyond] = [this.#unnamed, this.#beyond];
    return {
      tools: [...this.#kept.values()],
      warnings: [
        ...this.#warnings,
        ...(unnamed > 0 ? [`${unnamed} more tools are left out`] : []),
        ...(beyond > 0 ? [`${beyond} tools beyond the first ${this.#kept.size} are left out`] : []),
      ],
    };
  }

  #keep(tool: ListedTool, sizes: readonly number[]): void {
    const bytes = sizes.reduce((sum, size) => sum + size, tool.name.length);
    if (this.isFull || this.#kept.size >= bounds.tools || this.#bytes + bytes > bounds.listBytes) {
      this.#beyond += 1;
      return;
    }
    this.#bytes += bytes;
    this.#kept.set(tool.name, tool);
  }

  #leaveOut(warning: string): void {
    if (this.#warnings.length < maxNamed) this.#warnings.push(warning);
    else this.#unnamed += 1;
  }
}

/** @param sizeOf bytes of a text in UTF-8 */
export function withinBounds(listed: readonly ListedTool[], sizeOf: (text: string) => number): Bounded {
  const sieve = new ListSieve(sizeOf);
  for (const tool of listed) sieve.take(tool);
  return sieve.done();
}

/** @param sizes of the description and the schemas, bytes */
function faultOf(name: string, [description = 0, ...schemas]: readonly number[]): string | null {
  if (!toolName.test(name)) return "has a name with other characters than letters, digits and _ . / -, or a long one";
  if (description > bounds.descriptionBytes) return "has a description of more than 4 KiB";
  return schemas.some((size) => size > bounds.schemaBytes) ? "has a schema of more than 64 KiB" : null;
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

/** Definitions of tools, by their names. */
export type Definitions = Readonly<Record<string, ListedTool>>;

/**
 * What tools were when they were accepted, of those that are not listed as such now: a person compares them.
 * @param kept the same of the list before this one
 * @param before the list before this one, with its digests
 * @param sizeOf bytes of a text in UTF-8; what is too much together is not kept
 */
export function acceptedDefinitions(
  kept: Definitions,
  before: { readonly tools: readonly ListedTool[]; readonly digests: Digests },
  accepted: Digests | null,
  listed: Digests,
  sizeOf: (text: string) => number,
): Definitions {
  const former = new Map(before.tools.map((tool) => [tool.name, tool]));
  const different = Object.keys(accepted ?? {}).filter((name) => accepted?.[name] !== listed[name]);
  // Those that wait for a person come first.
  const sorted = different.toSorted((one, other) => Number(other in listed) - Number(one in listed));
  const found: Record<string, ListedTool> = {};
  let bytes = 0;
  for (const name of sorted) {
    const tool = before.digests[name] === accepted?.[name] ? former.get(name) : kept[name];
    if (tool === undefined) continue;
    bytes += sizeOf(JSON.stringify(tool));
    if (bytes > bounds.listBytes) break;
    found[name] = tool;
  }
  return found;
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
