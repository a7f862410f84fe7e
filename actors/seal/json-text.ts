/**
 * JSON as it was received: numbers keep their characters, and what parsers commonly overlook is refused (invalid UTF-8,
 * a byte-order mark, duplicate members, halves of surrogate pairs, trailing data, deep nesting). Signed bytes are made of
 * what this reads, so two readers of one text must never see two things in it.
 */

/** A number by the characters received. */
export class NumberText {
  constructor(readonly text: string) {}
}

/** An object: its members in the order received, each name once. */
export type Members = Map<string, JsonNode>;

export type JsonNode = null | boolean | string | NumberText | readonly JsonNode[] | Members;

/** Why a text is not accepted; the message is one for its sender. */
export class MalformedText extends Error {
  override readonly name = "MalformedText";
}

// Keeps a byte-order mark as a character, which is then refused where a value should begin.
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * @param maxNesting how many objects and lists may be inside one another
 * @throws MalformedText
 */
export function readJsonText(bytes: Uint8Array, maxNesting: number): JsonNode {
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    throw new MalformedText("The body is not UTF-8");
  }
  return new Reader(text, maxNesting).document();
}

const number = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const hexDigits = /^[0-9a-fA-F]{4}$/;
const escaped: Readonly<Record<string, string>> = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};
const [quote, backslash, openObject, openList] = [0x22, 0x5c, 0x7b, 0x5b];

class Reader {
  private at = 0;
  private depth = 0;
  constructor(
    private readonly text: string,
    private readonly maxNesting: number,
  ) {}

  document(): JsonNode {
    const value = this.value();
    this.blanks();
    if (this.at < this.text.length) throw this.fault("Something follows the JSON document");
    return value;
  }

  private value(): JsonNode {
    this.blanks();
    switch (this.text.charCodeAt(this.at)) {
      case openObject:
        return this.nested(() => this.object());
      case openList:
        return this.nested(() => this.list());
      case quote:
        return this.string();
      default:
        return this.plain();
    }
  }

  private nested<T>(read: () => T): T {
    if (this.depth === this.maxNesting) throw this.fault(`It nests deeper than ${this.maxNesting}`);
    this.depth += 1;
    this.at += 1;
    const value = read();
    this.depth -= 1;
    return value;
  }

  private object(): Members {
    const members: Members = new Map();
    if (this.takes("}")) return members;
    do {
      this.blanks();
      if (this.text.charCodeAt(this.at) !== quote) throw this.fault("A member's name is missing");
      const name = this.string();
      if (members.has(name)) throw this.fault("A member occurs twice in one object");
      if (!this.takes(":")) throw this.fault("A colon is missing");
      members.set(name, this.value());
    } while (this.takes(","));
    if (!this.takes("}")) throw this.fault("An object does not end");
    return members;
  }

  private list(): readonly JsonNode[] {
    const items: JsonNode[] = [];
    if (this.takes("]")) return items;
    do items.push(this.value());
    while (this.takes(","));
    if (!this.takes("]")) throw this.fault("A list does not end");
    return items;
  }

  private plain(): JsonNode {
    const { text, at } = this;
    for (const [word, value] of [
      ["null", null],
      ["true", true],
      ["false", false],
    ] as const) {
      if (!text.startsWith(word, at)) continue;
      this.at += word.length;
      return value;
    }
    number.lastIndex = at;
    const found = number.exec(text)?.[0];
    if (found === undefined) throw this.fault(at < text.length ? "A value is none" : "The document ends too early");
    this.at += found.length;
    return new NumberText(found);
  }

  private string(): string {
    const { text } = this;
    const from = this.at + 1;
    for (let at = from; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      if (unit === quote) {
        this.at = at + 1;
        return text.slice(from, at);
      }
      if (unit === backslash) return this.stringWithEscapes(from, at);
      if (unit < 0x20) throw this.fault("A string holds a control character");
    }
    throw this.fault("A string does not end");
  }

  /** @param until the first backslash */
  private stringWithEscapes(from: number, until: number): string {
    const { text } = this;
    const parts = [text.slice(from, until)];
    this.at = until;
    while (text.charCodeAt(this.at) !== quote) parts.push(this.stringPart());
    this.at += 1;
    const value = parts.join("");
    // The text itself is well-formed, as it was UTF-8; halves of pairs come by escapes alone.
    if (!value.isWellFormed()) throw this.fault("A string holds half a surrogate pair");
    return value;
  }

  /** One escape, or the characters up to the next one or the end of the string. */
  private stringPart(): string {
    const { text, at } = this;
    if (text.charCodeAt(at) === backslash) return this.escape();
    let end = at;
    for (; end < text.length; end++) {
      const unit = text.charCodeAt(end);
      if (unit === quote || unit === backslash) break;
      if (unit < 0x20) throw this.fault("A string holds a control character");
    }
    if (end === text.length) throw this.fault("A string does not end");
    this.at = end;
    return text.slice(at, end);
  }

  private escape(): string {
    const { text, at } = this;
    const mark = text.charAt(at + 1);
    if (mark !== "u") {
      const character = escaped[mark];
      if (character === undefined) throw this.fault("An escape is none");
      this.at += 2;
      return character;
    }
    const digits = text.slice(at + 2, at + 6);
    if (!hexDigits.test(digits)) throw this.fault("An escape is none");
    this.at += 6;
    return String.fromCharCode(Number.parseInt(digits, 16));
  }

  private takes(mark: string): boolean {
    this.blanks();
    if (this.text[this.at] !== mark) return false;
    this.at += 1;
    return true;
  }

  private blanks(): void {
    for (;;) {
      const unit = this.text.charCodeAt(this.at);
      if (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) return;
      this.at += 1;
    }
  }

  private fault(what: string): MalformedText {
    return new MalformedText(`${what} (character ${this.at})`);
  }
}
