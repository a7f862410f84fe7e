/**
 * Large texts of one commit. A run's state holds the content of its delivery three times, and the last entry of its log
 * twice: each such text is sent to PostgreSQL once, and put in its places there (`../commit/large-texts.ts`).
 */
import type { Json } from "../../../../actors/kernel/json.ts";

/** Characters of a text from which on it is sent apart. */
const largeSize = 16 * 1024;

/** JSON of a value, with the numbers of large texts in their places. */
export interface Written {
  readonly text: string;
  /** Characters with the large texts in their places. */
  readonly size: number;
}

export class LargeTexts {
  /** The JSON of each. */
  readonly texts: string[] = [];
  private readonly values: Json[] = [];
  /** Characters that the numbers stand for, all together. */
  private replaced = 0;

  /** @param large characters from which on a text is sent apart */
  constructor(private readonly large = largeSize) {}

  /** @param levels how deep large texts are looked for */
  write(value: Json, levels: number): Written {
    if (!this.holdsLarge(value, levels)) {
      const text = JSON.stringify(value);
      return { text, size: text.length };
    }
    const before = this.replaced;
    const text = this.textOf(value, levels + 1);
    return { text, size: text.length + this.replaced - before };
  }

  private holdsLarge(value: Json | undefined, levels: number): boolean {
    if (typeof value === "string") return value.length > this.large;
    if (levels === 0 || !isPlain(value)) return false;
    for (const name in value) if (this.holdsLarge(value[name], levels - 1)) return true;
    return false;
  }

  private textOf(value: Json, levels: number): string {
    if (levels > 0 && isPlain(value)) return this.membersOf(value, levels - 1);
    if (typeof value === "string" ? value.length <= this.large : value === null || typeof value !== "object")
      return JSON.stringify(value);
    const before = this.values.indexOf(value);
    if (before >= 0) return this.numberOf(before);
    const text = JSON.stringify(value);
    if (text.length <= this.large) return text;
    this.values.push(value);
    return this.numberOf(this.texts.push(text) - 1);
  }

  /** JSON holds no raw control characters, so those about the number are found again. Numbers begin with one. */
  private numberOf(index: number): string {
    const mark = `\u001f${index + 1}\u001f`;
    this.replaced += (this.texts[index] as string).length - mark.length;
    return mark;
  }

  /** Put together without a copy of what is large. */
  private membersOf(value: { readonly [name: string]: Json | undefined }, levels: number): string {
    let text = "{";
    for (const [name, member] of Object.entries(value)) {
      if (member === undefined) continue;
      text += `${text === "{" ? "" : ","}${JSON.stringify(name)}:`;
      text += this.textOf(member, levels);
    }
    return `${text}}`;
  }
}

const isPlain = (value: Json | undefined): value is { readonly [name: string]: Json | undefined } =>
  typeof value === "object" && value !== null && !Array.isArray(value);
