/**
 * Reads the members of one object of a manifest, each with its bounds and its default. Faults go to
 * the findings and reading continues, so that all of them are found at once. `null` counts as absent.
 */

import { isObject, type Json } from "../kernel/json.ts";
import { suggestion } from "../kernel/nearest.ts";
import type { Findings } from "./findings.ts";

export interface TextBounds {
  readonly min?: number;
  readonly max?: number;
  readonly pattern?: RegExp;
  /** Completes "must be …" where the pattern fails. */
  readonly form?: string;
}

export interface NumberBounds {
  readonly min: number;
  readonly max: number;
}

export class Fields {
  private readonly known = new Set<string>();

  private constructor(
    private readonly members: { readonly [key: string]: Json | undefined } | readonly Json[],
    /** Dotted, rooted at the document; empty for the document itself. */
    readonly path: string,
    readonly findings: Findings,
    /** The object is written as the value of one of its members alone. */
    readonly isShorthand = false,
  ) {}

  /** An issue and an empty object when the value is no object. */
  static of(value: Json | undefined, path: string, findings: Findings): Fields {
    if (isObject(value)) return new Fields(value, path, findings);
    findings.issue(path, "must be an object");
    return new Fields({}, path, findings);
  }

  /** A member that is an object, or the value of that object's member `alone`. */
  objectOr(key: string, alone: string): Fields {
    const value = this.raw(key);
    if (isObject(value)) return new Fields(value, this.at(key), this.findings);
    return new Fields({ [alone]: value }, this.at(key), this.findings, true);
  }

  at(key: string): string {
    const short = shown(key);
    return this.path === "" ? short : `${this.path}.${short}`;
  }

  /** The member, null when absent. Each member that is asked for is a known one. */
  raw(key: string): Json {
    this.known.add(key);
    const members = this.members as { readonly [key: string]: Json | undefined };
    return (Object.hasOwn(members, key) ? members[key] : null) ?? null;
  }

  has(key: string): boolean {
    return this.raw(key) !== null;
  }

  issue(key: string, message: string, code?: string, extras?: { available?: readonly string[] }): null {
    this.findings.issue(this.at(key), message, code, extras);
    return null;
  }

  warn(key: string, code: string, message: string): void {
    this.findings.warn(this.at(key), code, message);
  }

  /** A member object; empty when absent or, with an issue, when it is something else. */
  section(key: string): Fields {
    const value = this.raw(key);
    return value === null ? new Fields({}, this.at(key), this.findings) : Fields.of(value, this.at(key), this.findings);
  }

  text(key: string, bounds: TextBounds = {}): string | null {
    const value = this.raw(key);
    if (value === null) return null;
    if (typeof value !== "string") return this.issue(key, "must be a string");
    const fault = textFault(value, bounds);
    return fault === null ? value : this.issue(key, fault);
  }

  requiredText(key: string, bounds: TextBounds = {}): string | null {
    return this.has(key) ? this.text(key, bounds) : this.issue(key, "is required");
  }

  choice<const T extends string>(key: string, options: readonly T[]): T | null {
    const value = this.raw(key);
    if (value === null) return null;
    const chosen = options.find((option) => option === value);
    if (chosen !== undefined) return chosen;
    if (options.length === 1) return this.issue(key, `must be ${options[0]}`);
    const meant = typeof value === "string" ? suggestion(value, options) : "";
    return this.issue(key, `must be one of ${options.join(", ")}${meant}`);
  }

  integer(key: string, bounds: NumberBounds): number | null {
    const value = this.number(key, bounds);
    if (value === null || Number.isInteger(value)) return value;
    return this.issue(key, `must be an integer from ${bounds.min} to ${bounds.max}`);
  }

  number(key: string, { min, max }: NumberBounds): number | null {
    const value = this.raw(key);
    if (value === null) return null;
    if (typeof value !== "number") return this.issue(key, `must be a number from ${min} to ${max}`);
    return value >= min && value <= max ? value : this.issue(key, `must be from ${min} to ${max}`);
  }

