/** ECMAScript's patterns written as RE2's. The source is a pattern that ECMAScript has accepted. */

/** A pattern that cannot be used; the message says why. */
export class PatternRefused extends Error {
  override readonly name = "PatternRefused";
}

/** What `\s` stands for in ECMAScript, and its complement, as content of a class. */
const blanks =
  "\\x{9}-\\x{d}\\x{20}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}";
const otherThanBlanks =
  "\\x{0}-\\x{8}\\x{e}-\\x{1f}\\x{21}-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}" +
  "\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}";
const anything = "\\x{0}-\\x{10ffff}";

const escapes: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13 };
/** Tables that unfold to thousands of ranges each. */
const maxProperties = 64;
/** Largest count that the engine takes. */
const maxRepetitions = 1000;

/** A character, or content of a class that stands for many. */
type Atom = { readonly code: number } | { readonly set: string };

/**
 * @param flags of `i`, `m`, `s` and `u`; the engine is given `i` and `m` beside the result
 * @throws PatternRefused
 */
export function translated(source: string, flags: string): string {
  return new Translation(source, flags).run();
}

class Translation {
  private at = 0;
  private out = "";
  private properties = 0;
  private readonly unicode: boolean;
  private readonly hasNames: boolean;

  constructor(
    private readonly source: string,
    private readonly flags: string,
  ) {
    this.unicode = flags.includes("u");
    this.hasNames = /\(\?<(?![=!])/.test(source);
  }

  run(): string {
    while (this.at < this.source.length) this.out += this.next();
    return this.out;
  }

  private next(): string {
    const character = this.source[this.at] ?? "";
    switch (character) {
      case "\\":
        return this.escape();
      case "[":
        return this.characterClass();
      case "(":
        return this.group();
      case "{":
        return this.repetition();
      case ".":
        this.at += 1;
        return this.flags.includes("s") ? `[${anything}]` : "[^\\n\\r\\x{2028}\\x{2029}]";
      case "$":
        this.at += 1;
        // A line may end with a carriage return as well.
        return this.flags.includes("m") ? "(?:\\r?$)" : "$";
      case "^":
      case "*":
      case "+":
      case "?":
      case "|":
      case ")":
        this.at += 1;
        return character;
      default:
        return literal(this.character());
    }
  }

  /** One code point of the source. */
  private character(): number {
    const code = this.source.codePointAt(this.at) ?? 0;
    this.at += code > 0xffff ? 2 : 1;
    return whole(code);
  }

  private take(form: RegExp): RegExpExecArray | null {
    form.lastIndex = this.at;
    const found = form.exec(this.source);
    if (found !== null) this.at = form.lastIndex;
    return found;
  }

  private group(): string {
    if (this.take(/\(\?<?[=!]/y)) throw new PatternRefused("lookahead and lookbehind are not supported in patterns");
    if (this.take(/\(\?:|\(\?<[^=!][^>]*>/y)) return "(?:";
    if (this.take(/\(\?/y)) throw new PatternRefused("flags within a pattern are not supported");
    this.at += 1;
    return "(?:";
  }

  private repetition(): string {
    const found = this.take(/\{(\d+)(?:,(\d*))?\}/y);
    if (found === null) {
      this.at += 1;
      return literal(0x7b);
    }
    const [written, least, most] = found;
    if (Math.max(Number(least), Number(most ?? 0)) > maxRepetitions) {
      throw new PatternRefused(`a pattern may repeat at most ${maxRepetitions} times`);
    }
    return written;
  }

  private escape(): string {
    const edge = this.take(/\\[bB]/y);
    if (edge !== null) return edge[0];
    if (this.take(/\\[1-9]/y) || ((this.unicode || this.hasNames) && this.take(/\\k/y))) {
      throw new PatternRefused("backreferences are not supported in patterns");
    }
    return shown(this.escaped());
  }

  /** What a backslash and what follows it stand for, within and outside of classes. */
  private escaped(): Atom {
    const set = this.take(/\\[dDwW]/y);
    if (set !== null) return { set: set[0] };
    if (this.take(/\\s/y)) return { set: blanks };
    if (this.take(/\\S/y)) return { set: otherThanBlanks };
    if (this.unicode) {
      const property = this.take(/\\([pP])\{([^}]*)\}/y);
      if (property !== null) return this.property(property[1] === "P", property[2] ?? "");
      const point = this.take(/\\u\{([0-9A-Fa-f]+)\}/y);
      if (point !== null) return { code: whole(Number.parseInt(point[1] ?? "", 16)) };
    }
    const code = this.codePoint();
    if (code !== null) return { code };
    const control = this.take(/\\c([A-Za-z])/y);
    if (control !== null) return { code: (control[1] ?? "").charCodeAt(0) % 32 };
    if (this.take(/\\0(?!\d)/y)) return { code: 0 };
    if (this.take(/\\(?=[\dc])/y))
      throw new PatternRefused("octal and incomplete escapes are not supported in patterns");
    this.at += 1;
    const name = this.source[this.at] ?? "";
    const itself = this.character();
    return { code: escapes[name] ?? itself };
  }

  /** A character by its number; null when none follows. */
  private codePoint(): number | null {
    const pair = this.take(/\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})/iy);
    if (pair !== null) return ofPair(pair[1] ?? "", pair[2] ?? "");
    const found = this.take(/\\u([0-9A-Fa-f]{4})|\\x([0-9A-Fa-f]{2})/y);
    return found === null ? null : whole(Number.parseInt(found[1] ?? found[2] ?? "", 16));
  }

  private property(negated: boolean, written: string): Atom {
    this.properties += 1;
    if (this.properties > maxProperties) {
      throw new PatternRefused(`a pattern may name at most ${maxProperties} Unicode properties`);
    }
    const name = written.replace(/^(?:Script|sc|General_Category|gc)=/, "");
    if (name === "Any" || name === "ASCII") {
      if (name === "Any") return negated ? { set: "" } : { set: anything };
      return { set: negated ? "\\x{80}-\\x{10ffff}" : "\\x{0}-\\x{7f}" };
    }
    if (name.includes("=")) throw new PatternRefused(`the Unicode property ${written.slice(0, 40)} is not supported`);
    return { set: `\\${negated ? "P" : "p"}{${name}}` };
  }

  private characterClass(): string {
    const negated = this.take(/\[\^/y) !== null;
    if (!negated) this.at += 1;
    let content = "";
    while (this.source[this.at] !== "]") {
      const from = this.classAtom();
      const isRange = this.source[this.at] === "-" && this.source[this.at + 1] !== "]";
      if (!isRange) {
        content += contentOf(from);
        continue;
      }
      this.at += 1;
      const to = this.classAtom();
      content +=
        "code" in from && "code" in to
          ? `${hex(from.code)}-${hex(to.code)}`
          : contentOf(from) + hex(0x2d) + contentOf(to);
    }
    this.at += 1;
    if (content === "") return negated ? `[${anything}]` : nothing;
    return `[${negated ? "^" : ""}${content}]`;
  }

  private classAtom(): Atom {
    if (this.source[this.at] !== "\\") return { code: this.character() };
    if (this.take(/\\b/y)) return { code: 8 };
    if (this.take(/\\-/y)) return { code: 0x2d };
    return this.escaped();
  }
}

const nothing = `[^${anything}]`;
const hex = (code: number): string => `\\x{${code.toString(16)}}`;
const contentOf = (atom: Atom): string => ("set" in atom ? atom.set : hex(atom.code));

function shown(atom: Atom): string {
  if ("code" in atom) return literal(atom.code);
  return atom.set === "" ? nothing : `[${atom.set}]`;
}

/** Letters and digits stay readable in what the engine says; they mean themselves. */
const literal = (code: number): string => {
  const text = String.fromCodePoint(code);
  return /^[A-Za-z0-9]$/.test(text) ? text : hex(code);
};

function ofPair(high: string, low: string): number {
  return 0x10000 + ((Number.parseInt(high, 16) - 0xd800) << 10) + (Number.parseInt(low, 16) - 0xdc00);
}

/** Texts are stored without lone surrogates, so none can be matched. */
function whole(code: number): number {
  if (code >= 0xd800 && code <= 0xdfff) throw new PatternRefused("lone surrogates are not supported in patterns");
  return code;
}
