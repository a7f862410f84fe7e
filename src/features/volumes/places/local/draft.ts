/** A file on its way into a volume, beside all volumes. */
import { type FileHandle, mkdir, open, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Draft } from "../port.ts";

export class LocalDraft implements Draft {
  #placed = false;

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
    await this.file.writeFile(piece);
  }

  async finish(): Promise<void> {
    await this.file.close();
  }

  /** It was renamed. */
  placed(): void {
    this.#placed = true;
  }

  async discard(): Promise<void> {
    if (this.#placed) return;
    await this.file.close().catch(() => {});
    await rm(this.path, { force: true });
  }
}
