/**
 * The transport of a server whose standard streams come by a socket: one message a line. What is no message is skipped,
 * an answer that is too long is dropped while it arrives, and a server that floods is cut off.
 */
import type { Socket } from "node:net";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { bounds } from "../../../../actors/tool-server/listing.ts";
import { messageBudget, noiseBudget } from "../budget.ts";
import { answeredId, askedId, cancelledId, idAtTheEnds, inPlaceOf, readMessage } from "../messages.ts";
import { LineReader, type LongLine } from "./line-reader.ts";

/** What JSON-RPC adds to an answer. */
const envelopeBytes = 4_096;
/** Requests that wait in a socket which the server does not read: beyond that it is taken for hung. */
const maxUnreadBytes = 32 * 1_024 * 1_024;
/** Of an answer that is too long: beyond that its server is taken for broken. */
const maxDroppedBytes = 512 * 1_024 * 1_024;

export class LineTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** By these two members the client tells a program's streams from a remote server's. */
  readonly stderr = null;
  pid: number | null = null;

  readonly #reader: LineReader;
  readonly #waiting = new Set<string | number>();
  readonly #messages = messageBudget();
  readonly #noise = noiseBudget();
  #isOver = false;
  #dropped = 0;
  /** Why this side ended it; null: the other side did, or nothing has. */
  fault: string | null = null;

  /** @param noted told in a few words of what a program printed that is no message */
  constructor(
    readonly socket: Socket,
    readonly noted: (what: string) => void,
  ) {
    this.#reader = new LineReader(bounds.answerBytes + envelopeBytes, {
      line: (text, bytes) => this.#line(text, bytes),
      tooLong: (line) => this.#tooLong(line),
      dropped: (bytes) => this.#drop(bytes),
    });
    socket.on("error", () => {});
    // Its standard output is closed: it has nothing more to say.
    socket.once("end", () => void this.close());
    socket.once("close", () => this.#over());
  }

  async start(): Promise<void> {
    this.socket.on("data", (chunk: Buffer) => {
      if (!this.#isOver) this.#reader.read(chunk);
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#isOver || !this.socket.writable) throw new Error("The server has ended");
    if (this.socket.writableLength > maxUnreadBytes) {
      this.#cut("it does not read what it is sent");
      throw new Error("The server does not read what it is sent");
    }
    const id = askedId(message);
    if (id !== null) this.#waiting.add(id);
    const given = cancelledId(message);
    if (given !== null) this.#waiting.delete(given);
    this.socket.write(`${JSON.stringify(message)}\n`);
  }

  async close(): Promise<void> {
    this.socket.destroy();
    this.#over();
  }

  #line(text: string, bytes: number): void {
    if (this.#isOver) return;
    const message = readMessage(text);
    if (message === null) {
      this.noted("it printed to its standard output what is no message");
      this.#heard(bytes);
      return;
    }
    const id = answeredId(message);
    const isAwaited = id !== null && this.#waiting.delete(id);
    if (!isAwaited) {
      if (!this.#messages.take(1)) this.#cut("it sent more messages than a use of it can need");
      this.#heard(bytes);
    }
    if (!this.#isOver) this.onmessage?.(message);
  }

  #tooLong({ head, tail }: LongLine): void {
    this.#dropped = 0;
    const named = idAtTheEnds(head, tail);
    // One that cannot be told is each of those under way: none of them may wait for what is gone.
    const ids = named !== null && this.#waiting.has(named) ? [named] : [...this.#waiting];
    for (const id of ids) {
      this.#waiting.delete(id);
      this.onmessage?.(inPlaceOf(id, "tooLarge", "The answer is larger than 10 MiB"));
    }
  }

  #heard(bytes: number): void {
    if (!this.#noise.take(bytes)) this.#cut("it printed more than a use of it can need");
  }

  /** What may be an answer may come as fast as the pipe takes it, up to a bound. */
  #drop(bytes: number): void {
    if (this.#waiting.size === 0) this.#heard(bytes);
    this.#dropped += bytes;
    if (this.#dropped > maxDroppedBytes) this.#cut("an answer of it does not end");
  }

  #cut(reason: string): void {
    this.fault ??= reason;
    void this.close();
  }

  #over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.onclose?.();
  }
}
