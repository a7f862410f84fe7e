/** What is kept of an error, and of the answer that helped (docs/reference/cortex.md). */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { firstFencedBlock } from "../../../actors/cortex/fence.ts";
import { beginningOf, passedLesson } from "../../../actors/cortex/lesson.ts";
import { signatureOf, withoutParticulars } from "../../../actors/cortex/signature.ts";
import { skillOf } from "../../../actors/cortex/skills.ts";
import { iterative, lanes } from "../execution/lifecycle-fixture.ts";
import { Story } from "../execution/scenario.ts";

describe("the signature of an error", () => {
  test.each([
    ["ids", "run 0192c0de-0000-7000-8000-00000000000a of 9f86d081884c7d65 failed", "run <id> of <id> failed"],
    ["numbers", "line 17: got -3.5e2 of 1,024 (98%)", "line <n>: got <n> of <n> (<n>)"],
    ["units", "no answer within 30000ms", "no answer within <n>ms"],
    ["paths", "cannot open /workspace/out/a.csv or C:\\data\\x.txt", "cannot open <path> or <path>"],
    ["relative paths", "in src/lanes/read.py and ../x/y", "in <path> and <path>"],
    ["quoted values", `field "lane" is 'north' and can't be \`x\``, "field <value> is <value> and can't be <value>"],
    ["times", "at 2031-04-02T09:00:00.123Z, or 2031-04-02, or 09:15", "at <time>, or <time>, or <time>"],
    ["addresses", "GET https://api.example.test/v1/x?id=5 answered 503", "get <url> answered <n>"],
    ["hidden values", "refused ******** and **********", "refused <hidden> and <hidden>"],
    ["lines and case", "  ValueError:\n\n\tNo Lane ", "valueerror: no lane"],
  ])("has no %s", (_, message, left) => {
    expect(withoutParticulars(message)).toBe(left);
  });

  test("tells errors apart by their words and their type", () => {
    const signatures = ["no lane", "no gate"].flatMap((message) => [
      signatureOf("nonzero_exit", message),
      signatureOf("validation_rejected", message),
    ]);
    expect(new Set(signatures).size).toBe(4);
  });

  const piece = fc.oneof(
    fc.string(),
    fc.constantFrom("'", '"', "`", "/", "a/b", "it's ", "<n>", "12:", ":34", "2031-01-", "0x", "*", "\n", "c:\\"),
    fc.uuid(),
    fc.integer().map(String),
  );

  test("of a signature is the signature itself", () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const once = withoutParticulars(pieces.join(""));
        expect(withoutParticulars(once)).toBe(once);
        expect(once.length).toBeLessThanOrEqual(500);
      }),
      { numRuns: 2_000 },
    );
  });

  test("does not depend on ids, numbers, paths, times and quoted values", () => {
    const particulars = fc.record({
      id: fc.uuid(),
      count: fc.nat(),
      path: fc.array(fc.stringMatching(/^[a-z0-9_.-]{1,12}$/), { minLength: 1, maxLength: 5 }),
      at: fc.date({ min: new Date(0), max: new Date("2200-01-01"), noInvalidDate: true }),
      value: fc.stringMatching(/^[^"]{0,30}$/),
    });
    const told = ({ id, count, path, at, value }: typeof particulars extends fc.Arbitrary<infer T> ? T : never) =>
      signatureOf(
        "nonzero_exit",
        `${at.toISOString()} step ${count} of ${id}: /${path.join("/")} has "${value}" there`,
      );
    fc.assert(
      fc.property(particulars, particulars, (one, other) => {
        expect(told(one)).toBe(told(other));
      }),
    );
  });

  test.each(["'a".repeat(5_000), '"'.repeat(5_001), "/a".repeat(5_000), "a:b.c-1".repeat(3_000), "1.".repeat(9_000)])(
    "of a hostile text %# is short",
    (text) => {
      expect(withoutParticulars(text).length).toBeLessThanOrEqual(500);
    },
  );
});

