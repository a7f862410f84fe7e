/** Hiding values in texts (docs/reference/secrets.md). */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { MaskedStream, type Piece } from "../../src/lib/masking/masked-stream.ts";
import { Masker } from "../../src/lib/masking/masker.ts";

const maskerOf = (...values: string[]): Masker => {
  const masker = new Masker();
  masker.hide(values);
  return masker;
};
const value = `pä"ss/w?rd +&`;
const bytes = Buffer.byteLength(value);

test.each([
  ["itself", value],
  ["base64", Buffer.from(value).toString("base64")],
  ["base64 for URLs", Buffer.from(value).toString("base64url")],
  ["escaped in a URL", encodeURIComponent(value)],
  ["escaped in small letters", encodeURIComponent(value).replace(/%../g, (each) => each.toLowerCase())],
  ["in a form", new URLSearchParams([["", value]]).toString().slice(1)],
  ["in JSON", JSON.stringify(value)],
  ["in JSON of ASCII", JSON.stringify(value).replace("ä", "\\u00e4")],
])("a value is hidden as %s", (_form, text) => {
  const masked = maskerOf(value).mask(`before ${text} after`);
  expect(masked).toMatch(/^before \W*\*{8,}\W* after$/);
  expect(masked.length).toBe(Buffer.byteLength(`before ${text} after`));
});

test.each([0, 1, 2])("a value is hidden in base64 of a longer text, %i bytes in", (before) => {
  const text = Buffer.from(`${"x".repeat(before)}user:${value}@host`).toString("base64");
  const masked = maskerOf(value).mask(text);
  expect(masked).toContain("*".repeat(Math.floor((bytes * 8) / 6) - 1));
  expect(Buffer.from(masked.replaceAll("*", ""), "base64").toString("latin1")).not.toContain("ss/w");
});

test("values of fewer than eight characters, and other texts, stay as they are", () => {
  expect(maskerOf("1234567", "").mask("1234567 12345678")).toBe("1234567 12345678");
  expect(maskerOf("12345678").mask("1234567 12345678")).toBe("1234567 ********");
});

test("values that overlap, or hold one another, are hidden as a whole", () => {
  expect(maskerOf("abcdefgh", "efghijkl").mask("-abcdefghijkl-")).toBe(`-${"*".repeat(12)}-`);
  expect(maskerOf("abcdefgh", "abcdefghijkl").mask("abcdefghijkl abcdefgh")).toBe(`${"*".repeat(12)} ${"*".repeat(8)}`);
});

test("every text of a document is hidden, names and all", () => {
  const masked = maskerOf("top-secret").maskJson({ "top-secret": [1, null, { a: "is top-secret" }], b: true });
  expect(masked).toEqual({ "**********": [1, null, { a: "is **********" }], b: true } as never);
});

test("no masked text holds a value, however both are made", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "b", "ä", "𝄞"), maxLength: 60 });
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: fc.constantFrom("a", "b", "ä"), minLength: 8, maxLength: 90 }), { maxLength: 4 }),
      text,
      text,
      (values, before, after) => {
        const masker = maskerOf(...values);
        const written = before + values.join(after) + after;
        const masked = masker.mask(written);
        expect(Buffer.byteLength(masked)).toBe(Buffer.byteLength(written));
        for (const each of values) expect(masked.includes(each)).toBe(false);
      },
    ),
  );
});

describe("over pieces of a stream", () => {
  const pieces = (text: string, sizes: readonly number[]): Piece[] => {
    const found: Piece[] = [];
    const units = [...text];
    for (let at = 0, offset = 0, turn = 0; at < units.length; turn++) {
      const content = units.slice(at, at + (sizes[turn % sizes.length] ?? 1)).join("");
      found.push({ offset, bytes: Buffer.byteLength(content), content });
      at += [...content].length;
      offset += Buffer.byteLength(content);
    }
    return found;
  };
  const shown = (masker: Masker, all: readonly Piece[]): Piece[] => {
    const stream = new MaskedStream(masker);
    return [...all.map((piece) => stream.add(piece)), stream.end()].filter((piece) => piece !== null);
  };

  test("they show what the whole would, wherever it is split", () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 5 });
    const text = fc.string({ unit: fc.constantFrom("a", "b", "ä"), maxLength: 80 });
    fc.assert(
      fc.property(
        fc.constantFrom("aaaaaaaa", "abababab", "aabaabaaba", "ababaabä", "bbbbbbbbbbbbba"),
        text,
        text,
        sizes,
        (hidden, before, after, split) => {
          const masker = maskerOf(hidden);
          const whole = before + hidden + after;
          const told = shown(masker, pieces(whole, split));
          expect(told.map(({ content }) => content).join("")).toBe(masker.mask(whole));
          let end = 0;
          for (const { offset, bytes } of told) {
            expect(offset).toBe(end);
            end += bytes;
          }
          expect(end).toBe(Buffer.byteLength(whole));
        },
      ),
    );
  });

  test("what cannot begin a value is shown at once", () => {
    const stream = new MaskedStream(maskerOf("top-secret"));
    expect(stream.add({ offset: 0, bytes: 6, content: "hello\n" })?.content).toBe("hello\n");
    expect(stream.add({ offset: 6, bytes: 6, content: "is top" })?.content).toBe("is ");
    expect(stream.add({ offset: 12, bytes: 3, content: " up" })?.content).toBe("top up");
  });

  test("bytes that are no text are held until no value can have begun", () => {
    const stream = new MaskedStream(maskerOf("top-secret"));
    expect(stream.add({ offset: 0, bytes: 4, content: "\ufffdtop" })).toBeNull();
    expect(stream.add({ offset: 4, bytes: 8, content: "-secret!" })).toEqual({
      offset: 0,
      bytes: 12,
      content: "\ufffd**********!",
    });
  });
});
