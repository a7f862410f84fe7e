/**
 * Where in a shell script values stand: a scan by POSIX quoting, never an execution.
 *
 * A value's text is not part of the script (`text.ts` puts a variable there), so what matters is which quotes
 * the place lies in. What shells read differently (dash, bash, BusyBox, zsh, ksh), and what this scan does not follow
 * to its end, makes the values behind it unsafe: refused is better than misread.
 */
import { bodyEnd, type HereDocument, hereDocument, hereDocumentAt } from "./here-document.ts";
import * as patterns from "./patterns.ts";

/** Stands for a value in a script under examination. No script holds the character itself. */
export const MARK = "\0";

/** How the place of a value is quoted, or why no value may stand there. */
export type Place = "bare" | "double" | "single" | { readonly unsafe: string };

/** A word or an operator outside of quotes; what is quoted or expanded within a word shows as `"`. */
export interface ShellToken {
  readonly operator: boolean;
  /** Long words are cut. */
  readonly text: string;
}

export interface Examined {
  /** One per mark, in order. */
  readonly places: readonly Place[];
  /** The first thousands of them. */
  readonly tokens: readonly ShellToken[];
}

/** Reads a script whose values are marks. Takes linear time. */
export function examine(script: string): Examined {
  return new Scan(script).run();
}

const deepest = 24;
const longestWord = 64;
const mostTokens = 20_000;

const braces = "inside $" + "{ }";

class Scan {
  private at = 0;
  private readonly places: Place[] = [];
  private readonly tokens: ShellToken[] = [];
  /** The word under way; null between words. */
  private word: string | null = null;
  /** Within `name[`, whose inside bash evaluates. */
  private subscript = false;
  /** Within `[[ … ]]`, whose operands bash evaluates. */
  private conditional = false;
  /** Begun on this line; their bodies follow it. */
  private waiting: HereDocument[] = [];
  /** What the scan is inside of; values there are unsafe. */
  private readonly inside: string[] = [];
  /** Values before this place are unsafe. */
  private unsafeUntil = 0;
  /** Why the rest cannot be followed. */
  private lost: string | null = null;

  constructor(private readonly text: string) {}

  run(): Examined {
    this.commands(false);
    this.endWord();
    return { places: this.places, tokens: this.tokens };
  }

  /** @param nested up to the parenthesis that closes `$(`; to the end otherwise */
  private commands(nested: boolean): void {
    let open = 0;
    while (this.at < this.text.length && this.lost === null) {
      const character = this.text[this.at] ?? "";
      if (character === "(" && !this.beginsArithmetic()) open += 1;
      if (character === ")") open -= 1;
      if (nested && open < 0) {
        this.endWord();
        this.at += 1;
        return;
      }
      this.step(character);
    }
    if (this.lost !== null) this.refuseTo(this.text.length, this.lost);
  }

  private step(character: string): void {
    if (this.past(patterns.blanks)) this.endWord();
    else if (character === "\n") this.lineEnd();
    else if (character === "'") this.single();
    else if (character === '"') this.double();
    else if (character === "#" && this.word === null) this.comment();
    else if (";&|()<>".includes(character)) this.operator(character);
    else if (!this.expansion("bare", character)) this.letters(character);
  }

  /** What means the same within double quotes and without. */
  private expansion(place: "bare" | "double", character: string): boolean {
    if (character === MARK) this.value(place);
    else if (character === "\\") this.backslash(place);
    else if (character === "`") this.backticks(place);
    else if (character === "$") this.dollar(place);
    else return false;
    return true;
  }

  private letters(character: string): void {
    const begin = this.at;
    if (!this.past(patterns.plain)) this.at += 1;
    if (character === "[" && this.word !== null && /^[A-Za-z_]\w*$/.test(this.word)) this.subscript = true;
    this.goOn(this.text.slice(begin, this.at));
  }

  private goOn(text: string): void {
    this.word = `${this.word ?? ""}${text}`.slice(0, longestWord);
  }

