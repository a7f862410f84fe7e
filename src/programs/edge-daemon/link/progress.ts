/**
 * Output on its way to the service: in pieces of at most 16 KiB, and never more than the service has given credit for.
 * What does not fit is dropped; the next piece then begins at a later offset.
 */
import { frameLimits } from "../../../../actors/edge/frames.ts";
import type { StreamName } from "../executor/output.ts";

interface Pending {
  readonly commandId: string;
  readonly stream: StreamName;
  readonly offset: number;
  chunks: Uint8Array[];
  bytes: number;
}

/** How long small pieces wait for others, ms. */
const gatherMs = 50;

export class ProgressSender {
  readonly #pending = new Map<string, Pending>();
  #credit = 0;
  #window = 0;
  #timer: ReturnType<typeof setTimeout> | null = null;

  /**
   * @param send puts a frame on the connection; false: there is none, or it takes no more now
   * @param dropped told of bytes that were not sent
   */
  constructor(
    private readonly send: (commandId: string, stream: StreamName, offset: number, bytes: Uint8Array) => boolean,
    private readonly dropped: (bytes: number) => void,
  ) {}

  /** A connection begins, with so many bytes of credit. 0: there is no connection. */
  begin(window: number): void {
    this.#window = window;
    this.#credit = window;
  }

  /** The service gives bytes back. */
  give(credit: number): void {
    this.#credit = Math.min(this.#window, this.#credit + credit);
  }

  add(commandId: string, stream: StreamName, offset: number, bytes: Uint8Array): void {
    let at = 0;
    while (at < bytes.length) {
      const pending = this.#pendingAt(commandId, stream, offset + at);
      const part = bytes.subarray(at, at + frameLimits.maxProgressBytes - pending.bytes);
      // A copy: the reader may use its buffer again.
      pending.chunks.push(part.slice());
      pending.bytes += part.length;
      at += part.length;
      if (pending.bytes >= frameLimits.maxProgressBytes) this.#flush(pending);
    }
    if (this.#pending.size > 0) this.#timer ??= setTimeout(() => this.#flushAll(), gatherMs);
  }

  /** Sends what waits of a command. */
  flush(commandId: string): void {
    for (const stream of ["stdout", "stderr"] as const) {
      const pending = this.#pending.get(keyOf(commandId, stream));
      if (pending !== undefined) this.#flush(pending);
    }
  }

  #pendingAt(commandId: string, stream: StreamName, offset: number): Pending {
    const key = keyOf(commandId, stream);
    const known = this.#pending.get(key);
    if (known !== undefined && known.offset + known.bytes === offset) return known;
    if (known !== undefined) this.#flush(known);
    const fresh: Pending = { commandId, stream, offset, chunks: [], bytes: 0 };
    this.#pending.set(key, fresh);
    return fresh;
  }

  #flushAll(): void {
    this.#timer = null;
    for (const pending of [...this.#pending.values()]) this.#flush(pending);
  }

  #flush({ commandId, stream, offset, chunks, bytes }: Pending): void {
    this.#pending.delete(keyOf(commandId, stream));
    const most = Math.min(bytes, this.#credit);
    const data = Buffer.concat(chunks).subarray(0, most);
    const isSent = most > 0 && this.send(commandId, stream, offset, data);
    if (isSent) this.#credit -= most;
    this.dropped(bytes - (isSent ? most : 0));
  }
}

const keyOf = (commandId: string, stream: StreamName): string => `${commandId} ${stream}`;
