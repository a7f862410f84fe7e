/** What validators measure, one at a time (docs/reference/executions.md). */
import { expect, test } from "bun:test";
import type { JudgeValidator, Validator } from "../../../../../actors/agent/manifest/execution/results.ts";
import { measureOne } from "../../../../../src/features/executions/iteration/validation/validation.ts";

const passing = { min_score: 1, min_confidence: 0 };
const signal = new AbortController().signal;
const measure = (validator: object, work: { output?: string; stderr?: string; exit_code?: number }) =>
  measureOne(
    "free",
    { ...passing, ...validator } as Exclude<Validator, JudgeValidator>,
    { output: "", stderr: "", exit_code: 0, ...work },
    signal,
  );

const schema = (value: unknown, target_path: string | null = null) => ({
  type: "json_schema",
  schema: value,
  target_path,
});
const regex = (pattern: string, target = "stdout", flags = "") => ({ type: "regex", pattern, target, flags });

test.each([
  ["equal, quiet", { type: "exit_code", expected: 0 }, {}, 1],
  ["equal, with stderr", { type: "exit_code", expected: 0 }, { stderr: "warning" }, 0.85],
  ["unequal", { type: "exit_code", expected: 3 }, { exit_code: 1 }, 0],
  ["regex matches anywhere", regex("b+"), { output: "abbc" }, 1],
  ["regex without match", regex("^b"), { output: "abbc" }, 0],
  ["regex flags", regex("^B.c$", "stdout", "ims"), { output: "a\nb\nc" }, 1],
  ["regex on stderr sees only that", regex("x", "stderr"), { output: "x" }, 0],
  ["regex on stderr", regex("x", "stderr"), { stderr: "x" }, 1],
  ["broken regex", regex("("), { output: "(" }, 0],
  ["schema", schema({ type: "object", required: ["a"] }), { output: '{"a":1}' }, 1],
  ["schema in a fence", schema({ type: "array" }), { output: "```json\n[]\n```" }, 1],
  ["schema, text around the JSON", schema({ type: "array" }), { output: "here: []" }, 0],
  ["schema, no JSON", schema({}), { output: "{" }, 0],
  ["schema at a path", schema({ const: 2 }, "a.0.b"), { output: '{"a":[{"b":2}]}' }, 1],
  ["schema at a missing path", schema({}, "a.b"), { output: '{"a":{}}' }, 0],
  ["schema at an inherited path", schema({}, "constructor"), { output: "{}" }, 0],
  [
    "draft-07 by $schema",
    schema({ $schema: "http://json-schema.org/draft-07/schema#", items: [{ type: "string" }] }),
    { output: '["a",1]' },
    1,
  ],
  ["2020-12", schema({ prefixItems: [{ type: "string" }], items: false }), { output: '["a",1]' }, 0],
  ["a schema that is none", schema({ type: 7 }), { output: "1" }, 0],
])("%s", async (_, validator, work, score) => {
  expect(await measure(validator, work)).toMatchObject({ score, confidence: 1 });
});

test("feedback names what is wrong", async () => {
  const value = {
    type: "object",
    required: ["lanes"],
    properties: { n: { type: "integer" } },
    additionalProperties: false,
  };
  const { feedback } = await measure(schema(value), { output: '{"n":"x","extra":1}' });
  expect(feedback).toBe(
    "output: required property lanes is missing\noutput: property extra is not allowed\noutput.n: must be integer",
  );
});

test.each([
  ["pattern", regex("^(a+)+$")],
  ["schema pattern", schema({ type: "string", pattern: "^(a+)+$" })],
])("a %s that would backtrack for ever is answered", async (_, validator) => {
  const output = JSON.stringify(`${"a".repeat(5000)}!`);
  const found = await measure(validator, { output });
  expect(found).toMatchObject({ score: 0 });
  expect(found.details).not.toHaveProperty("reason");
});

test.each([
  ["pattern", regex("(?=a)a"), "invalid_pattern", /lookahead/],
  ["schema", schema({ pattern: "(a)\\1" }), undefined, /backreferences/],
])("a stored %s that would have to backtrack fails and says so", async (_, validator, reason, message) => {
  const found = await measure(validator, { output: '"aa"' });
  expect(found).toMatchObject({ score: 0, feedback: expect.stringMatching(message) });
  expect((found.details as { reason?: string }).reason).toBe(reason);
});

test("a schema whose check takes too long ends with its budget", async () => {
  const items = Array.from({ length: 60_000 }, (_, index) => ({ index }));
  const found = await measure(schema({ uniqueItems: true }), { output: JSON.stringify(items) });
  expect(found).toMatchObject({ score: 0, details: { reason: "budget_exceeded" } });
});
