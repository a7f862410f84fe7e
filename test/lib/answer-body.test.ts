/** Bodies of answers that other servers give: decoded only as far as they are read. */
import { describe, expect, test } from "bun:test";
import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { plainBody, readBody, readJson, UnreadableBody } from "../../src/lib/answer-body.ts";

/** An answer whose body comes in pieces of 1 KiB, and how many of them were taken. */
function answer(body: Uint8Array, encoding?: string) {
  let taken = 0;
  let cancelled = false;
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const piece = body.subarray(taken * 1024, (taken + 1) * 1024);
        taken += 1;
        if (piece.length > 0) controller.enqueue(piece);
        else controller.close();
      },
      cancel() {
        cancelled = true;
      },
    },
    { highWaterMark: 0 },
  );
  const headers: Record<string, string> = encoding === undefined ? {} : { "Content-Encoding": encoding };
  return { response: new Response(stream, { headers }), taken: () => taken, cancelled: () => cancelled };
}

const text = "hello ".repeat(5000);

describe("an answer compressed although identity was asked for", () => {
  test.each([
    ["gzip", gzipSync(text)],
    ["X-GZIP", gzipSync(text)],
    ["deflate", deflateSync(text)],
    ["identity", Buffer.from(text)],
    ["", Buffer.from(text)],
  ])("%j is decoded", async (encoding, body) => {
    const { bytes, truncated } = await readBody(answer(body, encoding).response, 1_000_000);
    expect([Buffer.from(bytes).toString() === text, truncated]).toEqual([true, false]);
  });

  test.each([
    ["br", brotliCompressSync(text)],
    ["zstd", zstdCompressSync(text)],
    ["gzip, gzip", gzipSync(gzipSync(text))],
    ["unheard-of", Buffer.from(text)],
    ["constructor", Buffer.from(text)],
  ])("%j is refused before anything of it is decoded", async (encoding, body) => {
    const given = answer(body, encoding);
    expect(await readBody(given.response, 1_000_000).catch((error: unknown) => error)).toBeInstanceOf(UnreadableBody);
    expect([given.taken(), given.cancelled()]).toEqual([0, true]);
  });

  test("a bomb is decompressed as far as it is read, and no further", async () => {
    // Members of a gzip file may follow one another: 512 MiB in all.
    const member = gzipSync(Buffer.alloc(16 * 1024 * 1024), { level: constants.Z_BEST_COMPRESSION });
    const bomb = Buffer.concat(Array.from({ length: 32 }, () => member));
    const given = answer(bomb, "gzip");
    const reader = plainBody(given.response)?.getReader();
    const { value } = (await reader?.read()) ?? {};
    // One KiB of the bomb holds a whole MiB.
    expect(value?.length).toBeLessThanOrEqual(65_536);
    await reader?.cancel();
    expect(given.taken()).toBeLessThan(bomb.length / 1024 / 2);
    const { bytes, truncated } = await readBody(answer(bomb, "gzip").response, 100_000);
    expect([bytes.length, truncated]).toEqual([100_000, true]);
  });

  test("one that breaks off or is no gzip at all is an error", async () => {
    const whole = gzipSync(text);
    for (const body of [whole.subarray(0, whole.length / 2), Buffer.from(text)]) {
      await expect(readBody(answer(body, "gzip").response, 1_000_000)).rejects.toThrow();
    }
  });
});

test("a document is read whole or not at all", async () => {
  const json = (value: unknown) => answer(Buffer.from(JSON.stringify(value))).response;
  expect(await readJson(json({ a: 1 }), 100)).toEqual({ a: 1 });
  expect(await readJson(json("x".repeat(200)), 100).catch((error: unknown) => error)).toBeInstanceOf(UnreadableBody);
});

test("without a body there is nothing to decode", async () => {
  const bare = new Response(null, { status: 204, headers: { "Content-Encoding": "br" } });
  expect((await readBody(bare, 10)).bytes).toHaveLength(0);
});
