/** From a body to a document: two notations, wrappers, what YAML may not do (docs/reference/workflows.md). */
import { describe, expect, test } from "bun:test";
import { parse as parseYaml } from "yaml";
import type { Json } from "../../../../actors/kernel/json.ts";
import { Problem } from "../../../../actors/kernel/problem.ts";
import { parseWorkflow } from "../../../../actors/workflow/manifest/parse.ts";
import { around, states } from "./fixture.ts";

const manifest = around(states.System) as Json;
const documentOf = (text: string): Json => parseWorkflow(text).document;

function codeOf(text: string): string {
  try {
    parseWorkflow(text);
  } catch (error) {
    expect(error).toBeInstanceOf(Problem);
    return (error as Problem).code;
  }
  return "accepted";
}

describe("YAML and JSON are told apart by the text", () => {
  const json = JSON.stringify(manifest);
  const cases: readonly (readonly [string, string, Json])[] = [
    ["JSON", json, manifest],
    ["JSON after blanks and a byte order mark", `\u{feff}\n  ${json}\n`, manifest],
    ["YAML", "apiVersion: svc.dev/v1\nkind: Workflow", { apiVersion: "svc.dev/v1", kind: "Workflow" }],
    [
      "YAML that begins like JSON",
      "{apiVersion: svc.dev/v1, kind: Workflow,}",
      { apiVersion: "svc.dev/v1", kind: "Workflow" },
    ],
    ["YAML after a byte order mark", "\u{feff}kind: Workflow", { kind: "Workflow" }],
  ];
  for (const [name, text, document] of cases) test(name, () => expect(documentOf(text)).toEqual(document));
});

describe("wrappers", () => {
  const yaml = "apiVersion: svc.dev/v1\nkind: Workflow # kept\n";
  const document = { apiVersion: "svc.dev/v1", kind: "Workflow" };
  const cases: readonly (readonly [string, string, object])[] = [
    ["none", yaml, { document, yaml, force: null, scope: null }],
    ["manifest", JSON.stringify({ manifest: document, force: true }), { document, force: true, scope: null }],
    [
      "manifest as text",
      JSON.stringify({ manifest: yaml, scope: "global" }),
      { document, yaml, force: null, scope: "global" },
    ],
    [
      "manifest_yaml",
      JSON.stringify({ manifest_yaml: yaml, force: false }),
      { document, yaml, force: false, scope: null },
    ],
    ["manifest_yaml that holds JSON", JSON.stringify({ manifest_yaml: JSON.stringify(document) }), { document }],
    ["in YAML", "manifest: {apiVersion: svc.dev/v1, kind: Workflow}\nscope: tenant", { document, scope: "tenant" }],
    ["text in YAML", "manifest_yaml: |\n  apiVersion: svc.dev/v1\n  kind: Workflow\n", { document }],
  ];
  for (const [name, text, expected] of cases) test(name, () => expect(parseWorkflow(text)).toMatchObject(expected));

  test("what was not YAML is made so", () => {
    for (const text of [JSON.stringify(manifest), JSON.stringify({ manifest })]) {
      expect(parseYaml(parseWorkflow(text).yaml)).toEqual(manifest);
    }
  });
  test("beside apiVersion nothing is a wrapper", () => {
    const both = { ...(manifest as object), manifest: { kind: "Agent" } };
    expect(documentOf(JSON.stringify(both))).toEqual(both as Json);
  });
  test("a `manifest` member that is no manifest is part of the document", () => {
    expect(documentOf('{"manifest": 3}')).toBe(3);
    expect(documentOf('{"manifest": null}')).toBe(null);
  });
  test("only one of the two", () => expect(codeOf('{"manifest": {}, "manifest_yaml": ""}')).toBe("malformed_body"));
  for (const beside of [{ force: "yes" }, { force: 1 }, { scope: "all" }, { scope: true }]) {
    test(JSON.stringify(beside), () =>
      expect(codeOf(JSON.stringify({ manifest, ...beside }))).toBe("validation_failed"),
    );
  }
});

describe("what is broken", () => {
  const cases: readonly (readonly [string, string])[] = [
    ["nothing", ""],
    ["blanks", " \n\t"],
    ["half of an object", '{"apiVersion": '],
    ["a tab", "a:\n\t- b"],
    ["two documents", "a: 1\n---\nb: 2"],
    ["a key twice", "a: 1\na: 2"],
    ["a tag", "a: !!js/function x"],
    ["an alias of nothing", "a: *b"],
    ["depth", "[".repeat(65) + "]".repeat(65)],
    ["depth without an end", "[".repeat(500_000)],
    ["depth in a wrapper", JSON.stringify({ manifest: "[".repeat(100) + "]".repeat(100) })],
    ["depth of objects", `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`],
    ["aliases of aliases", "a: &a [x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c]"],
    ["an empty text in a wrapper", '{"manifest_yaml": ""}'],
  ];
  for (const [name, text] of cases) test(name, () => expect(codeOf(text)).toBe("malformed_body"));

  test("size, in bytes", () => {
    expect(codeOf(`a: ${"x".repeat(2 ** 20 - 3)}`)).toBe("accepted");
    expect(codeOf(`a: ${"x".repeat(2 ** 20 - 2)}`)).toBe("body_too_large");
    expect(codeOf(`a: ${"€".repeat(2 ** 19)}`)).toBe("body_too_large");
  });
});

describe("unquoted scalars at places of text", () => {
  const both = ["spec: {states: {A: %}}", "spec: {states: [%]}", "manifest: {spec: {states: [%]}}"];
  const cases: readonly (readonly [string, Json])[] = [
    ["{command: 1.0}", { command: "1.0" }],
    ["{command: [echo, 1.10, true]}", { command: ["echo", "1.10", "true"] }],
    ["{env: {PORT: 8080, ON: true}}", { env: { PORT: "8080", ON: "true" } }],
    ["{input: 3.10}", { input: "3.10" }],
    ["{input: {n: 3.10}}", { input: { n: 3.1 } }],
    ["{transitions: [{value: 0x1, target: 1e3}]}", { transitions: [{ value: "0x1", target: "1e3" }] }],
    ["{timeout: 30}", { timeout: 30 }],
    ["{steps: [{name: 1, command: [2], env: {A: 3}}]}", { steps: [{ name: "1", command: ["2"], env: { A: "3" } }] }],
    ["{agents: [{agent: 12, input: 1.0, weight: 2}]}", { agents: [{ agent: "12", input: "1.0", weight: 2 }] }],
    ["{escalate: {approvers: [1]}}", { escalate: { approvers: ["1"] } }],
    ["{output_handler: {headers: {X: 1}}}", { output_handler: { headers: { X: "1" } } }],
    ["{default_response: true}", { default_response: "true" }],
  ];
  for (const [state, read] of cases) {
    test(state, () => {
      for (const frame of both) {
        const document = documentOf(frame.replace("%", state)) as { spec: { states: Record<string, Json> } };
        expect(Object.values(document.spec.states)).toEqual([read]);
      }
    });
  }
  test("of metadata", () => {
    expect(documentOf("metadata: {version: 1.0, tags: [1.0], labels: {a: 1}, output_template: {a: 1}}")).toEqual({
      metadata: { version: "1.0", tags: ["1.0"], labels: { a: "1" }, output_template: { a: "1" } },
    });
  });
});

test("keys that objects know stay keys", () => {
  const read = documentOf("spec: {context: {__proto__: {a: 1}, constructor: x}}") as { spec: { context: object } };
  expect(Object.entries(read.spec.context)).toEqual([
    ["__proto__", { a: 1 }],
    ["constructor", "x"],
  ]);
});
