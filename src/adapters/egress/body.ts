/** Passing a body on. Chunks are taken apart and made anew, so that both sides count the same. */
import type { Socket } from "node:net";
import { type Framing, MalformedHead } from "./message-head.ts";
import { type Source, SourceFailure, write } from "./source.ts";

const pieceBytes = 256 * 1024;
/** The line before a chunk, its extensions included, and each line of a trailer. */
const maxLine = 4096;
const maxTrailerLines = 100;
const chunkEnd = Buffer.from("\r\n");

/**
 * Moves one body. What it says of its length is believed to the byte.
 * @param rechunk  whether what arrives is sent on in chunks
 * @param silenceMs how long the sender may be silent, ms
 * @throws SourceFailure when the sender stops short, MalformedHead for broken chunks
 */
export async function passBody(
  from: Source,
  to: Socket,
  framing: Framing,
  rechunk: boolean,
  silenceMs: number,
): Promise<void> {
  if (framing.kind === "none") return;
  if (framing.kind === "length") return passBytes(from, to, framing.bytes, rechunk, silenceMs);
  if (framing.kind === "until_close") {
    for (;;) {
      const piece = await from.read(pieceBytes, silenceMs);
      if (piece === null) break;
      await send(to, piece, rechunk);
    }
  } else {
    for (;;) {
      const size = chunkSize(await from.until("\r\n", maxLine, silenceMs));
      if (size === 0) break;
      await passBytes(from, to, size, rechunk, silenceMs);
      if ((await from.until("\r\n", 2, silenceMs)) !== "\r\n")
        throw new MalformedHead("A chunk is longer than it says");
    }
    await skipTrailer(from, silenceMs);
  }
  if (rechunk) await write(to, Buffer.from("0\r\n\r\n"));
}

async function passBytes(from: Source, to: Socket, bytes: number, rechunk: boolean, silenceMs: number): Promise<void> {
  let left = bytes;
  while (left > 0) {
    const piece = await from.read(Math.min(left, pieceBytes), silenceMs);
    if (piece === null) throw new SourceFailure("ended");
    left -= piece.length;
    await send(to, piece, rechunk);
  }
}

function send(to: Socket, piece: Buffer, rechunk: boolean): Promise<void> | undefined {
  if (!rechunk) return write(to, piece);
  return write(to, Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, chunkEnd]));
}

function chunkSize(line: string): number {
  const digits = /^([0-9a-fA-F]{1,12})(?:[\t ]*;[\t\x20-\x7e\x80-\xff]*)?\r\n$/.exec(line)?.[1];
  if (digits === undefined) throw new MalformedHead("A chunk has no size");
  return Number.parseInt(digits, 16);
}

async function skipTrailer(from: Source, silenceMs: number): Promise<void> {
  for (let count = 0; count < maxTrailerLines; count++) {
    if ((await from.until("\r\n", maxLine, silenceMs)) === "\r\n") return;
  }
  throw new SourceFailure("too_long");
}
