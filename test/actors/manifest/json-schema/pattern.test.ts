/** Patterns of tenants, matched in linear time (docs/reference/security.md). */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Pattern, patternFault } from "../../../../actors/manifest/json-schema/pattern.ts";
import { cpuTimeOf } from "../../../harness/cpu-time.ts";

const texts = [
  "",
  "a",
  "A",
  "b",
  "ab",
  "aab",
  "foo bar",
  "foo\nbar",
  "foo\r\nbar",
  "a-b",
  "a\tb",
  "a\u00a0b",
  "\u2028",
  "0",
  "42",
  "x{2}",
  "xx",
  "é",
  "ß",
  "Ω",
  "😀",
  "[:alpha:]",
  "\\",
  "^",
  "$",
  "]",
  "-",
  "k",
  "u0041",
  "\u0008",
  "\u0000",
  "_",
  "Q.E",
  "2026-01-31",
  "name@host.example",
  "p{L}",
];

describe("patterns of tenants", () => {
  test.each<[string, string | null]>([
    ["a", null],
    ["^a+b$", null],
    ["(a|b)*c?", null],
    ["(?:a)(?<name>b)", null],
    ["\\d{4}-\\d\\d-\\d\\d", null],
    ["^\\s$", null],
    ["[\\s]b", null],
    ["\\S+", null],
    ["[^\\S]", null],
    ["[\\S]", null],
    ["^.$", null],
    ["^[^]$", null],
    ["[]", null],
    ["[a-]", null],
    ["[-a]", null],
    ["[\\]^-]", null],
    ["[[:alpha:]]", ""],
    ["[\\b]", null],
    ["[\\x00-\\x1f]", null],
    ["\\u0041", null],
    ["\\ud83d\\ude00", null],
    ["\\x41", null],
    ["\\0", null],
    ["\\cI", null],
    ["\\t|\\n|\\v|\\f|\\r", null],
    ["\\.", null],
    ["\\/", null],
    ["\\\\", null],
    ["\\^|\\$", null],
    ["\\bbar\\b", null],
    ["\\Boo", null],
    ["x{2}", null],
    ["x{1,}", null],
    ["^\\w+@[\\w.-]+$", null],
    ["[^a-z]", null],
    ["[\\d-x]", ""],
    ["\\-", ""],
    ["a{,2}", ""],
    ["\\Q.\\E", ""],
    ["\\k", ""],
    ["\\u{2}", ""],
    ["\\p{L}", ""],
    ["]", ""],
    ["\\p{L}", "u"],
    ["^\\P{L}+$", "u"],
    ["[\\p{Lu}\\d]", "u"],
    ["\\p{Script=Greek}", "u"],
    ["\\p{sc=Latin}", "u"],
    ["\\p{gc=Lu}", "u"],
    ["\\p{Any}", "u"],
    ["\\p{ASCII}", "u"],
    ["\\u{1f600}", "u"],
    ["[\\u{1f600}-\\u{1f64f}]", "u"],
    ["^[😀]$", "u"],
    ["\\-", ""],
    ["^bar$", "m"],
    ["^foo$", "m"],
    ["foo.bar", "s"],
    ["FOO", "i"],
    ["^[^A]$", "i"],
  ])("%s with the flags %s mean what they mean in ECMAScript", (source, given) => {
    const flags = given === null ? ["", "u", "i"] : [given];
    for (const flag of flags) {
      const native = new RegExp(source, flag);
      const pattern = new Pattern(source, flag);
      const differing = texts.filter(
        (text) => pattern.test(text) !== native.test(text) && (flag.includes("u") || /^[\0-\uffff]*$/u.test(text)),
      );
      expect({ flag, differing }).toEqual({ flag, differing: [] });
    }
  });

  test("a pattern made of anything means what it means in ECMAScript", () => {
    const atom = fc.constantFrom("a", "b", ".", "\\d", "\\w", "\\s", "[a-c]", "[^b]", "\\u0061", "\\b", "é", "-", " ");
    const counted = fc.tuple(atom, fc.constantFrom("", "", "*", "+", "?", "{1,2}", "*?")).map(([one, count]) => {
      return one === "\\b" ? one : one + count;
    });
    const source = fc
      .array(
        fc.oneof(
          counted,
          counted.map((one) => `(${one})`),
          fc.constantFrom("|", "^", "$"),
        ),
        { maxLength: 8 },
      )
      .map((parts) => parts.join(""));
    const text = fc.string({ unit: fc.constantFrom("a", "b", "c", "é", "0", " ", "\n", "-"), maxLength: 12 });
    fc.assert(
      fc.property(source, text, fc.constantFrom("u", "iu", "su"), (written, given, flags) => {
        expect(new Pattern(written, flags).test(given)).toBe(new RegExp(written, flags).test(given));
      }),
      { numRuns: 1500 },
    );
  });

  test.each<[string, string, RegExp]>([
    ["(", "", /not a regular expression/],
    ["a**", "u", /not a regular expression/],
    ["(?=a)b", "", /lookahead/],
    ["(?!a)b", "", /lookahead/],
    ["(?<=a)b", "", /lookbehind/],
    ["(?<!a)b", "", /lookbehind/],
    ["(a)\\1", "", /backreferences/],
    ["(?<n>a)\\k<n>", "", /backreferences/],
    ["a{1001}", "", /1000 times/],
    ["(a{1000}){1000}", "", /too large/],
    ["(?:a{99}){99}", "", /too large/],
    ["(?:[ab]{60}c?){99}", "", /too large/],
    ["a".repeat(5000), "", /4096 characters/],
    ["\\p{L}".repeat(65), "u", /64 Unicode properties/],
    ["\\ud83d", "u", /surrogates/],
    ["\\012", "", /octal/],
  ])("%p is refused", (source, flags, message) => {
    expect(patternFault(source, flags)).toMatch(message);
  });

  test.each([
    ["^(a+)+$", `${"a".repeat(50_000)}!`],
    ["^(a|aa)+$", `${"a".repeat(50_000)}!`],
    ["(x+x+)+y", "x".repeat(50_000)],
    ["(.*)*z", "a".repeat(50_000)],
    ["(?:a?){20}a{20}b", "a".repeat(50_000)],
    ["\\s+$", `${" ".repeat(50_000)}x`],
  ])("%s takes time in proportion to the text", (source, text) => {
    const pattern = new Pattern(source);
    pattern.test(text.slice(0, 1000));
    expect(cpuTimeOf(() => pattern.test(text))).toBeLessThan(2_000);
  });
});
