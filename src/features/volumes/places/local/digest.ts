/** The digest of a file. */
import { createHash } from "node:crypto";
import { read } from "node:fs";

const pieceBytes = 1024 * 1024;

/** Reads a file through. Rejects with the signal's reason when aborted. @returns hex */
export async function sha256Of(fd: number, signal: AbortSignal | null): Promise<string> {
  const hash = createHash("sha256");
  const buffer = new Uint8Array(pieceBytes);
  for (let at = 0; ; ) {
    signal?.throwIfAborted();
    const got = await new Promise<number>((resolve, reject) => {
      read(fd, buffer, 0, pieceBytes, at, (error, count) => (error === null ? resolve(count) : reject(error)));
    });
    if (got === 0) return hash.digest("hex");
    hash.update(buffer.subarray(0, got));
    at += got;
  }
}
