import { describe, expect, test } from "bun:test";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { readOn, SegmentWriter, shownStderr, shownStdout } from "../../../../src/adapters/sandbox/process/segments.ts";
import { scratch } from "../../../harness/scratch.ts";

const mebibyte = 1_024 * 1_024;
const writeAll = (writer: SegmentWriter, chunk: Uint8Array): void => {
  for (let done = 0; done < chunk.length; ) done += writer.write(chunk, done);
};
const directory = () => scratch("segments");
const sizeOnDisk = (path: string) => readdirSync(path).reduce((sum, name) => sum + statSync(join(path, name)).size, 0);

describe("output segments", () => {
  test("32 MiB leave at most 2 MiB on disk; head and tail are shown, the total is known", () => {
    const path = directory();
    const writer = new SegmentWriter(path, "stdout");
    writeAll(writer, Buffer.from("HEAD"));
    for (let i = 0; i < 320; i += 1) writeAll(writer, Buffer.alloc(104_857, 97 + (i % 26)));
    writeAll(writer, Buffer.from("TAIL"));
    expect(sizeOnDisk(path)).toBeLessThanOrEqual(2 * mebibyte);
    const { stdout, truncated } = shownStdout(path);
    expect(truncated).toBe(true);
    expect(Buffer.byteLength(stdout)).toBeLessThanOrEqual(mebibyte);
    expect(stdout.startsWith("HEADaaa") && stdout.endsWith("TAIL")).toBe(true);
    const [head = "", left = "", tail = ""] = stdout.split(/\n\[trimmed (\d+) bytes\]\n/);
    expect(head.length + Number(left) + tail.length).toBe(8 + 320 * 104_857);
  });

  test("bytes that are no text stay within the bounds", () => {
    const path = directory();
    for (const stream of ["stdout", "stderr"] as const)
      writeAll(new SegmentWriter(path, stream), Buffer.alloc(3 * mebibyte, 0x80));
    expect(Buffer.byteLength(shownStdout(path).stdout)).toBeLessThanOrEqual(mebibyte);
    expect(Buffer.byteLength(shownStderr(path).stderr)).toBeLessThanOrEqual(65_536);
  });

  test("nothing written shows nothing", () => {
    expect(shownStdout(directory())).toEqual({ stdout: "", truncated: false });
    expect(shownStderr(directory())).toEqual({ stderr: "", truncated: false });
  });

  test("reading on from any place gives every byte once, in order", () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 400_000, minLength: 1 }), { maxLength: 3 }),
        fc.integer({ min: 1, max: 70_000 }),
        (chunks, limit) => {
          const path = directory();
          const writer = new SegmentWriter(path, "stderr");
          for (const chunk of chunks) writeAll(writer, chunk);
          const read: Uint8Array[] = [];
          for (
            let offset = 0, piece = readOn(path, "stderr", 0, limit);
            piece !== null;
            piece = readOn(path, "stderr", offset, limit)
          ) {
            expect(piece.offset).toBe(offset);
            offset += piece.bytes.length;
            read.push(piece.bytes);
          }
          expect(Buffer.concat(read).equals(Buffer.concat(chunks))).toBe(true);
        },
      ),
      { numRuns: 15 },
    );
  });
});