  private endWord(): void {
    if (this.word === null) return;
    const text = this.word;
    this.word = null;
    this.subscript = false;
    this.token(false, text);
    if (text === "[[") this.conditional = true;
    if (text === "]]") this.conditional = false;
    // Its patterns have parentheses that nothing opens.
    if (text === "case" && this.inside.length > 0) this.lose("behind case inside $( )");
  }

  private token(operator: boolean, text: string): void {
    if (this.tokens.length < mostTokens) this.tokens.push({ operator, text });
  }

  private lose(reason: string): void {
    this.lost ??= reason;
  }

  private value(place: "bare" | "double" | "single"): void {
    const unsafe = this.unsafety();
    this.places.push(unsafe === null ? place : { unsafe });
    this.goOn(MARK);
    this.at += 1;
  }

  private unsafety(): string | null {
    const before = this.text[this.at - 1];
    const within = this.inside.at(-1);
    if (within !== undefined) return within;
    if (before === "\\" || before === "$") return `directly after ${before}`;
    if (this.conditional) return "inside [[ ]]";
    return this.subscript || this.at < this.unsafeUntil ? "inside a subscript [ ]" : null;
  }

  /** Goes to `end`; no value is safe on the way. */
  private refuseTo(end: number, reason: string): void {
    const begin = this.at;
    for (let at = this.text.indexOf(MARK, begin); at >= 0 && at < end; at = this.text.indexOf(MARK, at + 1)) {
      this.places.push({ unsafe: this.inside.at(-1) ?? reason });
    }
    this.at = end;
    this.mindLines(begin);
  }

  /** Shells differ in where a body begins when its line ends within something else. */
  private mindLines(begin: number): void {
    if (this.waiting.length > 0 && this.text.slice(begin, this.at).includes("\n")) this.lose(hereDocument);
  }

  private past(pattern: RegExp): boolean {
    pattern.lastIndex = this.at;
    const found = pattern.test(this.text);
    if (found) this.at = pattern.lastIndex;
    return found;
  }

  private refusePast(pattern: RegExp, reason: string): void {
    pattern.lastIndex = this.at;
    if (!pattern.test(this.text)) this.lose(reason);
    else this.refuseTo(pattern.lastIndex, reason);
  }

  private lineEnd(): void {
    this.endWord();
    this.token(true, "\n");
    this.at += 1;
    const { waiting } = this;
    this.waiting = [];
    if (waiting.length > 0 && this.inside.length > 0) this.lose(hereDocument);
    for (const document of waiting) {
      const end = bodyEnd(this.text, this.at, document);
      if (end === null) this.lose(hereDocument);
      else this.refuseTo(end, hereDocument);
    }
  }

  private backslash(place: "bare" | "double"): void {
    const next = this.text[this.at + 1];
    if (next !== "\n") {
      this.goOn('"');
      this.at += next === undefined || next === MARK ? 1 : 2;
      return;
    }
    // Shells take the two away before they look for operators.
    if ("$<>(".includes(this.text[this.at - 1] ?? " ")) this.lose("behind a line that ends within an operator");
    if (place === "double" && this.waiting.length > 0) this.lose(hereDocument);
    this.at += 2;
  }

  private single(): void {
    this.goOn('"');
    const begin = this.at;
    const closing = this.text.indexOf("'", begin + 1);
    const end = closing < 0 ? this.text.length : closing;
    for (this.at = this.markFrom(begin); this.at < end; this.at = this.markFrom(this.at)) this.value("single");
    this.at = end + 1;
    this.mindLines(begin);
  }

  private markFrom(at: number): number {
    const mark = this.text.indexOf(MARK, at);
    return mark < 0 ? this.text.length : mark;
  }

  private double(): void {
    this.goOn('"');
    const begin = this.at;
    this.at += 1;
    while (this.at < this.text.length && this.lost === null) {
      const character = this.text[this.at] ?? "";
      if (character === '"') break;
      if (!this.expansion("double", character)) this.at += 1;
    }
    // When lost, what comes next is no closing quote: it may be a value.
    if (this.lost === null) this.at += 1;
    this.mindLines(begin);
  }

