/** Reads the words after a verb: flags by the verb's table, positions, and what stands after `--`. */
import { usageFailure } from "./exit.ts";

export interface Flag {
  /** A switch has no value; a text has one; a list is a text that may be repeated; a choice may have one after `=`. */
  readonly kind: "switch" | "text" | "list" | "choice";
  /** What the value is, for the help. */
  readonly value?: string;
  readonly meaning: string;
}
export type FlagTable = Readonly<Record<string, Flag>>;

type ValueOf<F extends Flag> = F["kind"] extends "switch"
  ? boolean
  : F["kind"] extends "list"
    ? readonly string[]
    : string | null;
export type FlagValues<T extends FlagTable> = { readonly [K in keyof T]: ValueOf<T[K]> };

export interface Words<T extends FlagTable> {
  readonly flags: FlagValues<T>;
  readonly positions: readonly string[];
  /** What stands after `--`; null without one. */
  readonly rest: readonly string[] | null;
}

/**
 * Flags may stand before and after positions. `--name value` and `--name=value` are the same; a choice without a value
 * is `true`.
 *
 * @throws Failure `usage` for a flag that is not known, has no value, has one that it must not have, or stands twice
 */
export function readWords<T extends FlagTable>(words: readonly string[], table: T): Words<T> {
  const texts = new Map<string, string[]>();
  const positions: string[] = [];
  const end = words.indexOf("--");
  const own = end === -1 ? words : words.slice(0, end);
  for (let at = 0; at < own.length; at += 1) {
    const word = own[at] ?? "";
    if (!/^--?[a-z]/i.test(word)) {
      positions.push(word);
      continue;
    }
    const { name, flag, given } = flagOf(word, table);
    const takesNext = given === null && (flag.kind === "text" || flag.kind === "list");
    if (takesNext) at += 1;
    keep(texts, name, flag, takesNext ? own[at] : (given ?? "true"));
  }
  const values = Object.entries(table).map(([name, flag]) => [name, valueIn(flag, texts.get(name))] as const);
  return {
    // By the table: each of its members has a value of its kind.
    flags: Object.fromEntries(values) as FlagValues<T>,
    positions,
    rest: end === -1 ? null : words.slice(end + 1),
  };
}

/** The flag that a word names, and what stands after its `=`. */
function flagOf(word: string, table: FlagTable) {
  const split = word.indexOf("=");
  const end = split === -1 ? undefined : split;
  const name = word.slice(2, end);
  const flag = word.startsWith("--") && Object.hasOwn(table, name) ? table[name] : undefined;
  if (flag === undefined) throw usageFailure(`there is no flag ${word.slice(0, end)}`);
  return { name, flag, given: split === -1 ? null : word.slice(split + 1) };
}

function keep(texts: Map<string, string[]>, name: string, { kind }: Flag, value: string | undefined): void {
  const former = texts.get(name) ?? [];
  if (value === undefined) throw usageFailure(`--${name} needs a value`);
  if (kind === "switch" && value !== "true") throw usageFailure(`--${name} has no value`);
  if (former.length > 0 && kind !== "list") throw usageFailure(`--${name} is there twice`);
  texts.set(name, [...former, value]);
}

function valueIn({ kind }: Flag, texts: readonly string[] = []): unknown {
  if (kind === "list") return texts;
  return kind === "switch" ? texts.length > 0 : (texts[0] ?? null);
}
