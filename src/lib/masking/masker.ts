/**
 * Hides values in texts. Every byte of a hidden value becomes `*`, so that offsets and sizes of outputs stay true.
 *
 * The cost does not depend on how values and texts are made: a text is passed once with a rolling hash of as many
 * characters as the shortest hidden form may have, and long forms are compared by hashes of the text's prefixes. The
 * hashes are of a random base; a collision hides a little more than it should.
 */
import { formsOf, shortestHidden } from "./forms.ts";

const base = (Math.floor(Math.random() * 0x3fffffff) * 2 + 3) | 0;
/** Forms up to this length are compared as they are. */
const shortForm = 64;
/** Filters the hashes of windows. */
const filterBits = 16;

interface Form {
  readonly text: string;
  /** Of the whole text, as `prefixHashes` would have it. */
  readonly hash: number;
  /** `base` to the power of its length. */
  readonly power: number;
  /** How long a prefix of the form each beginning of it ends with, made at first use. */
  borders: Int32Array | null;
}

/** Where something hidden stands: from, to. */
type Span = readonly [from: number, to: number];

export class Masker {
  readonly #known = new Set<string>();
  readonly #byWindow = new Map<number, Form[]>();
  readonly #forms: Form[] = [];
  readonly #filter = new Uint8Array(1 << filterBits);
  #weight = 0;

