import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { trimEnds, trimOutput, trimText } from "../../../actors/execution/trim.ts";
import { OutputCapture } from "../../../src/programs/bootstrap/capture.ts";

const size = (text: string) => Buffer.byteLength(text);
const marker = /\n\[trimmed (\d+) bytes\]\n/;
const texts = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 3_000 }),
  fc.string({ unit: "binary", maxLength: 3_000 }),
);
const wellFormed = texts.map((text) => text.toWellFormed().replaceAll("[trimmed", "(trimmed"));

describe("trimming", () => {
  test("16 + 3 bytes at cap 8: the last 5 and all 3", () => {
    expect(trimOutput("0123456789abcdef", "err", 8)).toEqual({
      stdout: "bcdef",
      stderr: "err",
      truncated: true,
      stdout_bytes: 16,
      stderr_bytes: 3,
    });
  });

  test("1000 bytes at cap 300: 65 head, marker 740, 195 tail", () => {
    const text = Array.from({ length: 1_000 }, (_, i) => String.fromCharCode(97 + (i % 26))).join("");
    const { stdout } = trimOutput(text, "", 300);
    expect(stdout).toBe(`${text.slice(0, 65)}\n[trimmed 740 bytes]\n${text.slice(-195)}`);
  });

  const table: [string, string, string, number, string, string, boolean][] = [
    ["exactly the cap", "abcd", "efgh", 8, "abcd", "efgh", false],
    ["odd byte to stdout", "abcdef", "ghijkl", 5, "def", "kl", true],
    ["a short stdout cedes", "ab", "ghijkl", 6, "ab", "ijkl", true],
    ["cap 1", "ab", "cd", 1, "b", "", true],
    ["a cut falls between characters", "aé", "", 1, "", "", true],
    ["a cut keeps whole characters", "€€€", "", 7, "€€", "", true],
    ["nothing at all", "", "", 1, "", "", false],
  ];
  test.each(table)("%s", (_, stdout, stderr, cap, out, err, truncated) => {
    expect(trimOutput(stdout, stderr, cap)).toMatchObject({ stdout: out, stderr: err, truncated });
  });

  test("255 and 256 are the two sides of the marker's bound", () => {
    expect(trimText("x".repeat(500), 255)).toBe("x".repeat(255));
    expect(trimText("x".repeat(500), 256)).toBe(`${"x".repeat(54)}\n[trimmed 284 bytes]\n${"x".repeat(162)}`);
  });

  test("a long text is trimmed as if the whole of it had been encoded", () => {
    const whole = (text: string) => {
      const bytes = new TextEncoder().encode(text);
      return { bytes: bytes.length, head: bytes, tail: bytes };
    };
    fc.assert(
      fc.property(texts, texts, fc.integer({ min: 1, max: 700 }), (stdout, stderr, cap) => {
        expect(trimOutput(stdout, stderr, cap)).toEqual(trimEnds(whole(stdout), whole(stderr), cap));
      }),
    );
  });

  test("never over the cap; the end survives, the number is right, characters stay whole", () => {
    fc.assert(
      fc.property(wellFormed, wellFormed, fc.integer({ min: 1, max: 4_000 }), (stdout, stderr, cap) => {
        const trimmed = trimOutput(stdout, stderr, cap);
        expect(size(trimmed.stdout) + size(trimmed.stderr)).toBeLessThanOrEqual(cap);
        expect(trimmed.truncated).toBe(size(stdout) + size(stderr) > cap);
        for (const [before, after] of [
          [stdout, trimmed.stdout],
          [stderr, trimmed.stderr],
        ] as const) {
          const found = marker.exec(after);
          if (found === null) {
            expect(before.endsWith(after)).toBe(true);
          } else {
            const [head, tail] = [after.slice(0, found.index), after.slice(found.index + found[0].length)];
            expect(before.startsWith(head)).toBe(true);
            expect(before.endsWith(tail)).toBe(true);
            expect(size(head) + Number(found[1]) + size(tail)).toBe(size(before));
          }
        }
        expect(trimOutput(trimmed.stdout, trimmed.stderr, cap)).toMatchObject({
          stdout: trimmed.stdout,
          stderr: trimmed.stderr,
        });
      }),
    );
  });

  test("reading in pieces of any size and any bytes gives the same as the whole text", () => {
    const bytes = fc.uint8Array({ maxLength: 3_000 });
    fc.assert(
      fc.property(
        fc.array(bytes, { maxLength: 12 }),
        fc.array(bytes, { maxLength: 6 }),
        fc.integer({ min: 1, max: 5_000 }),
        (out, err, cap) => {
          const captures = [new OutputCapture(cap), new OutputCapture(cap)] as const;
          for (const chunk of out) captures[0].write(chunk);
          for (const chunk of err) captures[1].write(chunk);
          const text = (parts: Uint8Array[]) =>
            new TextDecoder("utf-8", { ignoreBOM: true }).decode(Buffer.concat(parts));
          expect(trimEnds(captures[0].ends(), captures[1].ends(), cap)).toEqual(trimOutput(text(out), text(err), cap));
        },
      ),
    );
  });

  test("a capture's memory is bounded by its cap", () => {
    const capture = new OutputCapture(1_000);
    const chunk = new Uint8Array(300).fill(120);
    for (let i = 0; i < 10_000; i += 1) capture.write(chunk);
    const ends = capture.ends();
    expect(ends.bytes).toBe(3_000_000);
    expect(ends.head.length + ends.tail.length).toBeLessThan(2_000);
  });
});
