/** From bytes to documents: the YAML rules, wrappers, bombs (docs/reference/agents.md). */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { stringify } from "yaml";
import { parseManifest } from "../../../actors/agent/manifest/parse.ts";
import { Problem } from "../../../actors/kernel/problem.ts";
import { renderYaml } from "../../../actors/manifest/document.ts";
import { cpuTimeOf } from "../../harness/cpu-time.ts";
import { manifest } from "./offer.ts";

const yaml = (text: string) => parseManifest({ mediaType: "application/yaml", text }).document;
const json = (text: string) => parseManifest({ mediaType: "application/json", text }).document;

function refusal(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(Problem);
    return (error as Problem).code;
  }
  return "accepted";
}

describe("media types", () => {
  const text = JSON.stringify(manifest());
  test.each([
    ["application/json"],
    ["application/yaml"],
    ["application/x-yaml"],
    ["text/yaml"],
    ["text/x-yaml"],
    ["text/plain"],
    [null],
  ])("%p", (mediaType) => expect(parseManifest({ mediaType, text }).document).toEqual(manifest()));

  test("absent: a brace means JSON, anything else YAML", () => {
    expect(refusal(() => parseManifest({ mediaType: null, text: "  {a: 1}" }))).toBe("malformed_body");
    expect(parseManifest({ mediaType: null, text: "a: 1" }).document).toEqual({ a: 1 });
  });

  test.each([["application/xml"], ["text/html"], ["application/merge-patch+json"]])("%p is refused", (mediaType) =>
    expect(refusal(() => parseManifest({ mediaType, text }))).toBe("unsupported_media_type"),
  );
});

describe("JSON wrappers", () => {
  const text = stringify(manifest());
  test.each([
    [{ manifest: manifest() }, null],
    [{ manifest: text }, text],
    [{ manifest_yaml: text }, text],
    [manifest(), null],
  ])("%#", (body, kept) => {
    const parsed = parseManifest({ mediaType: "application/json", text: JSON.stringify(body) });
    expect(parsed.document).toEqual(manifest());
    expect(parsed.yaml).toBe(kept);
  });

  test("a manifest with a member called manifest is no wrapper", () => {
    expect(json('{"apiVersion":"x","manifest":{"a":1}}')).toEqual({ apiVersion: "x", manifest: { a: 1 } });
  });
});

describe("text places keep what was written", () => {
  test.each([
    ["spec: {runtime: {version: 3.10}}", { spec: { runtime: { version: "3.10" } } }],
    ["metadata: {version: 1.0}", { metadata: { version: "1.0" } }],
    ["metadata: {labels: {on: yes, n: 007, t: true}}", { metadata: { labels: { on: "yes", n: "007", t: "true" } } }],
    ["spec: {env: {PORT: 0x1F}, tools: [1.50]}", { spec: { env: { PORT: "0x1F" }, tools: ["1.50"] } }],
    ["environment: {A: 1e3}", { environment: { A: "1e3" } }],
    ["spec: {runtime: {temperature: 0.50}}", { spec: { runtime: { temperature: 0.5 } } }],
    ["metadata: {description: }", { metadata: { description: null } }],
    ["x: &v 1.10\nmetadata: {version: *v}", { x: 1.1, metadata: { version: "1.10" } }],
  ])("%s", (text, document) => expect(yaml(text)).toEqual(document as never));
});

