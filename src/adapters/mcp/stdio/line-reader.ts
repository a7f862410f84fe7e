/** Lines of a stream that never ends, in bounded memory. */

/** Of a line that is too long, what is kept of each end to say what it was. */
const endBytes = 4_096;

export interface LongLine {
  readonly head: string;
  readonly tail: string;
  readonly bytes: number;
}

interface Long {
  readonly head: Buffer;
  tail: Buffer;
  bytes: number;
}

export interface LineSink {
  line(text: string, bytes: number): void;
  /** A line that was longer than the bound, and is gone. */
  tooLong(line: LongLine): void;
  /** Told of every piece of a line that is too long already. */
  dropped(bytes: number): void;
}

export class LineReader {
  #pieces: Buffer[] = [];
  #size = 0;
  /** Of a line that is too long; null: the present one is not. */
  #long: Long | null = null;

  /** @param maxBytes of one line, its end not counted */
  constructor(
    readonly maxBytes: number,
    readonly sink: LineSink,
  ) {}

  /** Takes the next piece of the stream. */
  read(chunk: Buffer): void {
    for (let rest = chunk; rest.length > 0; ) {
      const end = rest.indexOf(0x0a);
      this.#add(end < 0 ? rest : rest.subarray(0, end));
      if (end < 0) return;
      this.#finish();
      rest = rest.subarray(end + 1);
    }
  }

  #add(piece: Buffer): void {
    if (this.#long !== null) {
      this.#drop(this.#long, piece);
      return;
    }
    this.#pieces.push(piece);
    this.#size += piece.length;
    if (this.#size <= this.maxBytes) return;
    const all = Buffer.concat(this.#pieces);
    this.#begin();
    // Copies: the ends must not keep the whole.
    const [head, tail] = [Buffer.from(all.subarray(0, endBytes)), Buffer.from(all.subarray(-endBytes))];
    this.#long = { head, tail, bytes: all.length };
    this.sink.dropped(all.length);
  }

  #begin(): void {
    this.#pieces = [];
    this.#size = 0;
  }

  #drop(long: Long, piece: Buffer): void {
    if (piece.length === 0) return;
    long.bytes += piece.length;
    long.tail = Buffer.from(Buffer.concat([long.tail, piece.subarray(-endBytes)]).subarray(-endBytes));
    this.sink.dropped(piece.length);
  }

  #finish(): void {
    const long = this.#long;
    if (long !== null) {
      this.#long = null;
      const [head, tail] = [long.head.toString("latin1"), long.tail.toString("latin1")];
      this.sink.tooLong({ head, tail, bytes: long.bytes });
      return;
    }
    const line = Buffer.concat(this.#pieces);
    this.#begin();
    const text = line.toString("utf8").replace(/\r$/, "");
    if (text !== "") this.sink.line(text, line.length);
  }
}
