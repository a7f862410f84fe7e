import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { compile, compileExpression, evaluate, TemplateError } from "../../../actors/template/template.ts";

const variables = { name: "Ada", empty: "", list: ["a", "b"], deep: { value: 7 }, yes: true };

describe("the parts of a rendered template", () => {
  test.each<[string, string]>([
    ["x {{name}} y", "a:x |v:Ada|a: y"],
    ["{{name}}{{empty}}{{missing}}", "v:Ada|v:|v:"],
    ["{{#if yes}}a{{/if}}b{{#unless yes}}c{{/unless}}d", "a:abd"],
    ["{{#each list}}-{{this}}{{/each}}.", "a:-|v:a|a:-|v:b|a:."],
    ["{{deep}}{{! nothing }}{{{upper name}}}", 'v:{"value":7}|v:ADA'],
    ['\\{{name}} {{5}}{{"q"}}', "a:{{name}} |v:5|v:q"],
  ])("%p", (source, wanted) => {
    const parts = compile(source).renderParts(variables, 1000);
    expect(parts.map(({ by, text }) => `${by[0]}:${text}`).join("|")).toBe(wanted);
    expect(parts.map(({ text }) => text).join("")).toBe(compile(source).render(variables, 1000));
  });

  test("are bounded as the text is", () => {
    expect(() => compile("{{name}}é").renderParts(variables, 4)).toThrow("larger than 4 bytes");
    expect(compile("{{name}}é").renderParts(variables, 5)).toHaveLength(2);
    const many = Array.from({ length: 5000 }, () => 1);
    const source = "{{#each many}}{{#each @root.many}}x{{this}}{{/each}}{{/each}}";
    expect(() => compile(source).renderParts({ many }, 10 ** 9)).toThrow("too long");
  });

  test("keep what values say out of what the author says", () => {
    const piece = fc.constantFrom(
      "{{@root.v}}",
      "{{#if @root.v}}",
      "{{/if}}",
      "{{#each l}}",
      "{{/each}}",
      "lit",
      " ",
      "{{else}}",
    );
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        try {
          const parts = compile(pieces.join("")).renderParts({ v: "VALUE", l: [1, 2] }, 10_000);
          for (const { by, text } of parts) expect(text === "VALUE").toBe(by === "value");
        } catch (error) {
          expect(error).toBeInstanceOf(TemplateError);
        }
      }),
    );
  });
});

test("the outline of a template has its blocks, both ways", () => {
  expect(compile("a{{x}}{{#if y}}b{{else}}{{z}}{{/if}}").outline()).toEqual([
    { is: "text", text: "a" },
    { is: "value" },
    { is: "block", body: [{ is: "text", text: "b" }], otherwise: [{ is: "value" }] },
  ]);
});

describe("an expression as `if` is given it", () => {
  test.each<[string, unknown]>([
    ["name", "Ada"],
    ["deep.value", 7],
    ["eq deep.value 7", true],
    ["(eq deep.value 7)", true],
    ['and yes (includes list "b")', true],
    ["lookup list 1", "b"],
    ["missing.more", undefined],
    ["@root.name", "Ada"],
    ["this.name", "Ada"],
  ])("%p", (text, wanted) => {
    expect(evaluate(text, variables)).toEqual(wanted as never);
  });

  test.each([
    "",
    "a b",
    "odd 1",
    "x}}{{/if}}{{#if y",
    "x}}{{name}}{{#if y}}{{/if",
    "x}}.{{else}}.{{#if y}}{{/if",
    "x as |y|",
    "x y=1",
    "(eq a b",
    "{{name}}",
    "> part",
  ])("%p is none", (text) => {
    expect(() => compileExpression(text)).toThrow(TemplateError);
  });
});

test.each([
  "{{@constructor}}",
  "{{@__proto__}}",
  "{{@toString}}",
  "{{#each list}}{{@constructor.name}}{{@valueOf}}{{/each}}",
])("%p reaches nothing but its own", (source) => {
  expect(compile(source).render(variables, 1000)).toBe("");
});

test("templates come out of the cache as they went in, however many there are", () => {
  for (let index = 0; index < 2500; index += 1) {
    expect(compile(`${index} {{name}}`).render(variables, 100)).toBe(`${index} Ada`);
  }
  expect(compile("0 {{name}}")).not.toBe(compile("1 {{name}}"));
  expect(compile("2499 {{name}}")).toBe(compile("2499 {{name}}"));
});