describe("an answer", () => {
  test.each([
    ["none", "no code here `x`", null],
    ["the first of two", "a\n```python\nprint(1)\n```\nb\n```\n2\n```", "print(1)"],
    ["tildes with backticks inside", "~~~\n```\nx\n```\n~~~", "```\nx\n```"],
    ["a longer fence", "````md\n```\nx\n```\n````\n", "```\nx\n```"],
    ["one that is not closed", "```sh\nls\ncat", "ls\ncat"],
    ["an empty one", "```\n```", ""],
    ["a line with backticks in its info", "``` a`b\nx\n```", ""],
    ["Windows lines", "```\r\na\r\nb\r\n```\r\n", "a\nb"],
  ])("has a fenced block: %s", (_, text, code) => {
    expect(firstFencedBlock(text)).toBe(code);
  });

  test("is cut at a whole character, within 8 KiB", () => {
    const of = { execution_id: "x", iteration_number: 2 };
    for (const [text, bytes] of [
      ["é".repeat(5_000), 8_192],
      [`a${"é".repeat(5_000)}`, 8_191],
      ["😀".repeat(3_000), 8_192],
      [`ab${"😀".repeat(3_000)}`, 8_190],
      ["short\0", 8],
    ] as const) {
      const lesson = passedLesson({ ...of, answer: text });
      const answer = lesson.kind === "passed" ? lesson.answer : "";
      expect(Buffer.byteLength(answer)).toBe(bytes);
      expect(answer.isWellFormed()).toBe(true);
    }
    expect(beginningOf("whole", 5)).toBe("whole");
  });
});

describe("turns put on record", () => {
  const lessons = (story: Story) => story.sim.facts.filter(({ name }) => name === "cortex_lesson");

  test("each lost iteration once, and the answer that passed", () => {
    const story = new Story({ header: iterative(3), plan: { validators: [lanes] } }).start().launch();
    story.exit("{}").validated("{}", 0);
    story.launch().exit("", 7, { stderr: "boom\n" });
    story.launch().exit('{"lanes":[]}').validated('{"lanes":[]}', 1);
    expect(story.record().status).toBe("completed");
    expect(lessons(story).map(({ fact }) => fact)).toMatchObject([
      { kind: "lost", iteration_number: 1, error_type: "validation_rejected", is_last: false },
      { kind: "lost", iteration_number: 2, error_type: "nonzero_exit", is_last: false },
      { kind: "passed", iteration_number: 3, answer: '{"lanes":[]}' },
    ]);
  });

  test("nothing of a first iteration that passes, and which loss is the last", () => {
    expect(lessons(new Story().start().launch().exit("fine"))).toEqual([]);
    const last = (story: Story) => lessons(story).map(({ fact }) => (fact as { is_last: boolean }).is_last);
    expect(last(new Story().start().launch().exit("", 1))).toEqual([true]);
    const twice = new Story({ header: iterative(2) }).start().launch().exit("", 1);
    expect(last(twice.launch().exit("", 1))).toEqual([false, true]);
    const fatal = new Story({ header: iterative(5) }).start().launch();
    fatal.sim.fail(`run:${fatal.instance}`, "volume_error");
    expect(last(fatal)).toEqual([true]);
  });

  test("no loss of an instance that only begins again", () => {
    const story = new Story({ header: iterative(2) }).start().launch();
    story.lose();
    expect(lessons(story)).toEqual([]);
  });
});

test("a skill is advanced from five solved patterns on", () => {
  const sum = { error_type: "out_of_memory", patterns: 9, frequency: 30, successes: 6, total: 12 };
  expect(skillOf({ ...sum, solved: 4 })).toMatchObject({ level: "basic", category: "resources", success_rate: 0.5 });
  expect(skillOf({ ...sum, solved: 5 })).toMatchObject({ level: "advanced", usage_count: 30, pattern_count: 9 });
  expect(skillOf({ ...sum, total: 0, solved: 0 }).success_rate).toBe(0);
});
