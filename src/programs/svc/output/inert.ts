/**
 * Names and texts come from agents, hosts and other users: none of it may steer the terminal. Sequences of ANSI go
 * whole, other control characters and marks that turn the direction of writing become a visible sign.
 */
import stripAnsi from "strip-ansi";

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
const steering = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Text of many lines that can be written to a terminal: line breaks and tabs stay. */
const inert = (text: string): string => stripAnsi(text).replaceAll("\r\n", "\n").replaceAll(steering, "�");

/** The same on one line. */
export const inline = (text: string): string => inert(text).replaceAll(/\s+/g, " ").trim();

/** A document of JSON or of quoted YAML that means the same, with escapes in place of what would steer a terminal. */
export const escaped = (document: string): string =>
  document.replaceAll(steering, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** Whether a text would steer a terminal. */
export const steers = (text: string): boolean => text.search(steering) !== -1;

/** @param most columns of a terminal, at least 1; a longer line ends with `…` */
export function fitted(line: string, most: number): string {
  if (line.length <= most && Bun.stringWidth(line) <= most) return line;
  let width = 0;
  let out = "";
  for (const sign of line) {
    width += Bun.stringWidth(sign);
    if (width > most - 1) break;
    out += sign;
  }
  return `${out}…`;
}

/**
 * Text that may be written to a terminal as it is: the program's own words, with text from elsewhere made inert.
 * The only ways to it are `say`, `lines` and a paint, so that none is forgotten.
 */
export class Safe {
  constructor(readonly text: string) {}
}

type Piece = string | number | Safe | null | undefined;

/** A line of the program's own words; strings among them are shown on that one line, inert. */
export function say(words: TemplateStringsArray, ...values: readonly Piece[]): Safe {
  return new Safe(words.map((word, at) => word + (at < values.length ? pieceOf(values[at]) : "")).join(""));
}

const pieceOf = (value: Piece): string => {
  if (value instanceof Safe) return value.text;
  return value === null || value === undefined ? "" : inert(String(value)).replaceAll(/\s+/g, " ");
};

/** Text from elsewhere with its lines. @param indent before each of them */
export const lines = (text: string, indent = ""): Safe => new Safe(inert(text).replaceAll(/^/gm, indent));