  /** Hides these values as well; those of fewer than 8 characters cannot be hidden. */
  hide(values: Iterable<string>): void {
    for (const value of values) {
      if (this.#known.has(value)) continue;
      this.#known.add(value);
      for (const text of formsOf(value)) this.#add(text);
    }
  }

  /** Characters that it keeps. */
  get weight(): number {
    return this.#weight;
  }

  /** The text with everything hidden. */
  mask(text: string): string {
    const spans = this.#spans(text);
    if (spans.length === 0) return text;
    let masked = "";
    let at = 0;
    for (const [from, to] of spans) {
      masked += text.slice(at, from) + "*".repeat(Buffer.byteLength(text.slice(from, to)));
      at = to;
    }
    return masked + text.slice(at);
  }

  /** Every text in a JSON value with everything hidden, names of members too. */
  maskJson<T>(value: T): T {
    // Every kind of JSON value comes back as the kind it was.
    return this.#each(value, (text) => this.mask(text)) as T;
  }

  /** The text with `[redacted]` in the place of everything hidden. */
  redact(text: string): string {
    let redacted = "";
    let at = 0;
    for (const [from, to] of this.#spans(text)) {
      redacted += `${text.slice(at, from)}[redacted]`;
      at = to;
    }
    return at === 0 ? text : redacted + text.slice(at);
  }

  /** Likewise every text in a JSON value, names of members too. */
  redactJson<T>(value: T): T {
    // Every kind of JSON value comes back as the kind it was.
    return this.#each(value, (text) => this.redact(text)) as T;
  }

  /** Up to where a text can be shown although it goes on: behind it a hidden value may have begun. */
  shownUpTo(text: string): number {
    let cut = text.length - this.#begun(text);
    for (const [from, to] of this.#spans(text)) if (from < cut && cut < to) cut = from;
    return cut;
  }

  #each(value: unknown, change: (text: string) => string): unknown {
    if (typeof value === "string") return change(value);
    if (Array.isArray(value)) return value.map((each) => this.#each(each, change));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => [change(name), this.#each(each, change)] as const),
    );
  }

  #add(text: string): void {
    if (this.#forms.some((form) => form.text === text)) return;
    let power = 1;
    let hash = 0;
    for (let at = 0; at < text.length; at++) {
      hash = (Math.imul(hash, base) + text.charCodeAt(at) + 1) | 0;
      power = Math.imul(power, base);
    }
    const form: Form = { text, hash, power, borders: null };
    const window = windowHash(text);
    const alike = [...(this.#byWindow.get(window) ?? []), form];
    // The longest first: it covers the others.
    this.#byWindow.set(
      window,
      alike.sort((one, other) => other.text.length - one.text.length),
    );
    this.#forms.push(form);
    this.#filter[window >>> (32 - filterBits)] = 1;
    this.#weight += text.length;
  }

  /** Merged, in order. */
  #spans(text: string): Span[] {
    const spans: [number, number][] = [];
    if (text.length < shortestHidden || this.#forms.length === 0) return spans;
    let prefixes: Int32Array | null = null;
    const stands = (form: Form, at: number): boolean => {
      if (at + form.text.length > text.length) return false;
      if (form.text.length <= shortForm) return text.startsWith(form.text, at);
      prefixes ??= prefixHashes(text);
      return sameHash(prefixes, form, at);
    };
    const found = (at: number, window: number): Form | undefined =>
      this.#byWindow.get(window)?.find((form) => stands(form, at));
    let hash = windowHash(text);
    for (let at = 0; ; at++) {
      if (this.#filter[hash >>> (32 - filterBits)] === 1) {
        const form = found(at, hash);
        if (form !== undefined) addSpan(spans, at, at + form.text.length);
      }
      const next = at + shortestHidden;
      if (next >= text.length) return spans;
      hash = (Math.imul(hash, base) + text.charCodeAt(next) + 1 - Math.imul(text.charCodeAt(at) + 1, windowPower)) | 0;
    }
  }

  /** Characters at the end of a text that may be the beginning of a form. */
  #begun(text: string): number {
    let most = 0;
    for (const form of this.#forms) {
      if (form.text.length - 1 <= most) continue;
      most = Math.max(most, begunOf(form, text));
    }
    return most;
  }
}

const windowPower = (() => {
  let power = 1;
  for (let at = 0; at < shortestHidden; at++) power = Math.imul(power, base);
  return power;
})();

function windowHash(text: string): number {
  let hash = 0;
  for (let at = 0; at < shortestHidden; at++) hash = (Math.imul(hash, base) + text.charCodeAt(at) + 1) | 0;
  return hash;
}

/** At each place the hash of what stands before it. */
function prefixHashes(text: string): Int32Array {
  const hashes = new Int32Array(text.length + 1);
  let hash = 0;
  for (let at = 0; at < text.length; at++) {
    hash = (Math.imul(hash, base) + text.charCodeAt(at) + 1) | 0;
    hashes[at + 1] = hash;
  }
  return hashes;
}

function sameHash(prefixes: Int32Array, { text, hash, power }: Form, at: number): boolean {
  return (((prefixes[at + text.length] ?? 0) - Math.imul(prefixes[at] ?? 0, power)) | 0) === hash;
}

function addSpan(spans: [number, number][], from: number, to: number): void {
  const last = spans.at(-1);
  if (last !== undefined && from <= last[1]) last[1] = Math.max(last[1], to);
  else spans.push([from, to]);
}

/** How many characters at the end of `text` are a beginning of the form, the form itself left out. */
function begunOf(form: Form, text: string): number {
  form.borders ??= bordersOf(form.text);
  const { borders, text: pattern } = form;
  let length = 0;
  for (let at = Math.max(0, text.length - pattern.length + 1); at < text.length; at++) {
    const unit = text.charCodeAt(at);
    while (length > 0 && pattern.charCodeAt(length) !== unit) length = borders[length - 1] ?? 0;
    if (pattern.charCodeAt(length) === unit) length += 1;
    if (length === pattern.length) length = borders[length - 1] ?? 0;
  }
  return length;
}

/** The table of Knuth, Morris and Pratt. */
function bordersOf(pattern: string): Int32Array {
  const borders = new Int32Array(pattern.length);
  let length = 0;
  for (let at = 1; at < pattern.length; at++) {
    const unit = pattern.charCodeAt(at);
    while (length > 0 && pattern.charCodeAt(length) !== unit) length = borders[length - 1] ?? 0;
    if (pattern.charCodeAt(length) === unit) length += 1;
    borders[at] = length;
  }
  return borders;
}
