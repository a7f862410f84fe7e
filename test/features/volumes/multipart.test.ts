/** Multipart bodies, cut anywhere, in pieces that are taken back once the next one is asked for. */
import { expect, test } from "bun:test";
import { partsOf } from "../../../src/features/volumes/files/multipart.ts";

const boundary = "bound";
const files = [
  "plain",
  "",
  "\r\n--boun",
  `\r\n--boun${"\r\n--boun".repeat(20)}`,
  `${"x".repeat(300)}\r\n--bounX`,
  "\r\n\r\n-bound no",
  "ends with\r\n--",
];
const body = Buffer.from(
  `${files
    .map(
      (content, n) =>
        `--${boundary}\r\nContent-Disposition: form-data; name="n${n}"; filename="f"\r\n\r\n${content}\r\n`,
    )
    .join("")}--${boundary}--\r\n`,
  "latin1",
);

async function* cut(sizes: () => number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < body.length; ) {
    const piece = Uint8Array.from(body.subarray(at, at + sizes()));
    at += piece.length;
    yield piece;
    piece.fill(0x21);
  }
}

async function read(sizes: () => number): Promise<string[]> {
  const found: string[] = [];
  for await (const part of partsOf(cut(sizes), boundary)) {
    let text = "";
    for await (const piece of part.body) text += Buffer.from(piece).toString("latin1");
    found.push(text);
  }
  return found;
}

test("wherever a body is cut, its parts are the same, and no piece is kept", async () => {
  for (let size = 1; size <= 64; size++) expect([size, await read(() => size)]).toEqual([size, files]);
  let seed = 11;
  const sizes = () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return 1 + (seed % 97);
  };
  for (let turn = 0; turn < 200; turn++) expect(await read(sizes)).toEqual(files);
  expect(await read(() => body.length)).toEqual(files);
});
