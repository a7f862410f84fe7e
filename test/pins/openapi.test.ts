/**
 * The API document, operation by operation: a change of the wire shows here as a change.
 * `PIN=1 bun test test/pins/openapi.test.ts` writes the document of today in place of the stored one.
 */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { Validator } from "@seriousme/openapi-schema-validator";
import type { ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type { Json } from "../../actors/kernel/json.ts";
import type { OpenApiDocument } from "../../src/http/openapi/openapi.ts";
import { type NodeProcess, startNodeProcess } from "../harness/node/node-process.ts";
import { freshStores, type TestStores } from "../harness/stores.ts";
import { clientTypes } from "./client-types.ts";

type Operation = OpenApiDocument["paths"][string][string];
/** `GET /v1/agents` → its description; `document` → what is left of the document. */
type Pinned = Readonly<Record<string, Operation>>;

const typesFile = join(import.meta.dir, "../../src/programs/client/api.ts");
/** One line for each operation, so that a change of one is a change of one line. */
const file = join(import.meta.dir, "openapi.jsonl");
const stored: Pinned = Object.fromEntries(
  readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line)),
);

let stores: TestStores;
let node: NodeProcess;
let operations: Pinned;
let rest: unknown;
let whole: OpenApiDocument;
beforeAll(async () => {
  stores = await freshStores();
  node = await startNodeProcess(stores);
  const answer = await fetch(`${node.url}/openapi.json`);
  // Addresses differ from node to node, the version from release to release.
  whole = (await answer.json()) as OpenApiDocument;
  const { paths, servers: _, info: __, ...document } = whole;
  rest = document;
  const named = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const),
  );
  operations = Object.fromEntries(named.toSorted(([one], [other]) => (one < other ? -1 : 1)));
  if (process.env.PIN !== "1") return;
  const lines = [["document", rest], ...Object.entries(operations)].map((line) => `${JSON.stringify(line)}\n`);
  writeFileSync(file, lines.join(""));
  writeFileSync(typesFile, await clientTypes(whole));
});
afterAll(async () => {
  await node?.dispose();
  await stores?.dispose();
});

/** Codes as the description of a refusal lists them. */
const codesOf = (description: string): string =>
  [...description.matchAll(/`(\w+)`/g)].map(([, code]) => code).join(",");

/** Who may call each operation, and which statuses and codes it declares. */
const linesOf = (described: Pinned): string[] =>
  Object.entries(described)
    .filter(([name]) => name !== "document")
    .map(([name, { security, responses }]) => {
      const scopes = security.map((scheme) => Object.values(scheme).flat().join(" or ") || "any caller");
      const statuses = Object.entries(responses)
        .filter(([status]) => status !== "default")
        .map(([status, { description }]) => [status, codesOf(description)].filter(Boolean).join(":"));
      return `${name} | ${[...new Set(scopes)].join("; ") || "public"} | ${statuses.join(" ")}`;
    });

test("routes, scopes, statuses and codes are these and no others", () => {
  expect(linesOf(operations)).toEqual(linesOf(stored));
});

test("the types of the client are those of the document", async () => {
  expect(await clientTypes(whole)).toBe(readFileSync(typesFile, "utf8"));
});

test("each operation is described as it was", () => {
  for (const [name, operation] of Object.entries(operations)) {
    if (!Bun.deepEquals(operation, stored[name]))
      expect({ [name]: operation }).toEqual({ [name]: stored[name] as Operation });
  }
});

test("the codes of refusals and the rest of the document are as they were", () => {
  expect(rest).toEqual(stored.document);
});

test("operation ids are unique", () => {
  const ids = Object.values(operations).map(({ operationId }) => operationId);
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
});

test("the document is OpenAPI 3.1, by the schema of the specification", async () => {
  const validator = new Validator();
  const { valid, errors } = await validator.validate(structuredClone(whole));
  expect(errors ?? []).toEqual([]);
  expect([valid, validator.version]).toEqual([true, "3.1"]);
});

/** The bodies of refusals are all made alike: those of a few operations are checked. */
function withFewRefusals({ paths, ...document }: OpenApiDocument): object {
  const few = Object.entries(paths).map(([path, methods], at) => [
    path,
    Object.fromEntries(
      Object.entries(methods).map(([method, { responses, ...operation }]) => {
        const kept = Object.entries(responses).map(([status, { content, ...response }]) => [
          status,
          at < 10 || !/^[45]/.test(status) ? { ...response, ...(content ? { content } : {}) } : response,
        ]);
        return [method, { ...operation, responses: Object.fromEntries(kept) }];
      }),
    ),
  ]);
  return { ...document, paths: Object.fromEntries(few) };
}

