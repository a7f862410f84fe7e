/**
 * Reads the bodies of HTTP answers that other servers give, in bounded memory.
 *
 * `fetch` by itself decompresses each piece that arrives as a whole, before a reader can stop it: 400 bytes of brotli
 * become 256 MiB. A request whose answer is read here therefore says `Accept-Encoding: identity` and
 * `decompress: false`. An answer that is compressed all the same is decoded piece by piece, as far as it is read, when
 * its decoder needs little memory (gzip and deflate keep 32 KiB); brotli and zstd, which the request did not ask for and whose
 * windows take many MiB, are refused.
 */
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createInflate } from "node:zlib";

/** The body cannot be read: it is encoded in a way that was not asked for, or larger than allowed. */
export class UnreadableBody extends Error {
  override readonly name = "UnreadableBody";
}

/** Of what a decoder gives at once, bytes. */
const pieceBytes = 65_536;

const decoders: Readonly<Record<string, () => ReturnType<typeof createGunzip>>> = {
  gzip: () => createGunzip({ chunkSize: pieceBytes }),
  "x-gzip": () => createGunzip({ chunkSize: pieceBytes }),
  deflate: () => createInflate({ chunkSize: pieceBytes }),
};

/**
 * The body of an answer to a request with `decompress: false`, decoded as far as it is read; null when there is none.
 * Cancelling it cancels the answer. Broken compression is an error of the stream.
 * @throws UnreadableBody for an encoding that is not decoded; then the answer is cancelled
 */
export function plainBody(response: Response): ReadableStream<Uint8Array> | null {
  const { body } = response;
  if (body === null) return null;
  const encodings = (response.headers.get("content-encoding") ?? "")
    .split(",")
    .map((encoding) => encoding.trim().toLowerCase())
    .filter((encoding) => encoding !== "" && encoding !== "identity");
  const [encoding] = encodings;
  if (encoding === undefined) return body;
  const decoder = encodings.length === 1 && Object.hasOwn(decoders, encoding) ? decoders[encoding]?.() : undefined;
  if (decoder === undefined) {
    void body.cancel().catch(() => {});
    throw new UnreadableBody("the answer is compressed in a way that was not asked for");
  }
  // What fails here fails in `decoder` too, and is told to the reader.
  pipeline(Readable.from(body, { objectMode: false }), decoder).catch(() => {});
  const pieces = decoder[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await pieces.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
      cancel: () => void decoder.destroy(),
    },
    { highWaterMark: 0 },
  );
}

/** At most that much of a body. What is left is cancelled. @throws what the stream fails with, UnreadableBody */
export async function readBody(
  response: Response,
  maxBytes: number,
): Promise<{ readonly bytes: Uint8Array; readonly truncated: boolean }> {
  const reader = plainBody(response)?.getReader();
  const pieces: Uint8Array[] = [];
  let size = 0;
  let truncated = false;
  try {
    while (reader !== undefined && !truncated) {
      const { done, value } = await reader.read();
      if (done) break;
      const room = maxBytes - size;
      truncated = value.length > room;
      const piece = truncated ? value.subarray(0, room) : value;
      pieces.push(piece);
      size += piece.length;
    }
  } finally {
    void reader?.cancel().catch(() => {});
  }
  return { bytes: new Uint8Array(Buffer.concat(pieces, size)), truncated };
}

/** The whole of a small JSON document. @throws UnreadableBody when it is larger, SyntaxError when it is not JSON */
export async function readJson(response: Response, maxBytes: number): Promise<unknown> {
  const { bytes, truncated } = await readBody(response, maxBytes);
  if (truncated) throw new UnreadableBody(`the answer is larger than ${maxBytes} bytes`);
  return JSON.parse(new TextDecoder().decode(bytes));
}
