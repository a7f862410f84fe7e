/** What router replies mean (docs/reference/stimuli.md). */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  agentFailed,
  doubtOf,
  isAllowed,
  readReply,
  unknownWorkflow,
} from "../../../actors/stimulus/classification.ts";

const fence = "```";
const reply = (value: unknown) => JSON.stringify(value);

test.each([
  [reply({ workflow: "refund", confidence: 0.9, reasoning: "says so" }), ["refund", 0.9, "says so"]],
  [reply({ workflow_id: "a", workflow: "b", workflow_name: "c", confidence: 1 }), ["a", 1, null]],
  [reply({ workflow_name: "c", workflow: "b", confidence: 0 }), ["b", 0, null]],
  [reply({ workflow_id: null, workflow_name: "c" }), ["c", 0, null]],
  [reply({ workflow: "a" }), ["a", 0, null]],
  [reply({ workflow: "  a\n", confidence: -0 }), ["a", 0, null]],
  [reply({ workflow: "", confidence: 1 }), ["", 1, null]],
  [`{"workflow":"a","confidence":0.7}`, ["a", 0.7, null]],
  [`{"workflow":"a","confidence":-0.0}`, ["a", 0, null]],
  [`${fence}json\n{"workflow":"a","confidence":1}\n${fence}`, ["a", 1, null]],
  [`\n ${fence}\n{"workflow_id":"a","confidence":1}\n${fence} \n`, ["a", 1, null]],
  [`  {"workflow":"a","confidence":1}\n`, ["a", 1, null]],
  [`{"workflow":"a","workflow":"b","confidence":1}`, ["b", 1, null]],
  [`{"workflow":"a","confidence":1,"__proto__":{"confidence":0.1},"constructor":1}`, ["a", 1, null]],
  [reply({ workflow: "a", confidence: 1, reasoning: { deep: 1 } }), ["a", 1, null]],
  [reply({ workflow: "a\0b", reasoning: "x\0\ud800" }), ["a\ufffdb", 0, "x\ufffd\ufffd"]],
  [reply({ workflow: "w".repeat(9999), reasoning: "r".repeat(9999) }), ["w".repeat(256), 0, "r".repeat(4096)]],
])("reply %# is read", (text, [workflow, confidence, reasoning]) => {
  expect(readReply(text)).toStrictEqual({ workflow, confidence, reasoning } as never);
});

test.each([
  ["I would say it is a refund."],
  [""],
  ["null"],
  ["[]"],
  ['"refund"'],
  ["17"],
  ["{}"],
  ['{"confidence":1}'],
  ['{"workflow":7,"confidence":1}'],
  ['{"workflow":null,"confidence":0}'],
  ['{"workflow":{"name":"a"},"confidence":1}'],
  ['{"workflow":["a"],"confidence":1}'],
  ['{"__proto__":{"workflow":"a"},"confidence":1}'],
  ['{"workflow":"a","confidence":1.0000001}'],
  ['{"workflow":"a","confidence":-0.1}'],
  ['{"workflow":"a","confidence":"0.9"}'],
  ['{"workflow":"a","confidence":null}'],
  ['{"workflow":"a","confidence":true}'],
  ['{"workflow":"a","confidence":1e999}'],
  ['{"workflow":"a","confidence":NaN}'],
  ['{"workflow":"a","confidence":1}}'],
  [`Here:\n${fence}json\n{"workflow":"a","confidence":1}\n${fence}`],
  [`${fence}\n${fence}json\n{"workflow":"a","confidence":1}\n${fence}\n${fence}`],
  ["[".repeat(200_000)],
  [`${'{"workflow":'.repeat(20_000)}1${"}".repeat(20_000)}`],
  [reply({ workflow: "a", confidence: 1, reasoning: "r".repeat(300_000) })],
])("reply %# cannot be used", (text) => {
  expect(readReply(text)).toMatchObject({ fault: { code: "classification_parse_error", extras: {} } });
});

describe("the threshold", () => {
  const of = (confidence: number) => ({ workflow: "refund", confidence, reasoning: "order number missing" });

  test.each([
    [0.7, 0.7, true],
    [0.69, 0.7, false],
    [0.699_999_999_9, 0.7, false],
    [0, 0, true],
    [1, 1, true],
    [0.999, 1, false],
  ])("%d with threshold %d passes: %p", (confidence, threshold, passes) => {
    expect(doubtOf(of(confidence), threshold) === null).toBe(passes);
  });

  test("a doubtful reply is told with all it said", () => {
    expect(doubtOf(of(0.41), 0.7)).toEqual({
      code: "classification_failed",
      message: "No workflow matched with enough confidence",
      extras: { confidence: 0.41, threshold: 0.7, workflow: "refund", reasoning: "order number missing" },
    });
  });
});

test("an agent that fails is told with its execution, one that never started without", () => {
  const failure = { reason: "timed_out", message: "too late" } as const;
  expect(agentFailed(failure, "e-1")).toEqual({
    code: "router_agent_failed",
    message: "too late",
    extras: { reason: "timed_out", router_execution_id: "e-1" },
  });
  expect(agentFailed({ ...failure, reason: "refused" }, null).extras).toEqual({
    reason: "refused",
    router_execution_id: null,
  });
  expect(unknownWorkflow({ workflow: "x", confidence: 1, reasoning: null }).extras).toEqual({ workflow: "x" });
});

describe("what may be chosen", () => {
  const of = (workflow_id: string, owner: string, name: string) => ({ workflow_id, owner, name });
  const own = of("1", "acme", "refund");
  const everybodys = of("2", "*", "shared");
  const named = { ...own, pinned: false };

  test.each([
    ["own, nothing listed", own, null, true],
    ["everybody's, nothing listed", everybodys, null, false],
    ["another tenant's, nothing listed", of("3", "other", "refund"), null, false],
    ["own, nothing admitted", own, [], false],
    ["everybody's, listed", everybodys, [{ ...everybodys, pinned: false }], true],
    ["another version of what is listed by name", of("9", "acme", "refund"), [named], true],
    ["another version of what is listed by UUID", of("9", "acme", "refund"), [{ ...own, pinned: true }], false],
    ["everybody's of the same name", of("8", "*", "refund"), [named], false],
    ["own, not listed", own, [{ ...everybodys, pinned: false }], false],
  ])("%s: %p", (_, found, listed, allowed) => {
    expect(isAllowed(found, "acme", listed)).toBe(allowed);
  });
});

test("no reply makes it throw, and every result is in bounds", () => {
  const key = fc.constantFrom("workflow_id", "workflow", "workflow_name", "confidence", "reasoning", "__proto__", "x");
  const value = fc.oneof(fc.jsonValue(), fc.string({ unit: "binary" }), fc.double());
  const text = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.json(),
    fc.array(fc.tuple(key, value)).map((members) => {
      const inside = members.map(([name, one]) => `${JSON.stringify(name)}:${JSON.stringify(one)}`).join();
      return `{${inside}}`;
    }),
  );
  fc.assert(
    fc.property(text, fc.boolean(), (one, isFenced) => {
      const read = readReply(isFenced ? `${fence}json\n${one}\n${fence}` : one);
      if ("fault" in read) return read.fault.code === "classification_parse_error";
      const storable = [read.workflow, read.reasoning ?? ""].every(
        (kept) => kept.isWellFormed() && !kept.includes("\0"),
      );
      return storable && read.confidence >= 0 && read.confidence <= 1;
    }),
    { numRuns: 500 },
  );
});
