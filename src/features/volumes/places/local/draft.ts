/** A file on its way into a volume, beside all volumes. */
import { type FileHandle, mkdir, open, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Draft } from "../port.ts";

/**
 * Bytes of one write. Two such blocks are all that an upload holds: one fills while the other is written, so that what
 * reads and digests does not wait for the disk. A body's own pieces are let go at once: thousands of them would lie in
 * memory until they are collected.
 */
const blockBytes = 512 * 1024;

export class LocalDraft implements Draft {
  #filling: Uint8Array | null = null;
  #spare: Uint8Array | null = null;
  #filled = 0;
  #writing: Promise<void> = Promise.resolve();
  #isPlaced = false;

  private constructor(
    readonly path: string,
    readonly file: FileHandle,
  ) {}

  /** @param folder on the file system of the volumes */
  static async open(folder: string): Promise<LocalDraft> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const path = join(folder, crypto.randomUUID());
    return new LocalDraft(path, await open(path, "wx", 0o644));
  }

  async write(piece: Uint8Array): Promise<void> {
    for (let at = 0; at < piece.byteLength; ) {
      this.#filling ??= new Uint8Array(blockBytes);
      const part = piece.subarray(at, at + blockBytes - this.#filled);
      this.#filling.set(part, this.#filled);
      this.#filled += part.byteLength;
      at += part.byteLength;
      if (this.#filled === blockBytes) await this.#flush();
    }
  }

  async finish(): Promise<void> {
    await this.#flush();
    await this.#writing;
    await this.file.close();
  }

  /** It was renamed. */
  placed(): void {
    this.#isPlaced = true;
  }

  async discard(): Promise<void> {
    if (this.#isPlaced) return;
    await this.#writing.catch(() => {});
    await this.file.close().catch(() => {});
    await rm(this.path, { force: true });
  }

  /** Begins to write what is there, once what was begun before is written. */
  async #flush(): Promise<void> {
    await this.#writing;
    const block = this.#filling;
    if (block === null) return;
    this.#writing = this.#writeAll(block.subarray(0, this.#filled));
    // Told by the next wait for it.
    this.#writing.catch(() => {});
    this.#filling = this.#spare;
    this.#spare = block;
    this.#filled = 0;
  }

  async #writeAll(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.byteLength; ) {
      const { bytesWritten } = await this.file.write(bytes, at, bytes.byteLength - at);
      at += bytesWritten;
    }
  }
}
