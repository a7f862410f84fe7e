import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createModels } from "../../../src/adapters/models/models.ts";
import type { ModelMessage } from "../../../src/adapters/models/port.ts";
import { compileTemplate, renderTemplate } from "../../../src/adapters/models/scripted/script-template.ts";
import { scriptBlock } from "../../../src/adapters/models/scripted/scripted.ts";
import { aCall, configOf, failureOf, outcome, quickTiming } from "./fixture.ts";

const fenced = (script: unknown) =>
  `Do it.\n\`\`\`svc-script\n${typeof script === "string" ? script : JSON.stringify(script)}\n\`\`\`\nThanks.`;

function models(rules?: readonly unknown[], files?: Record<string, string>) {
  const timing = quickTiming();
  const source = rules ? { rules } : files ? { rules_file: Object.keys(files)[0] } : {};
  const provider = {
    name: "script",
    type: "scripted",
    models: ["default", "smart"].map((alias) => ({ alias, model: "m" })),
    ...source,
  };
  return Object.assign(
    createModels({ config: configOf({ llm_providers: [provider], llm_selection: { max_retries: 1 } }, files), timing }),
    { timing },
  );
}

/** A conversation that is `rounds` assistant messages old. */
function after(prompt: string, rounds: number, last = "done"): ModelMessage[] {
  const messages: ModelMessage[] = [
    { role: "system", content: "rules" },
    { role: "user", content: prompt },
  ];
  for (let round = 0; round < rounds; round++) {
    messages.push({
      role: "assistant",
      content: "",
      tool_calls: [{ id: `c${round}`, name: "cmd.run", arguments: {} }],
    });
    messages.push({ role: "tool", tool_call_id: `c${round}`, content: last });
  }
  return messages;
}

async function say(messages: readonly ModelMessage[], iteration = 1, by = models()) {
  return (await by.generate(aCall({ messages, iteration }))).content;
}

describe("inline scripts", () => {
  const rounds = fenced([{ content: "a" }, { content: "b" }]);
  const iterations = fenced({
    "1": [{ content: "1a" }, { content: "1b" }],
    "2": { content: "two" },
    "*": [{ content: "any" }],
  });
  test.each([
    ["array, round 0", rounds, 0, 1, "a"],
    ["array, round 1", rounds, 1, 1, "b"],
    ["the last repeats", rounds, 9, 1, "b"],
    ["array, whatever the iteration", rounds, 0, 7, "a"],
    ["object, iteration 1, round 1", iterations, 1, 1, "1b"],
    ["object, one reply without a list", iterations, 5, 2, "two"],
    ["object, *", iterations, 0, 3, "any"],
    ["the last block counts", `${rounds}\n${fenced([{ content: "later" }])}`, 0, 1, "later"],
    ["other fences do not count", `${rounds}\n\`\`\`json\n[{"content":"no"}]\n\`\`\``, 0, 1, "a"],
    ["tildes, indentation, carriage returns", '  ~~~~ svc-script\r\n[{"content":"t"}]\r\n  ~~~~\r\nrest', 0, 1, "t"],
    ["a block that is never closed", '```svc-script\n[{"content":"open"}]', 0, 1, "open"],
    ["an unclosed fence before it", `\`\`\`\nhistory\n\n${rounds}`, 0, 1, "a"],
    ["values", fenced([{ content: "{{iteration}}/{{round}}: {{last}}" }]), 2, 4, "4/2: done"],
    [
      "other values are empty inline",
      fenced([{ content: "[{{prompt}}{{alias}}{{agent}}{{match}}{{nothing}}]" }]),
      0,
      1,
      "[]",
    ],
    ["nothing at all", fenced([{}]), 0, 1, ""],
  ])("%s", async (_, prompt, round, iteration, expected) => {
    expect(await say(after(prompt, round), iteration)).toBe(expected);
  });

  test("tool calls with ids of their own, usage given or counted", async () => {
    const calls = [{ name: "cmd.run", arguments: { command: "ls" } }, { name: "fs.list" }];
    const reply = await models().generate(aCall({ messages: after(fenced([{ tool_calls: calls }]), 3) }));
    expect(reply.toolCalls).toEqual([
      { id: "call_3_0", name: "cmd.run", arguments: { command: "ls" } },
      { id: "call_3_1", name: "fs.list", arguments: {} },
    ]);
    expect(reply.finishReason).toBe("tool_calls");
    const counted = await models().generate(
      aCall({ messages: [{ role: "user", content: fenced([{ content: "12345", usage: { input_tokens: 4 } }]) }] }),
    );
    expect(counted.usage).toEqual({ input_tokens: 4, output_tokens: 2 });
  });

  test.each([
    ["no JSON", "[{"],
    ["a number", "1"],
    ["a string", '"text"'],
    ["an empty list", "[]"],
    ["an empty object", "{}"],
    ["an empty list of an iteration", '{"1": []}'],
    ["an unknown member", '[{"contents": "x"}]'],
    ["a reply for no iteration", '{"first": {"content": "x"}}'],
    ["arguments that are no object", '[{"tool_calls": [{"name": "x", "arguments": [1]}]}]'],
    ["a call without a name", '[{"tool_calls": [{}]}]'],
    ["an unknown class", '[{"error": {"class": "tired"}}]'],
    ["a longer delay than allowed", '[{"delay_ms": 60001}]'],
    ["a bad reply that is not due yet", '[{"content": "fine"}, 7]'],
    ["a template that is none", '[{"content": "{{#if}"}]'],
    ["a partial", '[{"content": "{{> x}}"}]'],
    ["a decorator", '[{"content": "{{#*inline \\"x\\"}}{{> x}}{{/inline}}{{> x}}"}]'],
    ["a helper", '[{"content": "{{lookup last \\"constructor\\"}}"}]'],
    ["a loop", '[{"content": "{{#each last}}x{{/each}}"}]'],
    ["a text without end", JSON.stringify([{ content: "{{last}}".repeat(1000) }])],
  ])("malformed: %s", async (_, script) => {
    const failure = await failureOf(models(), aCall({ messages: after(fenced(script), 1, "y".repeat(5000)) }));
    expect(failure.errorClass).toBe("invalid_input");
    expect(failure.facts.attempts).toBe(1);
  });

  test("the place and the right name of what is malformed are told", async () => {
    const failure = await failureOf(models(), aCall({ messages: after(fenced('[{"contents": "x"}]'), 1) }));
    expect(failure.message).toContain("0.contents is not known here; did you mean content?");
  });

  test("an iteration that the script does not know falls to the rules", async () => {
    const prompt = fenced({ "1": { content: "one" } });
    expect(await say(after(prompt, 0), 2, models([{ content: "ruled" }]))).toBe("ruled");
  });

  test("any text is a prompt: the answer is a reply or a typed failure", async () => {
    const by = models();
    const text = fc.oneof(
      fc.string(),
      fc.json(),
      fc.string({ unit: fc.constantFrom("`", "~", "\n", "svc-script", "{", "}", "[", "]", '"', "a", " ") }),
    );
    await fc.assert(
      fc.asyncProperty(text, async (each) => void (await outcome(by, aCall({ messages: after(fenced(each), 0) })))),
    );
    await fc.assert(fc.property(text, (each) => void scriptBlock(each)));
  });
});

