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
    const split = word.indexOf("=");
    const name = word.slice(2, split === -1 ? undefined : split);
    const flag = word.startsWith("--") && Object.hasOwn(table, name) ? table[name] : undefined;
    if (flag === undefined) throw usageFailure(`there is no flag ${split === -1 ? word : word.slice(0, split)}`);
    const given = split === -1 ? null : word.slice(split + 1);
    const needsNext = given === null && (flag.kind === "text" || flag.kind === "list");
    const value = needsNext ? own[at + 1] : (given ?? "true");
    if (needsNext) at += 1;
    if (value === undefined) throw usageFailure(`--${name} needs a value`);
    if (flag.kind === "switch" && given !== null) throw usageFailure(`--${name} has no value`);
    const former = texts.get(name);
    if (former !== undefined && flag.kind !== "list") throw usageFailure(`--${name} is there twice`);
    texts.set(name, [...(former ?? []), value]);
  }
  const values = Object.entries(table).map(([name, { kind }]) => {
    const all = texts.get(name);
    const value = kind === "list" ? (all ?? []) : kind === "switch" ? all !== undefined : (all?.[0] ?? null);
    return [name, value] as const;
  });
  return {
    // By the table: each of its members has a value of its kind.
    flags: Object.fromEntries(values) as FlagValues<T>,
    positions,
    rest: end === -1 ? null : words.slice(end + 1),
  };
}
