import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ExpressionError, evaluateExpression, parseExpression } from "../../../actors/template/expression.ts";

const variables = {
  REVIEW: { score: 0.9, output: { tags: ["a", "b"], ok: true, name: "it's" } },
  "A-B": { status: "success" },
  count: 3,
  text: "10",
  empty: "",
  none: null,
  state_output: { exit_code: 0, stdout: "done" },
};
const holds = (text: string) => evaluateExpression(parseExpression(text), variables);

describe("an expression", () => {
  test.each<[string, boolean]>([
    ["REVIEW.score > 0.8", true],
    ["REVIEW.score>0.8&&count==3", true],
    ["REVIEW.score <= 0.8 || count != 3", false],
    ["REVIEW.score <= 0.8 || count != 3 || true", true],
    ["true || false && false", true],
    ["(true || false) && false", false],
    ["!empty && !!count", true],
    ["!(count == 3)", false],
    ["! count == false", true],
    ["REVIEW.output.tags.[1] == 'b'", true],
    ['REVIEW.output.tags.1 == "b"', true],
    ["REVIEW.output.name == 'it\\'s'", true],
    ["A-B.status == 'success'", true],
    ["[A-B].status == 'success'", true],
    ["text > 9", true],
    ["text == 10", false],
    ["-1 < count", true],
    ["1e2 >= 100.0", true],
    ["missing == null", true],
    ["none == null && missing.more == none", true],
    ["missing < 1", false],
    ["REVIEW > 1", false],
    ["state_output.exit_code == 0", true],
    ["'a' < 'b'", true],
    ["REVIEW.output.tags", true],
    ["constructor", false],
    ["__proto__.x == null", true],
    ["REVIEW.output.tags.length > 0", false],
    ["eq count 3", true],
    ["(eq count 3)", true],
    ["and (gt count 2) (not empty)", true],
    ["includes REVIEW.output.tags 'b'", true],
    ["@root.count", true],
    ["  count  ==\n3 ", true],
  ])("%p: %p", (text, wanted) => {
    expect(holds(text)).toBe(wanted);
  });

  test.each([
    "",
    "   ",
    "a ==",
    "== a",
    "a b",
    "a == b == c",
    "(a",
    "a)",
    "a && || b",
    "a = b",
    "a & b",
    "'open",
    "a..b",
    "a.",
    "odd a b",
    "{{a}}",
    "a; b",
    "a ? b : c",
    "a + 1",
    "a+1",
    "a&b",
    "a;b",
    "1e999 == 1",
    "\0",
    `${"(".repeat(40)}a${")".repeat(40)}`,
    `${"!".repeat(40)}a`,
    `a == '${"x".repeat(5000)}'`,
  ])("%p is refused with a reason", (text) => {
    expect(() => parseExpression(text)).toThrow(ExpressionError);
  });

  test("that takes too long counts as false, and says so", () => {
    const long = "x".repeat(5_000_000);
    const faults: string[] = [];
    const expression = parseExpression(`${Array(50).fill("a != b").join(" || ")} || a == b`);
    expect(evaluateExpression(expression, { a: long, b: `${long}` }, (fault) => faults.push(fault))).toBe(false);
    expect(faults).toEqual(["The template takes too long"]);
  });

  test("is read or refused, never anything else", () => {
    const piece = fc.constantFrom(
      "a",
      ".",
      "==",
      "<",
      "(",
      ")",
      "!",
      "&&",
      "||",
      "'x'",
      "1",
      " ",
      "null",
      "[",
      "]",
      "-",
      "eq ",
      "{{",
      "}}",
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.array(piece).map((pieces) => pieces.join("")),
          fc.string(),
        ),
        (text) => {
          try {
            expect(typeof holds(text)).toBe("boolean");
          } catch (error) {
            expect(error).toBeInstanceOf(ExpressionError);
          }
        },
      ),
      { numRuns: 1500 },
    );
  });

  test("means what the same expression means in JavaScript", () => {
    const atom = fc.constantFrom("0", "1", "2", "true", "false");
    const { expression } = fc.letrec<{ expression: string }>((tie) => ({
      expression: fc.oneof(
        { depthSize: "small", withCrossShrink: true },
        atom,
        fc
          .tuple(tie("expression"), fc.constantFrom("&&", "||"), tie("expression"))
          .map((three) => `(${three.join(" ")})`),
        fc.tuple(tie("expression"), fc.constantFrom("&&", "||"), tie("expression")).map((three) => three.join(" ")),
        tie("expression").map((one) => `!(${one})`),
        fc
          .tuple(fc.integer({ min: -3, max: 3 }), fc.constantFrom("==", "!=", "<", "<=", ">", ">="), fc.nat(3))
          .map((three) => three.join(" ")),
      ),
    }));
    fc.assert(
      fc.property(
        expression.filter((text) => text.length < 2000),
        (text) => {
          const wanted = Boolean(new Function(`return ${text};`)());
          let found: boolean;
          try {
            found = holds(text);
          } catch {
            return;
          }
          expect(found).toBe(wanted);
        },
      ),
    );
  });
});
