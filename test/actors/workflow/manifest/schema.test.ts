/** `/schemas/workflow.json` says what the reader does, as far as a JSON Schema can (docs/reference/workflows.md). */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { isObject, type Json } from "../../../../actors/kernel/json.ts";
import { judgeWorkflow, workflowSchema } from "../../../../actors/workflow/manifest/manifest.ts";
import { parseWorkflow } from "../../../../actors/workflow/manifest/parse.ts";
import { conforms, schemaOf, someFault, someMembers } from "../../manifest/schema-properties.ts";
import { around, offer, states } from "./fixture.ts";

const schema = schemaOf(workflowSchema);
const isAccepted = (document: Json) => judgeWorkflow(document, offer).issues.length === 0;
/** What may be anything, as far as a JSON Schema says. */
const free = ["input", "result_key", "items", "arguments", "args", "target", "policy", "body", "schema"];
const documents = Object.values(states).map((state) => around(state) as Json);

test.each(Object.entries(states))("a state of kind %s conforms, by name and in a list", (_kind, state) => {
  const document = around(state);
  expect(conforms(schema, document as Json)).toEqual([]);
  const { spec } = document;
  if (!isObject(spec) || !isObject(spec.states)) throw new Error("no states");
  const listed = Object.entries(spec.states).map(([name, one]) => ({ ...(one as object), name }) as Json);
  expect(conforms(schema, { ...document, spec: { ...spec, states: listed } } as Json)).toEqual([]);
});

describe("the sample workflows conform", () => {
  test.each(["release-notes", "vendor-panel", "container-pipeline", "on-stimulus"])("%s", (name) => {
    const text = readFileSync(
      join(import.meta.dir, "../../../../src/features/workflows/sample", `${name}.yaml`),
      "utf8",
    );
    expect(conforms(schema, parseWorkflow(text).document)).toEqual([]);
  });
});

test("an accepted manifest conforms, with any members left out or null", () => {
  fc.assert(
    fc.property(fc.constantFrom(...documents).chain(someMembers), (document) => {
      if (isAccepted(document)) expect(conforms(schema, document)).toEqual([]);
    }),
  );
});

test("a value of the wrong kind is refused by both", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...documents).chain((document) => someFault(document, free)),
      (document) => {
        expect(isAccepted(document)).toBe(false);
        expect(conforms(schema, document)).not.toEqual([]);
      },
    ),
  );
});
