/** Values no store of ours can hold: text with NUL or half a surrogate pair, numbers that are not finite. */
import type { Json } from "../kernel/json.ts";
import type { Findings } from "./findings.ts";

/** Adds an issue for every one of them, wherever in the document it is. */
export function checkStorable(document: Json, findings: Findings): void {
  // To know the way to every value is dear, and needed where there is a fault only.
  if (!everyPart(document, (part) => faultOf(part) === null)) search(document, findings, []);
}

function search(document: Json, findings: Findings, path: readonly string[]): void {
  const fault = faultOf(document);
  if (fault !== null) findings.issue(shownPath(path), fault);
  if (document === null || typeof document !== "object") return;
  for (const [key, child] of Object.entries(document)) {
    const below = [...path, key];
    if (!isStorable(key)) findings.issue(shownPath(below), "has a name with NUL or broken Unicode");
    search(child ?? null, findings, below);
  }
}

function faultOf(value: Json): string | null {
  if (typeof value === "string" && !isStorable(value)) return "may not hold NUL or broken Unicode";
  return typeof value === "number" && !Number.isFinite(value) ? "must be a finite number" : null;
}

export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}

/** The same text without what stores refuse: NUL goes, half a surrogate pair becomes U+FFFD. */
export const madeStorable = (text: string): string => text.replaceAll("\0", "").toWellFormed();

/** Whether no text in it, names included, is one that stores refuse. */
export function isStorableJson(value: Json): boolean {
  return everyPart(value, (part) => typeof part !== "string" || isStorable(part));
}

/** Whether every name and every value that is neither object nor list is as wanted. */
function everyPart(value: Json, isWanted: (part: string | number | boolean | null) => boolean): boolean {
  const waiting: Json[] = [value];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (next === null || typeof next !== "object") {
      if (!isWanted(next)) return false;
      continue;
    }
    if (!Array.isArray(next) && !Object.keys(next).every(isWanted)) return false;
    // `Object.values` takes a hundred times longer for a list.
    const children: readonly (Json | undefined)[] = Array.isArray(next) ? next : Object.values(next);
    for (const child of children) waiting.push(child ?? null);
  }
  return true;
}

function shownPath(path: readonly string[]): string {
  return path
    .map((key) => (key.length > 80 ? `${key.slice(0, 80)}…` : key).replaceAll("\0", "␀").toWellFormed())
    .join(".");
}

/** What a finding says of text that fails these checks. */
export const unusableText = "contains a NUL character or broken Unicode";
