/** Arguments as approvers see them, and what an edit of them means (docs/reference/approvals.md). */
import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  cutArguments,
  escapedJson,
  escapedText,
  maxShownBytes,
  restored,
  startOf,
} from "../../../actors/approval/shown.ts";
import type { Json } from "../../../actors/kernel/json.ts";

test("control, bidirectional and invisible characters are escaped, line ends stay", () => {
  expect(escapedText("a\u202eb\u2066c\u200fd\u001b[2Je\u0007f\u0085g\u200bh\ufeffi")).toBe(
    "a\\u202eb\\u2066c\\u200fd\\u001b[2Je\\u0007f\\u0085g\\u200bh\\ufeffi",
  );
  expect(escapedText("one\ntwo\tthree\rfour")).toBe("one\ntwo\tthree\\u000dfour");
  expect(escapedText("\u{e0041}\u2028")).toBe("\\u{e0041}\\u2028");
  expect(escapedText("Größe 漢字 🙂")).toBe("Größe 漢字 🙂");
  expect(escapedJson({ "k\u202e": ["\u2067x", 1, null] })).toEqual({ "k\\u202e": ["\\u2067x", 1, null] });
});

test("arguments of more than 64 KiB are shown as the start of their text", () => {
  const fitting = { text: "x".repeat(maxShownBytes - '{"text":""}'.length) };
  expect(cutArguments(fitting)).toEqual({ arguments: fitting, truncated: false });
  const cut = cutArguments({ text: `${"x".repeat(maxShownBytes)}` });
  expect(cut.truncated).toBe(true);
  expect(cut.arguments).toHaveLength(maxShownBytes);
  // A character of three bytes at the edge is left out, not halved.
  expect(startOf("ab漢", 4)).toBe("ab");
});

const given = {
  url: "https://x.example/?key=s3cr3t-one&next=s3cr3t-two!",
  token: "s3cr3t-one",
  title: "Printer\u202e broken",
  nested: [{ pass: "s3cr3t-two" }, "plain"],
};
const shown = {
  url: "https://x.example/?key=[redacted]&next=[redacted]!",
  token: "[redacted]",
  title: "Printer\\u202e broken",
  nested: [{ pass: "[redacted]" }, "plain"],
};

test("what an edit leaves as it was shown is the original", () => {
  expect(restored(shown, shown, given)).toEqual({ value: given, faults: [] });
  const { value, faults } = restored({ ...shown, title: "Printer fixed" }, shown, given);
  expect(faults).toEqual([]);
  expect(value).toEqual({ ...given, title: "Printer fixed" });
});

test("[redacted] within a text that was edited stands for what was left out there", () => {
  const edit = { ...shown, url: "https://y.example/?a=[redacted]&b=[redacted]", nested: [{ pass: "[redacted]" }] };
  expect(restored(edit, shown, given)).toEqual({
    value: {
      ...given,
      url: "https://y.example/?a=s3cr3t-one&b=s3cr3t-two",
      nested: [{ pass: "s3cr3t-two" }],
    },
    faults: [],
  });
});

test("[redacted] where nothing was left out is a fault", () => {
  expect(restored({ title: "[redacted]" }, shown, given).faults).toEqual([".title"]);
  expect(restored({ note: "a [redacted]" }, shown, given).faults).toEqual([".note"]);
  expect(restored({ token: "[redacted][redacted]" }, shown, given).faults).toEqual([".token"]);
  expect(restored({ nested: ["plain", { pass: "[redacted]" }] }, shown, given).faults).toEqual([".nested.1.pass"]);
  // Which part was which cannot be told: an x may be the sign between them, or in one of them.
  expect(restored("a [redacted]x[redacted]", "[redacted]x[redacted]", "1x2x3").faults).toEqual([""]);
});

test("an edit without a change is the original, of any arguments", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue({ stringUnit: "binary" })), (original) => {
      const { value, faults } = restored(
        escapedJson(original as Json),
        escapedJson(original as Json),
        original as Json,
      );
      expect(faults).toEqual([]);
      expect(value).toEqual(original as Json);
    }),
    { numRuns: 300 },
  );
});
