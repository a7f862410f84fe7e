/** Reading from a socket at the reader's pace: what is not asked for stays in the kernel. */
import type { Socket } from "node:net";

/** Bytes read ahead before the socket is paused. */
const readAhead = 256 * 1024;

/** The other side was too slow, or sent too much before it came to the point. */
export class SourceFailure extends Error {
  override readonly name = "SourceFailure";
  constructor(readonly kind: "late" | "too_long" | "ended") {
    super(kind);
  }
}

/** How long all sources together may go on with what has arrived already before everything else gets its turn, ms. */
const turnMs = 2;
let turnBegan: number | null = null;

/**
 * A client that sends many tiny messages at once keeps this loop busy without ever waiting: this yields, so that the
 * process serves its other connections. @returns undefined while the turn lasts
 */
function turn(): Promise<void> | undefined {
  const now = performance.now();
  if (turnBegan === null) {
    turnBegan = now;
    setImmediate(() => {
      turnBegan = null;
    });
  }
  return now - turnBegan < turnMs ? undefined : new Promise((resolve) => setImmediate(resolve));
}

export class Source {
  private readonly pieces: Buffer[] = [];
  private size = 0;
  private ended = false;
  private paused = false;
  private wake: (() => void) | null = null;

  constructor(readonly socket: Socket) {
    socket.on("data", this.onData);
    socket.on("end", this.onEnd);
    socket.on("close", this.onEnd);
  }

  private readonly onData = (piece: Buffer): void => {
    this.pieces.push(piece);
    this.size += piece.length;
    if (this.size > readAhead && !this.paused) {
      this.paused = true;
      this.socket.pause();
    }
    this.awaken();
  };
  private readonly onEnd = (): void => {
    this.ended = true;
    this.awaken();
  };
  private awaken(): void {
    const { wake } = this;
    this.wake = null;
    wake?.();
  }

  /** Whether the other side is there and has said nothing more. */
  get idle(): boolean {
    return this.size === 0 && !this.ended;
  }

  /** Waits for bytes or the end. @throws SourceFailure `late` */
  private more(deadline: number): Promise<void> {
    if (deadline === Number.POSITIVE_INFINITY) {
      return new Promise((resolve) => {
        this.wake = resolve;
      });
    }
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => {
          this.wake = null;
          reject(new SourceFailure("late"));
        },
        Math.max(0, deadline - performance.now()),
      );
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Takes at most so many bytes of the first piece. */
  private take(limit: number): Buffer {
    const first = this.pieces[0] ?? Buffer.alloc(0);
    const piece = first.subarray(0, limit);
    if (piece.length < first.length) this.pieces[0] = first.subarray(limit);
    else this.pieces.shift();
    this.size -= piece.length;
    if (this.paused && this.size < readAhead / 2) {
      this.paused = false;
      this.socket.resume();
    }
    return piece;
  }

  /** The next bytes, at most `limit`; null at the end. */
  async read(limit: number, timeoutMs: number): Promise<Buffer | null> {
    const deadline = performance.now() + timeoutMs;
    while (this.size === 0) {
      if (this.ended) return null;
      await this.more(deadline);
    }
    return this.take(limit);
  }

  /** Puts bytes back in front. */
  unread(piece: Buffer): void {
    if (piece.length === 0) return;
    this.pieces.unshift(piece);
    this.size += piece.length;
  }

  /** Waits until there is something to read. @returns false at the end */
  async ready(timeoutMs: number): Promise<boolean> {
    const deadline = performance.now() + timeoutMs;
    while (this.size === 0 && !this.ended) await this.more(deadline);
    return this.size > 0;
  }

  /** Everything up to and with `mark`, one character per byte. @throws SourceFailure */
  async until(mark: string, limit: number, timeoutMs: number): Promise<string> {
    const deadline = performance.now() + timeoutMs;
    await turn();
    for (;;) {
      if (this.pieces.length > 1) {
        const whole = Buffer.concat(this.pieces);
        this.pieces.length = 0;
        this.pieces.push(whole);
      }
      const [first] = this.pieces;
      const at = first?.indexOf(mark, 0, "latin1") ?? -1;
      const end = at + mark.length;
      if (first !== undefined && at >= 0 && end <= limit) {
        return this.take(end).toString("latin1");
      }
      if (at >= 0 || this.size > limit) throw new SourceFailure("too_long");
      if (this.ended) throw new SourceFailure("ended");
      await this.more(deadline);
    }
  }

  /** Hands the socket over: nothing listens here any more. @returns what was read and not taken */
  release(): Buffer {
    const { socket } = this;
    socket.off("data", this.onData);
    socket.off("end", this.onEnd);
    socket.off("close", this.onEnd);
    const rest = Buffer.concat(this.pieces);
    this.pieces.length = 0;
    this.size = 0;
    return rest;
  }
}

/** Writes, and waits while the other side is slower. Resolves as well when the connection ends. */
export function write(socket: Socket, piece: Buffer): Promise<void> | undefined {
  if (socket.destroyed || socket.write(piece)) return undefined;
  return new Promise((resolve) => {
    const done = () => {
      socket.off("drain", done);
      socket.off("close", done);
      resolve();
    };
    socket.once("drain", done);
    socket.once("close", done);
  });
}
