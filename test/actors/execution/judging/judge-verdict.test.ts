/** Reading verdicts out of whatever a judge says, and telling a judge what it needs within bounds. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type JudgedRun, judgeInput, readVerdict } from "../../../../actors/execution/judging/judge-verdict.ts";
import { cpuTimeOf } from "../../../harness/cpu-time.ts";

describe("readVerdict", () => {
  test.each([
    ["plain", '{"score":0.9,"confidence":0.5,"reasoning":"neat"}', { score: 0.9, confidence: 0.5, reasoning: "neat" }],
    ["confidence is 0.8 when not said", '{"score":1}', { score: 1, confidence: 0.8, reasoning: "" }],
    ["in a fence", 'So:\n```json\n{"score": 0.25}\n```\nDone.', { score: 0.25 }],
    [
      "after prose with braces",
      'In f() { return } I see {x}. {"score":0.5,"reasoning":"}{"}',
      { score: 0.5, reasoning: "}{" },
    ],
    ["an escaped quote", '{"reasoning":"say \\"}\\" twice","score":0}', { score: 0, reasoning: 'say "}" twice' }],
    ["the first object counts", '{"score":0.1} {"score":0.9}', { score: 0.1 }],
    ["nested", '{"score":0.4,"metadata":{"a":{"b":1}}}', { score: 0.4, metadata: { a: { b: 1 } } }],
    [
      "signals",
      '{"score":1,"signals":[{"category":"style","score":2,"message":"m"},7]}',
      {
        signals: [{ category: "style", score: 2, message: "m" }],
      },
    ],
    ["reasoning of another type", '{"score":1,"reasoning":["a"]}', { score: 1, reasoning: "" }],
    ["NUL in the reasoning", '{"score":1,"reasoning":"a\\u0000b\\ud800"}', { reasoning: "a\ufffdb\ufffd" }],
  ])("%s", (_, output, verdict) => {
    expect(readVerdict(output)).toMatchObject(verdict);
  });

  test.each([
    ["nothing", ""],
    ["prose", "I would give it 0.9"],
    ["no score", '{"confidence":1}'],
    ["the first object has none, the second has", '{"note":1} {"score":1}'],
    ["score above 1", '{"score":1.01}'],
    ["score below 0", '{"score":-0.1}'],
    ["a score as text", '{"score":"0.9"}'],
    ["confidence out of range", '{"score":0.9,"confidence":80}'],
    ["confidence null", '{"score":0.9,"confidence":null}'],
    ["an array", "[0.9]"],
    ["never closed", '{"score":0.9'],
    ["inside one that is too long", `{"score":0,"reasoning":"${"x".repeat(70_000)}","metadata":{"score":1}}`],
    ["too many braces", `${"{".repeat(200_000)}`],
    ["braces around nothing", `${"{}}{".repeat(50_000)}`],
  ])("no verdict: %s", (_, output) => {
    expect(cpuTimeOf(() => expect(readVerdict(output)).toBeNull())).toBeLessThan(2000);
  });

  test("where allowed, other members replace a missing reasoning, in that order", () => {
    const names = ["reasoning", "feedback", "message"];
    const read = (found: object, reasons?: readonly string[]) =>
      readVerdict(JSON.stringify({ score: 1, ...found }), reasons)?.reasoning;
    expect(read({ feedback: "f", message: "m" }, names)).toBe("f");
    expect(read({ message: "m" }, names)).toBe("m");
    expect(read({ reasoning: "", feedback: "f" }, names)).toBe("");
    expect(read({ reasoning: 7, feedback: "f" }, names)).toBe("f");
    expect(read({ feedback: "f" })).toBe("");
  });

  test("nothing it reads makes it throw, and what it keeps is bounded", () => {
    const deep = (value: string) => `{"score":1,"metadata":${value}}`;
    for (const hostile of [
      deep("[".repeat(30_000) + "]".repeat(30_000)),
      deep(`${'{"a":'.repeat(9_000)}1${"}".repeat(9_000)}`),
    ]) {
      expect(() => readVerdict(hostile)).not.toThrow();
    }
    const long = "é".repeat(30_000);
    const kept = readVerdict(JSON.stringify({ score: 1, reasoning: long, metadata: { long } }));
    expect(kept?.metadata).toEqual({});
    expect(Buffer.byteLength(kept?.reasoning ?? "")).toBeLessThanOrEqual(4096);
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.json()), (text) => {
        const verdict = readVerdict(text);
        if (verdict !== null) expect(verdict.score).toBeWithin(0, 1.0000001);
      }),
    );
  });
});

describe("judgeInput", () => {
  const run: JudgedRun = {
    task: "Sort",
    output: "{}",
    criteria: "sorted",
    iteration: 2,
    context: "semantic_judge",
    calls: [],
    violations: ["web.fetch"],
    mounts: [{ name: "workspace", volume_id: "v", mount_path: "/workspace", access_mode: "read-write" }],
  };

  test("has a fixed set of members, for a tool judge two more", () => {
    expect(judgeInput(run)).toEqual({
      task: "Sort",
      output: "{}",
      criteria: "sorted",
      iteration_number: 2,
      validation_context: "semantic_judge",
      tool_audit_history: [],
      policy_violations: ["web.fetch"],
      worker_mounts: [{ name: "workspace", volume_id: "v", mount_path: "/workspace", access_mode: "read-write" }],
    });
    const call = { tool: "fs.write", arguments: { path: "a", content: "\0" } };
    expect(judgeInput({ ...run, context: "tool_judge", call })).toMatchObject({
      tool_name: "fs.write",
      arguments: { path: "a", content: "\ufffd" },
    });
  });

  test("stays below the limit of an input for any output", () => {
    const nasty = "\u0001".repeat(1_048_576);
    const calls = Array.from({ length: 500 }, () => ({
      tool_name: "fs.read",
      arguments_json: nasty,
      status: "failed",
      result_json: nasty,
      error: nasty,
    }));
    const input = judgeInput({
      ...run,
      task: nasty.slice(0, 4096),
      output: nasty,
      calls,
      violations: Array.from({ length: 5000 }, () => "web.fetch"),
      call: { tool: "cmd.run", arguments: { command: nasty } },
    });
    expect(Buffer.byteLength(JSON.stringify(input))).toBeLessThan(1_048_576);
    expect(input.arguments).toHaveProperty("trimmed");
    expect(input.tool_audit_history).toHaveLength(50);
  });
});
