/** What a store of objects sends: read piece by piece, in bounded time and memory. */
import { ObjectsUnavailable } from "./failure.ts";

/** How long an answer may stop in its middle, ms. */
const silenceMs = 10_000;

export type Bytes = ReadableStream<Uint8Array<ArrayBuffer>>;

/** The pieces of a body, which is given up where it stops for long. @throws ObjectsUnavailable when it breaks off */
export async function* piecesOf(
  body: Bytes | null,
  signal: AbortSignal | null,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const reader = body?.getReader();
  if (reader === undefined) return;
  let isWhole = false;
  try {
    for (;;) {
      const { done, value } = await soon(reader.read(), signal);
      isWhole = done;
      if (done) return;
      yield value;
    }
  } finally {
    if (!isWhole) await reader.cancel().catch(() => {});
  }
}

function soon<T>(reading: Promise<T>, signal: AbortSignal | null): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal?.reason);
    const timer = setTimeout(() => reject(new ObjectsUnavailable("the answer stopped")), silenceMs);
    const settle = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
    };
    if (signal?.aborted) abort();
    signal?.addEventListener("abort", abort);
    reading.then(resolve, () => reject(new ObjectsUnavailable("the answer broke off"))).finally(settle);
  });
}

/** All of a body. @throws ObjectsUnavailable also where it is longer than so many bytes */
export async function allOf(body: Bytes | null, signal: AbortSignal | null, maxBytes: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of piecesOf(body, signal)) {
    bytes += piece.byteLength;
    if (bytes > maxBytes) throw new ObjectsUnavailable("it answered with too much");
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
