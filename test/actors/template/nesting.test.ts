/** Templates that nest without end are refused before they cost anything. */
import { describe, expect, test } from "bun:test";
import { nestsDeeper } from "../../../actors/template/nesting.ts";
import { compile, TemplateError } from "../../../actors/template/template.ts";
import { cpuTimeOf } from "../../harness/cpu-time.ts";

const blocks = (levels: number) => "{{#if a}}".repeat(levels);

describe("too deep, wherever it hides", () => {
  test.each([
    ["blocks", blocks(9_000)],
    ["inverse blocks", "{{^a}}".repeat(15_000)],
    ["else chains", `{{#if a}}${"{{else if b}}".repeat(7_000)}{{/if}}`],
    ["parentheses", `{{a ${"(a ".repeat(30_000)}`],
    ["behind an escaped tag", `\\{{ " ${blocks(9_000)}"`],
    ["behind an escaped backslash", `\\\\{{a}}${blocks(9_000)}`],
    ["behind a comment", `{{! " }}${blocks(9_000)}"`],
    ["behind a long comment", `{{!-- }} " --}}${blocks(9_000)}"`],
    ["behind a tag's end in a string", `{{a "}}" ${"(a ".repeat(30_000)}`],
    ["behind a tag's end in brackets", `{{a [}}] ${"(a ".repeat(30_000)}`],
    ["inline partials", "{{#*inline 'a'}}".repeat(6_000)],
  ])("%s", (_what, source) => {
    const spent = cpuTimeOf(() => {
      expect(() => compile(source)).toThrow(TemplateError);
      expect(nestsDeeper(source, 64)).toBe(true);
    });
    // The parser would take many seconds.
    expect(spent).toBeLessThan(2_000);
  });
});

test.each([
  ["unclosed brackets", "{{a [".repeat(20_000)],
  ["unclosed strings", '{{a "'.repeat(19_999)],
  ["half-open tags", "{{".repeat(50_000)],
])("%s take no long time either", (_what, source) => {
  expect(cpuTimeOf(() => expect(() => compile(source)).toThrow(TemplateError))).toBeLessThan(2_000);
});

test.each([
  ["one after another", "{{#if a}}x{{/if}}".repeat(500)],
  ["inverse ones", "{{^if a}}x{{/if}}".repeat(500)],
  ["with else", "{{#if a}}x{{else}}y{{/if}}".repeat(300)],
  ["with chains", "{{#if a}}x{{else if b}}y{{else}}z{{/if}}".repeat(200)],
  ["subexpressions", "{{default (default a 1) 2}}".repeat(300)],
  ["smileys in the text", "{{a}} :( ".repeat(500)],
  ["blocks in a comment", `{{!-- ${blocks(100)} --}}`],
  ["tags in strings", '{{default a "{{#if a}} (("}}'.repeat(100)],
])("%s are not deep", (_what, source) => {
  expect(nestsDeeper(source, 64)).toBe(false);
  expect(() => compile(source)).not.toThrow();
});

test("a template may have 8 KiB between its braces, and any text around them", () => {
  expect(() => compile(`${"x ".repeat(40_000)}${"{{a}}".repeat(1600)}`)).not.toThrow();
  expect(() => compile("{{a}}".repeat(1700))).toThrow("The template has more than 8 KiB between its braces");
});
