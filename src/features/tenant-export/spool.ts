/**
 * A file of lines that is written before it is sent: an archive says how long a file is before it has its bytes, and
 * memory is for none of them. It has no name from its first moment on, so that nothing is left of it when the node dies.
 */
import { type FileHandle, mkdir, open, rm, statfs } from "node:fs/promises";
import { join } from "node:path";

const pieceBytes = 256 * 1024;
/** Left free on the file system, bytes. */
const reservedBytes = 256 * 1_048_576;
/** Written between two looks at the room. */
const lookEveryBytes = 16 * 1_048_576;

export interface Spool {
  /** Adds a line. @throws Error where the disk has no room for more */
  line(text: string): Promise<void>;
  readonly lines: number;
  /** Bytes of all lines. */
  finish(): Promise<number>;
  /** Of `finish`, from the first byte on. */
  content(): AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}

export async function openSpool(directory: string): Promise<Spool> {
  await mkdir(directory, { recursive: true });
  const path = join(directory, `export-${crypto.randomUUID()}`);
  const file = await open(path, "wx+", 0o600);
  await rm(path);
  return new FileSpool(file, directory);
}

class FileSpool implements Spool {
  lines = 0;
  #held: string[] = [];
  #heldCharacters = 0;
  #written = 0;
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly file: FileHandle,
    private readonly directory: string,
  ) {}

  async line(text: string): Promise<void> {
    this.lines += 1;
    this.#held.push(text, "\n");
    this.#heldCharacters += text.length + 1;
    if (this.#heldCharacters >= pieceBytes) await this.#flush();
  }

  async finish(): Promise<number> {
    await this.#flush();
    return this.#written;
  }

  async *content(): AsyncIterable<Uint8Array> {
    for (let at = 0; at < this.#written; ) {
      const piece = new Uint8Array(Math.min(pieceBytes, this.#written - at));
      const { bytesRead } = await this.file.read(piece, 0, piece.length, at);
      if (bytesRead === 0) throw new Error("A file of an export is shorter than it was written");
      yield piece.subarray(0, bytesRead);
      at += bytesRead;
    }
  }

  close(): Promise<void> {
    return this.file.close();
  }

  async #flush(): Promise<void> {
    if (this.#written - this.#lookedAt >= lookEveryBytes) {
      const { bavail, bsize } = await statfs(this.directory);
      if (bavail * bsize < reservedBytes) throw new Error("There is no room on the disk for the lines of an export");
      this.#lookedAt = this.#written;
    }
    const bytes = Buffer.from(this.#held.join(""));
    this.#held = [];
    this.#heldCharacters = 0;
    for (let at = 0; at < bytes.length; ) {
      const { bytesWritten } = await this.file.write(bytes, at, bytes.length - at, this.#written);
      at += bytesWritten;
      this.#written += bytesWritten;
    }
  }
}