  private backticks(place: "bare" | "double"): void {
    this.goOn('"');
    const begin = this.at;
    let end = begin + 1;
    while (end < this.text.length && this.text[end] !== "`") end += this.text[end] === "\\" ? 2 : 1;
    this.refuseTo(Math.min(end + 1, this.text.length), "inside backticks");
    // Whether quotes in them go by the quotes around them is for each shell to say.
    if (place === "double" && /["'\\]|\$[({[]/.test(this.text.slice(begin, end)))
      this.lose("behind backticks in quotes");
  }

  private dollar(place: "bare" | "double"): void {
    this.goOn('"');
    const next = this.text[this.at + 1] ?? "";
    if (next === "(") this.substitution();
    else if (next === "{") this.refusePast(patterns.parameter, braces);
    else if (next === "[") this.refusePast(patterns.bracketed, "inside $[ ]");
    else if (next === "'" && place === "bare") this.refusePast(patterns.ansi, "inside $' '");
    else if (next === '"' && place === "bare") {
      this.at += 1;
      this.nest('inside $" "', () => this.double());
    } else if (/[A-Za-z_]/.test(next)) this.variable();
    else this.at += /[0-9#?$!@*-]/.test(next) ? 2 : 1;
  }

  /** `$name`; where a subscript follows, zsh evaluates it. */
  private variable(): void {
    this.at += 1;
    this.past(patterns.name);
    if (this.text[this.at] !== "[") return;
    const closing = this.text.indexOf("]", this.at);
    this.unsafeUntil = closing < 0 ? this.text.length : closing;
  }

  private substitution(): void {
    if (this.text[this.at + 2] === "(") {
      this.at += 1;
      this.refusePast(patterns.arithmetic, "inside $(( ))");
      return;
    }
    const { at: begin, word, subscript, conditional } = this;
    this.at += 2;
    this.word = null;
    this.token(true, "(");
    this.nest("inside $( )", () => this.commands(true));
    this.token(true, ")");
    this.mindLines(begin);
    this.word = word ?? "";
    this.subscript = subscript;
    this.conditional = conditional;
  }

  private nest(reason: string, read: () => void): void {
    if (this.inside.length >= deepest) {
      this.lose(reason);
      return;
    }
    this.inside.push(reason);
    read();
    // When lost, what is left counts as inside of it.
    if (this.lost === null) this.inside.pop();
  }

  private comment(): void {
    const end = this.text.indexOf("\n", this.at);
    this.refuseTo(end < 0 ? this.text.length : end, "inside a comment");
  }

  private operator(character: string): void {
    const next = this.text[this.at + 1];
    if (character === "(" && this.parenthesis()) return;
    this.endWord();
    if ("<>".includes(character) && next === "(") this.lose(`behind ${character}(`);
    else if (character === "<" && next === "<" && this.text[this.at + 2] !== "<") this.beginHereDocument();
    else {
      this.token(true, character);
      this.at += character === "<" && next === "<" ? 3 : 1;
    }
  }

  private beginsArithmetic(): boolean {
    return this.word === null && this.text[this.at + 1] === "(";
  }

  /** Whether it was more than the beginning of a group. */
  private parenthesis(): boolean {
    if (this.beginsArithmetic()) {
      const begin = this.at;
      this.refusePast(patterns.arithmetic, "inside (( ))");
      // In a shell without arithmetic commands that begins a here-document.
      if (this.text.slice(begin, this.at).includes("<<")) this.lose(hereDocument);
      return true;
    }
    if (this.text[this.at + 1] === "#") this.lose("behind (#");
    if (this.word === null) return false;
    // Within a word: the definition of a function, or something of one shell only.
    if (this.inside.length > 0 || !this.past(patterns.emptyParentheses))
      this.lose("behind a parenthesis inside a word");
    this.endWord();
    this.token(true, ")");
    return true;
  }

  private beginHereDocument(): void {
    const document = this.inside.length > 0 ? null : hereDocumentAt(this.text, this.at);
    if (document === null) this.lose(hereDocument);
    else {
      this.at = document.end;
      this.waiting.push(document);
    }
  }
}
