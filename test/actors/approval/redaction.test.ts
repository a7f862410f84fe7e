/** What looks like a secret in arguments of tool calls (docs/reference/approvals.md). */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { redactedArguments } from "../../../actors/approval/redaction.ts";
import { restored } from "../../../actors/approval/shown.ts";
import type { Json } from "../../../actors/kernel/json.ts";

const text = (given: string) => redactedArguments({ text: given }).text;
const jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl";

test.each([
  ["authorization header", "Authorization: Bearer abcdefgh12345", "Authorization: Bearer [redacted]"],
  ["address with a password", "postgres://app:s3cr3t@db:5432/x", "postgres://app:[redacted]@db:5432/x"],
  ["assignment", "export API_KEY='abcd1234' x", "export API_KEY='[redacted]' x"],
  ["JSON", '{"password": "hunter2hunter2", "n": 1}', '{"password": "[redacted]", "n": 1}'],
  ["query", "?token=abcdef&next=1", "?token=[redacted]&next=1"],
  ["signed token", `curl -d ${jwt} x`, "curl -d [redacted] x"],
  ["signed token in a name", `a-${jwt}.b`, "a-[redacted].b"],
  ["vendor key", "key sk-abcdefghijklmnop1234 and AKIAABCDEFGHIJKLMNOP", "key [redacted] and [redacted]"],
  ["private key", "-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----", null],
  ["none", "the secretary said: tokens are words, a.b.c eyJ", "the secretary said: tokens are words, a.b.c eyJ"],
])("%s", (_, given, shown) => {
  if (shown === null)
    expect(text(given)).toBe("-----BEGIN RSA PRIVATE KEY-----[redacted]-----END RSA PRIVATE KEY-----");
  else expect(text(given)).toBe(shown);
});

test("texts of members named like secrets are left out, at every depth; numbers stay", () => {
  const given = {
    apiKey: "a",
    "X-Access-Token": ["b", { c: "d", n: 5 }],
    list: [{ password: "e" }],
    empty: { token: "" },
  };
  expect(redactedArguments(given)).toEqual({
    apiKey: "[redacted]",
    "X-Access-Token": ["[redacted]", { c: "[redacted]", n: 5 }],
    list: [{ password: "[redacted]" }],
    empty: { token: "" },
  });
});

/** Each would keep a pattern that looks back again and again busy for minutes. */
describe("megabytes of what a model writes to keep a node busy", () => {
  const size = 1_000_000;
  test.each([
    "y",
    "eyJ-",
    "eyJabcdefgh.",
    "a.",
    "password ",
    "bearer ",
    "a://b:",
    "-----BEGIN ",
    "-----END A",
    "sk-",
    " =",
  ])("%s, over and over", (part) => {
    expect(typeof text(part.repeat(size / part.length))).toBe("string");
  });

  test("an edit of thousands of secrets", () => {
    const given = { text: "token=abcd ".repeat(5000) };
    const shown = redactedArguments(given);
    const edit = { text: `${shown.text as string}more` };
    expect(restored(edit, shown, given).value).toEqual({ text: `${given.text}more` });
  });
});

test("what an edit leaves as it was shown is the original, of any secrets", () => {
  const secret = fc.constantFrom(
    jwt,
    "password=abcd1234",
    "Bearer abcdefgh1234",
    "postgres://u:pass@h",
    "plain",
    "sk-",
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(secret, fc.string()), { maxLength: 6 }), (parts) => {
      const given = { text: parts.map((pair) => pair.join(" ")).join(" "), other: "kept" };
      const shown = redactedArguments(given);
      expect(restored(shown as Json, shown, given)).toEqual({ value: given, faults: [] });
      const { value, faults } = restored({ ...shown, other: "changed" }, shown, given);
      expect([value, faults]).toEqual([{ ...given, other: "changed" }, []]);
    }),
    { numRuns: 200 },
  );
});
