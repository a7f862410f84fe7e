/**
 * Paths of calls against allowlists, by components. An entry without a wildcard, or one that ends in `/*` or `/**`,
 * covers a directory with everything below it; every other `*` stays inside its component, and such an entry covers
 * nothing below what it names.
 */
import { segmentsOf } from "../filesystem/pattern.ts";

export const workspace = "/workspace";

/** A path as a call names it, without `.`, `..` and doubled slashes. */
export interface ResolvedPath {
  /** Absolute. */
  readonly path: string;
  /** It was written with `..`. */
  readonly climbs: boolean;
}

/**
 * Resolves a path as text; a relative one lies below `/workspace`. Links are followed where the call runs, which applies
 * `pathAllowed` to what they lead to.
 */
export function resolveLexically(written: string): ResolvedPath {
  const components: string[] = [];
  let climbs = false;
  for (const part of segmentsOf(written.startsWith("/") ? written : `${workspace}/${written}`)) {
    if (part !== "..") components.push(part);
    else {
      climbs = true;
      components.pop();
    }
  }
  return { path: `/${components.join("/")}`, climbs };
}

/** Why an entry of a path allowlist names nothing; null: it is well-formed. */
export function pathEntryFault(entry: string): string | null {
  if (entry.includes("\0")) return "contains a NUL character";
  if (segmentsOf(entry).includes("..")) return "must not contain `..`";
  return null;
}

/** No file system has longer ones; nothing longer is compared. */
const maxPath = 4096;

/** @param path absolute and resolved */
export function pathAllowed(allowlist: readonly string[], path: string): boolean {
  if (path.length > maxPath) return false;
  const components = segmentsOf(path);
  return entriesOf(allowlist).some((entry) => covers(entry, components));
}

interface Entry {
  /** Of each component the texts between its stars. */
  readonly components: readonly (readonly string[])[];
  readonly coversBelow: boolean;
}

/** Made ready once for as long as the list is the same object. */
const known = new WeakMap<readonly string[], readonly Entry[]>();

function entriesOf(allowlist: readonly string[]): readonly Entry[] {
  const earlier = known.get(allowlist);
  if (earlier !== undefined) return earlier;
  const entries = allowlist.filter((entry) => pathEntryFault(entry) === null).map(entryOf);
  known.set(allowlist, entries);
  return entries;
}

function entryOf(text: string): Entry {
  const components = segmentsOf(text.startsWith("/") ? text : `${workspace}/${text}`);
  const isOpenEnded = components.at(-1) === "*" || components.at(-1) === "**";
  if (isOpenEnded) components.pop();
  return {
    components: components.map((component) => component.split("*")),
    coversBelow: isOpenEnded || !components.some((component) => component.includes("*")),
  };
}

function covers({ components, coversBelow }: Entry, path: readonly string[]): boolean {
  if (coversBelow ? path.length < components.length : path.length !== components.length) return false;
  return components.every((texts, at) => fits(texts, path[at] ?? ""));
}

/** Whether a name is made of these texts in order, with anything between them. */
function fits(texts: readonly string[], name: string): boolean {
  const [first = "", ...rest] = texts;
  const last = rest.pop();
  if (last === undefined) return name === first;
  if (name.length < first.length + last.length || !name.startsWith(first) || !name.endsWith(last)) return false;
  let at = first.length;
  for (const text of rest) {
    const found = name.indexOf(text, at);
    if (found < 0) return false;
    at = found + text.length;
  }
  return at <= name.length - last.length;
}
