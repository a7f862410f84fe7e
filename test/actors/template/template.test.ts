import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { compile, TemplateError } from "../../../actors/template/template.ts";
import { cpuTimeOf } from "../../harness/cpu-time.ts";

const variables = {
  name: "Ada",
  empty: "",
  zero: 0,
  list: ["a", "b"],
  people: [{ name: "x" }, { name: "y" }],
  deep: { er: { value: 7 }, list: [1, [2]] },
  html: "<b>&",
  text: "\n first \nsecond",
};
const render = (source: string, bytes = 10_000) => compile(source).render(variables, bytes);

describe("rendering", () => {
  test.each<[string, string]>([
    ["Hello {{name}}!", "Hello Ada!"],
    ["{{html}}{{{html}}}", "<b>&<b>&"],
    ["[{{missing}}{{deep.missing.more}}{{name.length}}]", "[]"],
    ["{{deep}}", '{"er":{"value":7},"list":[1,[2]]}'],
    ["{{deep.er.value}} {{list.[1]}} {{list.[9]}}{{deep.list.[1]}}", "7 b [2]"],
    ["{{#if list}}y{{else}}n{{/if}}{{#if empty}}y{{else}}n{{/if}}{{#unless zero}}u{{/unless}}", "ynu"],
    ["{{#each people}}{{@index}}{{name}}{{#unless @last}},{{/unless}}{{/each}}", "0x,1y"],
    ["{{#each deep.er}}{{@key}}={{this}}{{/each}}{{#each empty}}x{{else}}none{{/each}}", "value=7none"],
    ["{{#each list as |item place|}}{{place}}{{item}}{{../name}}{{/each}}", "0aAda1bAda"],
    ["{{#with deep}}{{er.value}}{{@root.name}}{{/with}}", "7Ada"],
    ["{{upper name}} {{lower name}} {{length list}} {{length name}} {{keys deep}}", 'ADA ada 2 3 ["er","list"]'],
    ["{{json name}} {{trim text}}|{{first_line text}}", '"Ada" first \nsecond|first '],
    ['{{default missing "none"}} {{default name "none"}} {{lookup list 0}}', "none Ada a"],
    ["{{#if (and (eq deep.er.value 7) (gt deep.er.value 6) (not empty))}}y{{/if}}", "y"],
    ['{{#if (or (lt "b" "a") (includes list "b"))}}y{{/if}}{{ne 1 1}}{{gte "2" 10}}{{lte 2 "10"}}', "yfalsefalsetrue"],
    ["{{constructor}}{{__proto__}}{{list.length}}{{deep.toString}}", ""],
    ["{{! a comment }}{{!-- another --}}x", "x"],
  ])("%p", (source, wanted) => {
    expect(render(source)).toBe(wanted);
  });
});

test.each([
  "{{",
  "{{#if a}}",
  "{{> part}}",
  "{{* decorate}}",
  "{{#odd a}}{{/odd}}",
  "{{odd 1}}",
  "{{#if}}x{{/if}}",
  "{{constructor 1}}",
  `${"{{#if a}}".repeat(40)}${"{{/if}}".repeat(40)}`,
])("%p is refused", (source) => {
  expect(() => compile(source)).toThrow(TemplateError);
});

test("output and work are bounded", () => {
  expect(() => render("{{name}}{{name}}", 5)).toThrow(TemplateError);
  expect(() => render("é", 1)).toThrow(TemplateError);
  const nested = `${"{{#each l}}".repeat(6)}x${"{{/each}}".repeat(6)}`;
  const l = Array.from({ length: 20 }, () => ({}));
  const itself = { l: l.map(() => ({ l: l.map(() => ({ l: l.map(() => ({ l })) })) })) };
  expect(() => compile(nested.replaceAll("each l", "each @root.l")).render(itself, 10 ** 9)).toThrow("too long");
});

test("any text either renders or is a template error", () => {
  const piece = fc.constantFrom(
    "{{",
    "}}",
    "#if ",
    "/if",
    "name",
    " ",
    "each ",
    "(",
    ")",
    "..",
    "/",
    "@",
    '"',
    "a.b",
    "else",
    "^",
    "{{{",
    "}}}",
    "|x|",
  );
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      try {
        render(pieces.join(""));
      } catch (error) {
        expect(error).toBeInstanceOf(TemplateError);
      }
    }),
    { numRuns: 2000 },
  );
});

describe("a template that asks for much work", () => {
  const many = Array.from({ length: 100_000 }, (_, index) => index);
  const long = "x".repeat(1_000_000);
  test.each<[string, string]>([
    ["loops with nothing in them", "{{#each many}}{{#each @root.many}}{{/each}}{{/each}}"],
    ["long texts, again and again", "{{#each many}}{{#if (length @root.long)}}{{/if}}{{/each}}"],
    ["comparisons of large lists", "{{#each many}}{{#if (eq @root.many @root.same)}}{{/if}}{{/each}}"],
    ["names that are large values", "{{#each many}}{{#if (lookup @root @root.many)}}{{/if}}{{/each}}"],
  ])("%s: is refused soon", (_, source) => {
    const render = () => compile(source).render({ many, long, same: [...many] }, 10 ** 9);
    expect(cpuTimeOf(() => expect(render).toThrow("too long"))).toBeLessThan(4000);
  });

  test("looking things up in a large value costs little", () => {
    const source = "{{#each few}}{{lookup @root.many this}},{{default @root.long 1}}{{length @root.many}}{{/each}}";
    const few = Array.from({ length: 5 }, (_, index) => index);
    expect(compile(source).render({ few, many, long: "" }, 10_000)).toBe(
      "0,11000001,11000002,11000003,11000004,1100000",
    );
  });
});
