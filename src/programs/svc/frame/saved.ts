/** An answer as a file. */
import { open } from "node:fs/promises";
import { resolve } from "node:path";
import { Failure } from "../process/exit.ts";
import type { Io } from "../process/io.ts";
import { printed } from "./printed.ts";

/**
 * Writes bytes as they come; `-` is standard output, where a terminal gets text alone. Only the caller may read the file.
 * @returns how many
 * @throws Failure `failed` that names the file; `usage` for what a terminal cannot show
 */
export async function saved(io: Io, path: string, body: ReadableStream<Uint8Array> | null): Promise<number> {
  if (path === "-") {
    await printed(io, body);
    return 0;
  }
  const file = await open(resolve(io.directory, path), "w", 0o600).catch((error: NodeJS.ErrnoException) => {
    throw new Failure("failed", `${path} cannot be written (${error.code})`);
  });
  let size = 0;
  try {
    for await (const piece of body ?? []) {
      await file.writeFile(piece);
      size += piece.length;
    }
  } finally {
    await file.close();
  }
  return size;
}
