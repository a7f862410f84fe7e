/**
 * `multipart/form-data` read as it arrives: one part after the other, none of them held in memory. Why no library does
 * it: docs/decisions/own-multipart-reader.md.
 * Pieces of what is read, and those that are handed out, are good until the next one is asked for.
 */
import { Problem } from "../../../../actors/kernel/problem.ts";

const maxHeaderBytes = 16 * 1024;
const maxParts = 1000;

export interface Part {
  readonly name: string | null;
  readonly filename: string | null;
  /** To be read before the next part is taken; what is not read of it is skipped then. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** The boundary of a multipart body; null for other media types. @throws Problem 400 when there is none */
export function boundaryOf(contentType: string | null): string | null {
  if (contentType === null || !/^\s*multipart\/form-data\s*(;|$)/i.test(contentType)) return null;
  const match = /;\s*boundary\s*=\s*(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(contentType);
  const boundary = match?.[1] ?? match?.[2];
  if (boundary === undefined) throw malformed("names no boundary");
  return boundary;
}

const malformed = (what: string): Problem => new Problem("malformed_body", `The multipart body ${what}`);

/** @throws Problem 400 `malformed_body` for what is no such body, or breaks off */
export async function* partsOf(stream: AsyncIterable<Uint8Array>, boundary: string): AsyncGenerator<Part> {
  const reader = new PartReader(stream, boundary);
  try {
    await reader.skipBody();
    for (let count = 0; await reader.hasNext(); count++) {
      if (count === maxParts) throw malformed(`has more than ${maxParts} parts`);
      const head = await reader.head();
      yield { ...dispositionOf(head), body: reader.body() };
      await reader.skipBody();
    }
  } finally {
    await reader.close();
  }
}

class PartReader {
  readonly #source: AsyncIterator<Uint8Array>;
  readonly #delimiter: Buffer;
  /** What was read and not used yet. It begins with a line end: one stands before every delimiter, the first included. */
  #held: Buffer = Buffer.from("\r\n");
  #inBody = true;

  constructor(stream: AsyncIterable<Uint8Array>, boundary: string) {
    this.#source = stream[Symbol.asyncIterator]();
    this.#delimiter = Buffer.from(`\r\n--${boundary}`, "latin1");
  }

  async close(): Promise<void> {
    await this.#source.return?.();
  }

  /** Everything up to the next delimiter, which is consumed. */
  async *body(): AsyncGenerator<Uint8Array> {
    while (this.#inBody) {
      if (this.#held.length < this.#delimiter.length) yield* this.#across();
      const at = this.#held.indexOf(this.#delimiter);
      // A delimiter may have begun at the end of what is held.
      const safe = at >= 0 ? at : Math.max(0, this.#held.length - this.#delimiter.length + 1);
      const piece = this.#held.subarray(0, safe);
      this.#held = this.#held.subarray(at >= 0 ? at + this.#delimiter.length : safe);
      if (at >= 0) this.#inBody = false;
      if (piece.length > 0) yield piece;
    }
  }

  /**
   * Reads on where little is held, which may be the beginning of a delimiter. Where it is none, it is handed out by itself:
   * what comes after it, often all of a large file, is not copied.
   */
  async *#across(): AsyncGenerator<Uint8Array> {
    const next = await this.#next();
    const before = this.#held;
    const seam = Buffer.concat([before, next.subarray(0, this.#delimiter.length - 1)]);
    const mayBegin = next.length < this.#delimiter.length || seam.includes(this.#delimiter);
    if (mayBegin || before.length === 0) {
      this.#held = before.length === 0 ? next : Buffer.concat([before, next]);
      return;
    }
    this.#held = next;
    yield before;
  }

  async skipBody(): Promise<void> {
    for await (const _ of this.body());
  }

  /** Whether another part follows the delimiter that was consumed last. */
  async hasNext(): Promise<boolean> {
    while (this.#held.length < 2) await this.#more();
    if (this.#held.subarray(0, 2).toString("latin1") === "--") return false;
    // Spaces may stand between the boundary and its line end.
    const end = await this.#find("\r\n", maxHeaderBytes);
    if (this.#held.subarray(0, end).toString("latin1").trim() !== "") throw malformed("has a broken boundary");
    // One line end is left: a part without headers has an empty line at once.
    this.#held = this.#held.subarray(end);
    return true;
  }

  async head(): Promise<string> {
    const end = await this.#find("\r\n\r\n", maxHeaderBytes);
    const head = this.#held.subarray(0, end).toString("utf8");
    this.#held = this.#held.subarray(end + 4);
    this.#inBody = true;
    return head;
  }

  async #find(text: string, within: number): Promise<number> {
    for (;;) {
      const at = this.#held.indexOf(text, 0, "latin1");
      if (at >= 0) return at;
      if (this.#held.length > within) throw malformed("has headers that are too long");
      await this.#more();
    }
  }

  async #more(): Promise<void> {
    const next = await this.#next();
    this.#held = this.#held.length === 0 ? next : Buffer.concat([this.#held, next]);
  }

  /** What is held is copied before: a piece is good until the next one is asked for. */
  async #next(): Promise<Buffer> {
    this.#held = Buffer.from(this.#held);
    const { done, value } = await this.#source.next();
    if (done === true) throw malformed("breaks off");
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  }
}

function dispositionOf(head: string): Pick<Part, "name" | "filename"> {
  const line = head.split("\r\n").find((candidate) => /^content-disposition\s*:/i.test(candidate)) ?? "";
  const extended = /;\s*filename\*\s*=\s*utf-8'[^']*'([^\s;]+)/i.exec(line)?.[1];
  return {
    name: parameter(line, "name"),
    filename: (extended === undefined ? null : decoded(extended)) ?? parameter(line, "filename"),
  };
}

function parameter(line: string, name: string): string | null {
  const match = new RegExp(`;\\s*${name}\\s*=\\s*(?:"((?:[^"\\\\]|\\\\.)*)"|([^\\s;"]+))`, "i").exec(line);
  if (match === null) return null;
  // Browsers write the three characters that would end the text or the line as %22, %0D and %0A.
  const text = match[1]?.replace(/\\(["\\])/g, "$1") ?? match[2] ?? "";
  return text.replace(/%(22|0D|0A)/gi, (code) => decodeURIComponent(code));
}

/** Null for what is not well encoded. */
export function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