describe("rules", () => {
  const situation = {
    alias: "smart",
    agentName: "coder",
    iteration: 2,
    messages: after("please build the house", 1, "it failed"),
  };
  test.each([
    ["alias", { alias: "smart" }, { alias: "default" }],
    ["agent", { agent: "coder" }, { agent: "other" }],
    ["iteration", { iteration: 2 }, { iteration: 1 }],
    ["round", { round: 1 }, { round: 0 }],
    ["last_role", { last_role: "tool" }, { last_role: "user" }],
    ["prompt_contains", { prompt_contains: "the house" }, { prompt_contains: "The House" }],
    ["prompt_matches", { prompt_matches: "^please (\\w+)" }, { prompt_matches: "^build" }],
    ["last_contains", { last_contains: "failed" }, { last_contains: "please" }],
    [
      "all together",
      { alias: "smart", round: 1, last_contains: "it" },
      { alias: "smart", round: 1, last_contains: "no" },
    ],
  ])("%s", async (_, holds, fails) => {
    const by = models([{ when: fails, content: "no" }, { when: holds, reply: { content: "yes" } }, { content: "no" }]);
    expect((await by.generate(aCall(situation))).content).toBe("yes");
  });

  test("content knows every value and the groups of the match", async () => {
    const content =
      "{{alias}} {{agent}} {{iteration}} {{round}} {{last}} | {{prompt}} | {{match}} {{match.[1]}} {{match.[2]}} {{match.what}} {{match.length}}{{#if match}}!{{else}}?{{/if}}{{#unless match}}no{{/unless}}";
    const by = models([{ when: { prompt_matches: "(build) the (?<what>\\w+)" }, content }]);
    expect((await by.generate(aCall(situation))).content).toBe(
      "smart coder 2 1 it failed | please build the house | build the house build house house !",
    );
  });

  test("an inline script comes before the rules", async () => {
    expect(await say(after(fenced([{ content: "inline" }]), 0), 1, models([{ content: "rule" }]))).toBe("inline");
  });

  test("no rule holds: the prompt is the answer", async () => {
    expect(await say(after("echo {{prompt}} & <b>", 0), 1, models([{ when: { round: 5 }, content: "x" }]))).toBe(
      "echo {{prompt}} & <b>",
    );
  });

  test.each([
    ["rules.yaml", "rules:\n  - when: {round: 0}\n    content: from the file\n"],
    ["rules.json", '[{"content": "from the file"}]'],
  ])("a rules file: %s", async (path, text) => {
    expect(await say(after("hi", 0), 1, models(undefined, { [path]: text }))).toBe("from the file");
  });

  test("an error for the first attempts only, and a delay at every try", async () => {
    const by = models([{ content: "at last", error: { class: "rate_limit", attempts: 1 }, delay_ms: 250 }]);
    expect(await by.generate(aCall())).toMatchObject({ content: "at last", attempts: 2 });
    expect(by.timing.pauses).toEqual([250, 1000, 250]);
    const always = models([{ error: { class: "rate_limit", attempts: "all" } }]);
    expect((await failureOf(always, aCall())).facts.attempts).toBe(2);
  });
});

test("templates reach no prototype", () => {
  for (const path of [
    "constructor",
    "__proto__",
    "last.constructor",
    "match.constructor",
    "match.groups",
    "@root.constructor",
    "this.constructor",
    "../last",
    "match.__proto__",
  ]) {
    const match = /x/.exec("x");
    expect(renderTemplate(compileTemplate(`[{{${path}}}]`), { last: "", match })).toBe("[]");
  }
});

test("text without braces stays; comments, escapes and white space are Handlebars'", () => {
  expect(renderTemplate(compileTemplate("a & <b> \\n"), {})).toBe("a & <b> \\n");
  expect(renderTemplate(compileTemplate("{{! note }}a {{~last~}} b {{{last}}} \\{{last}}"), { last: "<L>" })).toBe(
    "a<L>b <L> {{last}}",
  );
});
