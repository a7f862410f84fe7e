/** Every operation of the API, from the pinned document, which a test holds equal to the routes of a node. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

interface Described {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly security: readonly { readonly bearer?: readonly string[] }[];
  readonly responses: Readonly<Record<string, { readonly description?: string }>>;
}

export interface Operation {
  /** `GET /v1/agents` */
  readonly name: string;
  readonly tag: string;
  readonly summary: string;
  /** One of them is enough; empty: none is needed. */
  readonly scopes: readonly string[];
  readonly isPublic: boolean;
  /** Codes that it may be refused with, by the order of their statuses. */
  readonly codes: readonly string[];
}

const compared = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);
const pathOf = (name: string): string => name.slice(name.indexOf(" ") + 1);
const lines = readFileSync(join(import.meta.dir, "../../test/pins/openapi.jsonl"), "utf8")
  .trim()
  .split("\n");

/** By path, then by method. */
export const operations: readonly Operation[] = lines
  // The pin has a line for each operation: its name and its description.
  .map((line) => JSON.parse(line) as readonly [string, Described])
  .filter(([name]) => name !== "document")
  .map(([name, { tags, summary, security, responses }]) => ({
    name,
    tag: tags[0] ?? "",
    summary,
    scopes: security.find(({ bearer }) => bearer !== undefined)?.bearer ?? [],
    isPublic: security.every(({ bearer }) => bearer === undefined),
    codes: [...new Set(Object.values(responses).flatMap(({ description = "" }) => codesIn(description)))],
  }))
  .toSorted((one, other) => compared(pathOf(one.name), pathOf(other.name)) || compared(one.name, other.name));

/** Codes as the description of a refusal lists them, and nothing else. */
function codesIn(description: string): string[] {
  const codes = description.split(", ");
  return codes.every((one) => /^`\w+`$/.test(one)) ? codes.map((one) => one.slice(1, -1)) : [];
}

/** Codes that most operations share: those of the request, of the caller and of the stores. */
export const sharedCodes: ReadonlySet<string> = new Set(
  [...new Set(operations.flatMap((operation) => operation.codes))].filter(
    (one) => operations.filter((operation) => operation.codes.includes(one)).length > operations.length / 2,
  ),
);