describe("YAML that is refused", () => {
  const bomb = ["a: &a [x,x,x,x,x,x,x,x,x]"]
    .concat([..."bcdefghi"].map((c, i) => `${c}: &${c} [${Array(9).fill(`*${"abcdefghi"[i]}`).join(",")}]`))
    .join("\n");
  test.each([
    ["two documents", "a: 1\n---\nb: 2"],
    ["custom tag", "a: !thing 1"],
    ["code tag", "a: !!js/function 'x'"],
    ["binary tag", "a: !!binary aGk="],
    ["duplicate key", "a: 1\na: 2"],
    ["duplicate key, spelled otherwise", "1: a\n'1': b"],
    ["65 levels", `${"[".repeat(65)}${"]".repeat(65)}`],
    ["65 block levels", Array.from({ length: 66 }, (_, i) => `${" ".repeat(i)}a:`).join("\n")],
    ["alias bomb", bomb],
    ["101 aliases", `a: &a 1\nb: [${"*a,".repeat(101)}]`],
    ["few aliases, much text", `a: &a ${"x".repeat(600_000)}\nb: [*a,*a]`],
    ["alias to itself", "a: &a [*a]"],
    ["alias before its anchor", "a: *b\nb: &b 1"],
    ["map as key", "{a: b}: c"],
    ["YAML 1.1", "%YAML 1.1\n---\na: yes"],
    ["tab indentation", "a:\n\tb: 1"],
    ["unclosed quote", 'a: "b'],
    ["nothing", "  \n"],
  ])("%s", (_what, text) => expect(refusal(() => yaml(text))).toBe("malformed_body"));

  test.each([
    ["64 levels", `${"[".repeat(64)}${"]".repeat(64)}`],
    ["100 aliases", `a: &a 1\nb: [${"*a,".repeat(100)}]`],
    ["end marker", "a: 1\n...\n"],
    ["plain tags", "a: !!str 3"],
  ])("but not %s", (_what, text) => expect(refusal(() => yaml(text))).toBe("accepted"));

  test.each([
    ["brackets", "["],
    ["dashes", "- "],
    ["anchors", "&a "],
    ["empty lists", "[]"],
    ["directives", "%\n"],
    ["aliases", "*a "],
    ["keys", "? "],
  ])("a megabyte of %s is refused without holding things up", (_what, piece) => {
    const text = piece.repeat((1024 * 1024) / piece.length);
    // Generous: unbounded work on such text takes minutes.
    expect(cpuTimeOf(() => expect(refusal(() => yaml(text))).toBe("malformed_body"))).toBeLessThan(10_000);
  });
});

describe("JSON that is refused", () => {
  test.each([
    ["broken", '{"a":'],
    ["empty", ""],
    ["65 levels", `${"[".repeat(65)}${"]".repeat(65)}`],
    ["very deep", "[".repeat(500_000)],
    ["bad YAML inside", '{"manifest_yaml":"a: 1\\na: 2"}'],
  ])("%s", (_what, text) => expect(refusal(() => json(text))).toBe("malformed_body"));
});

test("more than 1 MiB is refused", () => {
  const text = `a: ${"x".repeat(1024 * 1024)}`;
  expect(refusal(() => yaml(text))).toBe("body_too_large");
  expect(refusal(() => parseManifest({ mediaType: null, text }))).toBe("body_too_large");
});

test("a key __proto__ stays a key", () => {
  expect(Object.keys(yaml("__proto__: {a: 1}") as object)).toEqual(["__proto__"]);
});

test("arbitrary text is read or refused, never anything else", () => {
  const pieces = fc.constantFrom(
    "a",
    ": ",
    "- ",
    "\n",
    "  ",
    "[",
    "]",
    "{",
    "}",
    "&a ",
    "*a",
    "|",
    ">",
    "'",
    '"',
    "#",
    "!",
    "%",
    "---",
    "? ",
    ",",
    "\0",
    "\t",
    "<<",
    "\ud800",
    "~",
    "1.0",
    "é",
  );
  const text = fc.oneof(
    fc.string(),
    fc.array(pieces, { maxLength: 40 }).map((list) => list.join("")),
    fc.json(),
  );
  const mediaType = fc.constantFrom("application/json", "application/yaml", null);
  fc.assert(
    fc.property(text, mediaType, (source, type) => {
      expect(["accepted", "malformed_body"]).toContain(refusal(() => parseManifest({ mediaType: type, text: source })));
    }),
    { numRuns: 2000 },
  );
});

test("a rendered document reads back the same", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4, noUnicodeString: false }), (value) => {
      const document = {
        spec: { task: { input_data: JSON.parse(JSON.stringify(value)) }, env: { A: "3.10", B: "~" } },
      };
      expect(yaml(renderYaml(document))).toEqual(document);
    }),
    { numRuns: 300 },
  );
});
