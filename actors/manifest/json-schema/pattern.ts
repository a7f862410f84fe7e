/**
 * Regular expressions that tenants write: ECMAScript's syntax, matched in time linear in the text by RE2. What needs
 * backtracking (lookaround, backreferences) is refused.
 *
 * Two differences to ECMAScript: a character is a code point with and without the flag `u`, and a line of the flag
 * `m` ends at `\n` or `\r\n` only.
 */
import { RE2JS } from "re2js";
import { PatternRefused, translated } from "./pattern-syntax.ts";

/** Of one pattern; also bounds the work of compiling it. */
export const maxPatternCharacters = 4096;
/** Instructions of the compiled pattern: each is looked at for each character of a text at worst. */
const maxInstructions = 5_000;

/** A compiled pattern. */
export class Pattern {
  private readonly program: RE2JS;

  /**
   * @param flags of `i`, `m`, `s` and `u`
   * @throws PatternRefused whose message says why
   */
  constructor(
    readonly source: string,
    readonly flags = "",
  ) {
    if (source.length > maxPatternCharacters) {
      throw new PatternRefused(`a pattern may have at most ${maxPatternCharacters} characters`);
    }
    checkSyntax(source, flags);
    this.program = compile(translated(source, flags), flags);
    if (this.instructions > maxInstructions) throw tooLarge();
  }

  /** Whether the text holds a match. */
  test(text: string): boolean {
    return this.program.test(text);
  }

  get instructions(): number {
    return this.program.programSize();
  }

  /** Unlike that of any other pattern. */
  toString(): string {
    return `/${this.source}/${this.flags}`;
  }
}

/** Why a pattern is refused; null when it can be used. */
export function patternFault(source: string, flags = ""): string | null {
  try {
    new Pattern(source, flags);
    return null;
  } catch (error) {
    if (error instanceof PatternRefused) return error.message;
    throw error;
  }
}

/** The engine knows more than ECMAScript does; what is no pattern there is none here. */
function checkSyntax(source: string, flags: string): void {
  try {
    new RegExp(source, flags);
  } catch {
    throw new PatternRefused("is not a regular expression");
  }
}

const tooLarge = () => new PatternRefused("the pattern is too large, repetitions counted");

function compile(source: string, flags: string): RE2JS {
  let bits = 0;
  if (flags.includes("i")) bits |= RE2JS.CASE_INSENSITIVE;
  if (flags.includes("m")) bits |= RE2JS.MULTILINE;
  try {
    return RE2JS.compile(source, bits);
  } catch (error) {
    const reason = error instanceof Error ? error.message : "";
    if (/repeat|too large|too deep/i.test(reason)) throw tooLarge();
    throw new PatternRefused("the pattern uses what the linear-time engine does not offer");
  }
}