test("a linter of API documents finds nothing in it", async () => {
  const config = await createConfig({
    extends: ["recommended"],
    rules: {
      // Words beside ids, such as `executions` and `lookup`, are matched before them.
      "no-ambiguous-paths": "off",
    },
  });
  const problems = await lintFromString({
    source: JSON.stringify(withFewRefusals(whole)),
    absoluteRef: "openapi.json",
    config,
  });
  const told = problems.map(({ severity, ruleId, message, location: [at] }) => [
    severity,
    ruleId,
    message,
    at?.pointer,
  ]);
  expect(told.slice(0, 20)).toEqual([]);
}, 60_000);

/** Every body of the document with an example: where it is, its schema, the example. */
function* exampleBodies(): Generator<[string, unknown, unknown]> {
  for (const [name, { requestBody, responses }] of Object.entries(operations)) {
    const bodies = [["body", requestBody] as const, ...Object.entries(responses)];
    for (const [what, body] of bodies) {
      for (const [type, { schema, example }] of Object.entries(body?.content ?? {})) {
        if (schema !== undefined && example !== undefined) yield [`${name} ${what} ${type}`, schema, example];
      }
    }
  }
}

test("every JSON body has an example, and each example fits its schema", () => {
  // Inlined, the shapes of one operation alone would be compiled for a second.
  const ajv = new Ajv2020({ strict: false, logger: false, inlineRefs: false });
  addFormats.default(ajv);
  ajv.addSchema({ components: whole.components }, "document");
  const local = (schema: unknown) =>
    JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"document#/components/'));
  const faults: string[] = [];
  const checks = new Map<string, ValidateFunction>();
  for (const [place, schema, example] of exampleBodies()) {
    // Refusals narrow the codes of one shared shape: its check would be compiled for each of them.
    const { allOf } = schema as { allOf?: readonly [unknown, { properties: { code: { enum: readonly unknown[] } } }] };
    const narrowed = allOf?.[1].properties.code.enum;
    if (narrowed?.includes((example as { code: unknown }).code) === false) faults.push(`${place}: another code`);
    const text = JSON.stringify(narrowed ? allOf?.[0] : schema);
    const check = checks.get(text) ?? ajv.compile(local(narrowed ? allOf?.[0] : schema));
    checks.set(text, check);
    if (!check(example)) faults.push(`${place}: ${ajv.errorsText(check.errors)} in ${JSON.stringify(example)}`);
  }
  expect(faults).toEqual([]);
  const places = new Set([...exampleBodies()].map(([place]) => place));
  const bare = Object.entries(operations).flatMap(([name, { requestBody, responses }]) =>
    [["body", requestBody] as const, ...Object.entries(responses)]
      .filter(([, body]) => body?.content?.["application/json"]?.schema !== undefined)
      .map(([what]) => `${name} ${what} application/json`)
      .filter((place) => !places.has(place)),
  );
  expect(bare).toEqual([]);
});

test("the examples of manifests are taken as they stand", async () => {
  const sent = async (path: string, what: string) => {
    const example = operations[`POST ${what}`]?.requestBody?.content["application/json"];
    return node.call("POST", path, example?.example);
  };
  const agent = await sent("/v1/agents?dry_run=true", "/v1/agents");
  expect([agent.status, agent.body.valid, agent.body.warnings]).toEqual([200, true, []]);
  const body = operations["POST /v1/workflows/validate"]?.requestBody?.content["application/json"]?.schema;
  const { examples } = body as { examples: readonly Json[] };
  expect(examples.length).toBeGreaterThan(1);
  for (const example of examples) {
    const workflow = await node.call("POST", "/v1/workflows/validate", example);
    expect([workflow.status, workflow.body]).toEqual([200, { valid: true, issues: [], warnings: [] }]);
  }
});

test("every operation declares a tag and refusals; manifests and events are described", () => {
  const names = Object.keys(whole.components.schemas);
  expect(names).toEqual(
    expect.arrayContaining(["AgentManifest", "WorkflowManifest", "ExecutionEvent", "WorkflowEvent"]),
  );
  for (const [name, { tags, responses }] of Object.entries(operations)) {
    expect([name, tags.length]).toEqual([name, 1]);
    expect([name, Object.keys(responses)]).toEqual([name, expect.arrayContaining(["default", "503", "504"])]);
    if (operations[name]?.security.length !== 0) expect(Object.keys(responses)).toContain("401");
  }
  const streams = Object.values(operations).flatMap(
    ({ responses }) => responses[200]?.content?.["text/event-stream"] ?? [],
  );
  expect(streams.length).toBeGreaterThan(5);
  for (const { schema } of streams) expect(schema).toEqual({ $ref: expect.stringMatching(/Event$/) });
});

test("a parameter with a default is not required", () => {
  const required = Object.entries(operations).flatMap(([name, { parameters }]) =>
    parameters
      .filter((one) => !("$ref" in one) && one.required && Object.hasOwn(one.schema as object, "default"))
      .map(() => name),
  );
  expect(required).toEqual([]);
});
