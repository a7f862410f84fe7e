/** `final_output`: what the template renders, in the types that the schema names. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Json } from "../../../actors/kernel/json.ts";
import { TemplateError } from "../../../actors/template/template.ts";
import { coerced, finalOutput } from "../../../actors/workflow/run/blackboard/output.ts";

describe("coercion", () => {
  test.each<[string, string[], Json | undefined]>([
    ["5", ["integer"], 5],
    [" -12\n", ["integer"], -12],
    ["5.0", ["integer"], 5],
    ["5.5", ["integer"], undefined],
    ["5.5", ["number"], 5.5],
    [".5e1", ["number"], 5],
    ["1e999", ["number"], undefined],
    ["0x10", ["number"], undefined],
    ["Infinity", ["number"], undefined],
    ["NaN", ["number"], undefined],
    ["", ["number"], null],
    ["  ", ["boolean"], null],
    ["true", ["boolean"], true],
    [" false ", ["boolean"], false],
    ["True", ["boolean"], undefined],
    ["yes", ["boolean"], undefined],
    ['{"a":1}', ["object"], { a: 1 }],
    ["[1]", ["object"], undefined],
    ["null", ["object"], undefined],
    [" [1, 2] ", ["array"], [1, 2]],
    ['{"a":1}', ["array"], undefined],
    ["[1", ["array"], undefined],
    ["", ["array"], null],
    ["", ["string"], ""],
    [" x ", ["string"], " x "],
    [" x ", [], " x "],
    ["7", ["string", "integer"], "7"],
    ["7", ["integer", "null"], 7],
    ["", ["integer", "null"], null],
    ["x", ["boolean", "integer"], undefined],
    ["x", ["strange"], undefined],
  ])("%j as %j", (text, types, value) => {
    expect(coerced(text, types)).toEqual(value);
  });

  test("a number or an object as templates print it comes back as it was", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.object({ maxDepth: 2 }), (number, object) => {
        const value = JSON.parse(JSON.stringify(object)) as Json;
        expect(coerced(String(number), ["number"])).toBe(number === 0 ? Number(String(number)) : number);
        expect(coerced(JSON.stringify(value), ["object"])).toEqual(value);
      }),
    );
  });
});

describe("the output", () => {
  const board = { COUNT: { stdout: " 12\n" }, human: { approver: "ada" }, name: "x" };

  test("without a template there is none", () => {
    expect(finalOutput({ output_template: null, output_schema: { properties: {} } }, board)).toEqual({
      output: null,
      kept: [],
    });
  });

  test("entries are rendered and typed; what does not fit stays text and is named", () => {
    const output_schema = { properties: { length: { type: "integer" }, by: { type: "number" }, any: true } };
    const output_template = {
      length: "{{COUNT.stdout}}",
      by: " {{human.approver}} ",
      any: "{{blackboard.name}}",
      other: "{{missing}}",
    };
    expect(finalOutput({ output_template, output_schema }, board)).toEqual({
      output: { length: 12, by: " ada ", any: "x", other: "" },
      kept: [{ key: "by", type: "number" }],
    });
  });

  test.each<[string, Json]>([
    ["no schema", null],
    ["a schema that is no object", true],
    ["properties that are no object", { properties: [] }],
    ["a type that is no text", { properties: { a: { type: 7 }, constructor: { type: "integer" } } }],
  ])("%s types nothing", (_, output_schema) => {
    expect(finalOutput({ output_template: { a: "1", toString: "2" }, output_schema }, board).output).toEqual({
      a: "1",
      toString: "2",
    });
  });

  test("an entry named like a prototype's member is a member like any other", () => {
    const output_template = JSON.parse('{"__proto__": "7"}') as Record<string, string>;
    const { output } = finalOutput({ output_template, output_schema: null }, board);
    expect(JSON.stringify(output)).toBe('{"__proto__":"7"}');
  });

  test("a text without bound is refused", () => {
    const long = { list: Array.from({ length: 40 }, () => 0), text: "x".repeat(50_000) };
    const output_template = { a: "{{#each list}}{{../text}}{{/each}}" };
    expect(() => finalOutput({ output_template, output_schema: null }, long)).toThrow(TemplateError);
    const entries = Array.from({ length: 9 }, (_, at) => [`k${at}`, "{{#each ten}}{{../text}}{{/each}}"]);
    const many = { output_template: Object.fromEntries(entries), output_schema: null };
    const ten = Array.from({ length: 10 }, () => 0);
    expect(() => finalOutput(many, { ...long, ten })).toThrow("too large");
  });
});
