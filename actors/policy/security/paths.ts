/**
 * Paths of calls against allowlists, by components. An entry without a wildcard, or one that ends in `/*` or `/**`,
 * covers a directory with everything below it; every other `*` stays inside its component, and such an entry covers
 * nothing below what it names.
 */
import { matchesSegment, segmentsOf } from "../filesystem/pattern.ts";

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

/** @param path absolute and resolved */
export function pathAllowed(allowlist: readonly string[], path: string): boolean {
  const components = segmentsOf(path);
  return allowlist.some((entry) => covers(entry, components));
}

function covers(entry: string, path: readonly string[]): boolean {
  if (pathEntryFault(entry) !== null) return false;
  const wanted = segmentsOf(entry.startsWith("/") ? entry : `${workspace}/${entry}`);
  const isOpenEnded = wanted.at(-1) === "*" || wanted.at(-1) === "**";
  if (isOpenEnded) wanted.pop();
  const coversBelow = isOpenEnded || !wanted.some((part) => part.includes("*"));
  if (coversBelow ? path.length < wanted.length : path.length !== wanted.length) return false;
  return wanted.every((part, at) => matchesSegment(part, path[at] ?? ""));
}
