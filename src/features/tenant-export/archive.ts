/** A tar archive that is made as it is read: no more of it is held than what its reader has not taken. */
import { pack } from "tar-stream";

export interface ArchiveEntry {
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  /** Unix milliseconds. */
  readonly modifiedMs: number;
  /** More than `size` is cut off; what is missing becomes zero bytes. */
  content(): AsyncIterable<Uint8Array>;
}

const zeros = new Uint8Array(64 * 1024);

/** Adds an entry behind those before it. Resolves once its bytes are in the archive. */
export type AddEntry = (entry: ArchiveEntry) => Promise<{ readonly isWhole: boolean }>;

/**
 * @param produce adds one entry after another; what it throws breaks the archive off
 * @param signal  ends the work; then reading fails
 */
export async function* archive(
  produce: (add: AddEntry) => Promise<void>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const tar = pack();
  let isClosed = false;
  /** Of the entry under way. An archive that is broken off ends it without a word. */
  let settle: (error: unknown) => void = () => {};
  tar.once("close", () => {
    isClosed = true;
    settle(new Error("The archive is closed"));
  });

  async function add({ name, size, modifiedMs, content }: ArchiveEntry): Promise<{ readonly isWhole: boolean }> {
    if (isClosed) throw new Error("The archive is closed");
    const done = new Promise<unknown>((resolve) => {
      settle = resolve;
    });
    const sink = tar.entry({ name, size, mtime: new Date(modifiedMs), mode: 0o600 }, settle);
    // Told to `settle` as well; without a listener it would end the process.
    sink.on("error", settle);
    const write = async (piece: Uint8Array): Promise<void> => {
      if (!sink.write(piece)) await Promise.race([drained(sink), done]);
      if (isClosed) throw new Error("The archive is closed");
    };
    let left = size;
    for await (const piece of content()) {
      const part = piece.subarray(0, left);
      if (part.length > 0) await write(part);
      left -= part.length;
      if (left === 0) break;
    }
    const isWhole = left === 0;
    for (; left > 0; left -= Math.min(left, zeros.length)) await write(zeros.subarray(0, left));
    sink.end(null);
    const error = await done;
    if (error instanceof Error) throw error;
    return { isWhole };
  }

  const stop = () => tar.destroy(new Error("The export was broken off"));
  const production = produce(add).then(
    () => tar.finalize(),
    (error: unknown) => void tar.destroy(error instanceof Error ? error : new Error(String(error))),
  );
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  try {
    // The library types its pieces as unknown; a pack makes bytes alone.
    for await (const piece of tar) yield piece as Uint8Array;
  } finally {
    signal.removeEventListener("abort", stop);
    tar.destroy();
    await production;
  }
}

const drained = (sink: ReturnType<ReturnType<typeof pack>["entry"]>): Promise<void> =>
  new Promise((resolve) => void sink.once("drain", () => resolve()));