  flag(key: string, absent = false): boolean {
    const value = this.raw(key);
    if (value === null || typeof value === "boolean") return value ?? absent;
    this.issue(key, "must be true or false");
    return absent;
  }

  /** The elements of a member array; null when there is none. Over the bound it is one issue and no elements. */
  list(key: string, max: number): readonly Json[] | null {
    const value = this.raw(key);
    if (value === null) return null;
    if (!Array.isArray(value)) return this.issue(key, "must be a list");
    return value.length <= max ? value : this.issue(key, `may have at most ${max} elements`);
  }

  /** A member array, its elements as members under their positions. */
  elements(key: string, elements: readonly Json[]): Fields {
    return new Fields(elements, this.at(key), this.findings);
  }

  /** A map of text to text. `each` may add issues of its own and refuse a pair by answering false. */
  pairs(
    key: string,
    max: number,
    bounds: { readonly key: TextBounds; readonly value: TextBounds },
    each: (name: string, value: string, path: string) => boolean = () => true,
  ): Readonly<Record<string, string>> {
    const value = this.raw(key);
    if (value === null) return {};
    if (!isObject(value)) {
      this.issue(key, "must be an object");
      return {};
    }
    const entries = Object.entries(value);
    if (entries.length > max) {
      this.issue(key, `may have at most ${max} pairs`);
      return {};
    }
    const accepted = entries.filter((pair): pair is [string, string] => {
      const [name, text] = pair;
      const path = `${key}.${name}`;
      const nameFault = textFault(name, bounds.key);
      if (nameFault !== null) this.issue(path, `the name ${nameFault}`);
      const fault = typeof text === "string" ? textFault(text, bounds.value) : "must be a string";
      if (fault !== null) this.issue(path, fault);
      return nameFault === null && fault === null && each(name, String(text), path);
    });
    return Object.fromEntries(accepted);
  }

  /** A value with a notation of its own. `what` completes "must be …". */
  measure(
    key: string,
    read: (value: unknown) => number | null,
    what: string,
    { min, max, said }: NumberBounds & { readonly said: string },
  ): number | null {
    const value = this.raw(key);
    if (value === null) return null;
    const measured = read(value);
    if (measured === null) return this.issue(key, `must be ${what}`);
    return measured >= min && measured <= max ? measured : this.issue(key, `must be from ${said}`);
  }

  /** Warns of every member that was not read: it has no effect. */
  close(): void {
    for (const key of this.unknown()) {
      const hint = suggestion(key, this.missing());
      this.warn(key, "unknown_field", `This field is not known here and has no effect${hint}`);
    }
  }

  /** Refuses every member that was not read. `what` is the whole: "an Agent state". */
  closeStrictly(what: string): void {
    for (const key of this.unknown()) {
      const hint = suggestion(key, this.missing());
      this.issue(key, `${shown(key)} is not a field of ${what}${hint}`, "unknown_field");
    }
  }

  /** Known members that are not there: what an unknown one may have been meant to be. */
  private missing(): string[] {
    return [...this.known].filter((key) => !Object.hasOwn(this.members, key));
  }

  private unknown(): string[] {
    return Object.keys(this.members).filter((key) => !this.known.has(key));
  }
}

/** A name of the caller's, fit for a path or a message. */
const shown = (key: string): string =>
  (key.length > 80 ? `${key.slice(0, 80)}…` : key).replaceAll("\0", "␀").toWellFormed();

/** What is wrong with a text, as the end of a sentence about it; null when nothing is. */
export function textFault(value: string, { min = 0, max, pattern, form }: TextBounds): string | null {
  // Lengths count what a person would call characters, not UTF-16 units; cheap test first.
  if (value.length < min) return min === 1 ? "must not be empty" : `must have at least ${min} characters`;
  if (max !== undefined && value.length > max && [...value.slice(0, 2 * max + 1)].length > max) {
    return `may have at most ${max} characters`;
  }
  return pattern !== undefined && !pattern.test(value) ? `must be ${form ?? "well formed"}` : null;
}
