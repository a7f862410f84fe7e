/** The output of commands as it is shown (docs/reference/edge-fleet.md). */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { createDecoding, type Progress } from "../../../../src/features/edge/run-stream/progress.ts";

const of = { node_id: "n", command_id: "c", stream: "stdout" as const };
const text = ({ chunk }: Progress): string => ("stdout" in chunk ? chunk.stdout : "");

test("text is whole however its bytes are cut, and each piece says where it begins", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "binary" }),
      fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1 }),
      (all, cuts) => {
        const bytes = new TextEncoder().encode(all);
        const decoding = createDecoding();
        const shown: Progress[] = [];
        for (let at = 0, nth = 0; at < bytes.length; nth++) {
          const next = Math.min(bytes.length, at + (cuts[nth % cuts.length] ?? 1));
          const progress = decoding.decode({ ...of, offset: at, bytes: bytes.subarray(at, next) });
          if (progress !== null) shown.push(progress);
          at = next;
        }
        shown.push(...decoding.end("n", "c"));
        expect(shown.map(text).join("")).toBe(new TextDecoder().decode(bytes));
        for (const piece of shown) {
          const before = shown.slice(0, shown.indexOf(piece)).map(text).join("");
          expect(piece.offset).toBe(new TextEncoder().encode(before).length);
        }
      },
    ),
  );
});

test("what was lost is told, repeats are left out, what is no text is replaced", () => {
  const decoding = createDecoding();
  const put = (offset: number, ...bytes: number[]) => decoding.decode({ ...of, offset, bytes: Uint8Array.from(bytes) });
  expect(put(0, 0x61, 0xe2, 0x82)).toEqual({ node_id: "n", command_id: "c", chunk: { stdout: "a" }, offset: 0 });
  expect(put(0, 0x61)).toBeNull();
  expect(put(10, 0x62)).toEqual({
    node_id: "n",
    command_id: "c",
    chunk: { stdout: "\ufffdb" },
    offset: 10,
    gap_bytes: 7,
  });
  expect(put(10, 0x62, 0xff, 0x63)).toMatchObject({ chunk: { stdout: "\ufffdc" }, offset: 11 });
  put(13, 0xc3);
  expect(decoding.end("n", "c")).toMatchObject([{ chunk: { stdout: "\ufffd" }, offset: 13 }]);
  expect(decoding.end("n", "c")).toEqual([]);
});
