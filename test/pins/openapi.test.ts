/**
 * The API document, operation by operation: a change of the wire shows here as a change.
 * `PIN=1 bun test test/pins/openapi.test.ts` writes the document of today in place of the stored one.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { OpenApiDocument } from "../../src/http/openapi/openapi.ts";
import { type NodeProcess, startNodeProcess } from "../harness/node/node-process.ts";
import { freshStores, type TestStores } from "../harness/stores.ts";

type Operation = OpenApiDocument["paths"][string][string];
/** `GET /v1/agents` → its description; `document` → what is left of the document. */
type Pinned = Readonly<Record<string, Operation>>;

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
beforeAll(async () => {
  stores = await freshStores();
  node = await startNodeProcess(stores);
  const answer = await fetch(`${node.url}/openapi.json`);
  // Addresses differ from node to node, the version from release to release.
  const { paths, servers: _, info: __, ...document } = (await answer.json()) as OpenApiDocument;
  rest = document;
  const named = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const),
  );
  operations = Object.fromEntries(named.toSorted(([one], [other]) => (one < other ? -1 : 1)));
  if (process.env.PIN !== "1") return;
  const lines = [["document", rest], ...Object.entries(operations)].map((line) => `${JSON.stringify(line)}\n`);
  writeFileSync(file, lines.join(""));
});
afterAll(async () => {
  await node?.dispose();
  await stores?.dispose();
});

/** Who may call each operation, and which statuses it declares. */
const linesOf = (described: Pinned): string[] =>
  Object.entries(described)
    .filter(([name]) => name !== "document")
    .map(([name, { security, responses }]) => {
      const scopes = security.map((scheme) => Object.values(scheme).flat().join(" or ") || "any caller");
      const statuses = Object.keys(responses).filter((status) => status !== "default");
      return `${name} | ${[...new Set(scopes)].join("; ") || "public"} | ${statuses.join(" ")}`;
    });

test("routes, scopes and statuses are these and no others", () => {
  expect(linesOf(operations)).toEqual(linesOf(stored));
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

test("a parameter with a default is not required", () => {
  const required = Object.entries(operations).flatMap(([name, { parameters }]) =>
    parameters.filter(({ required, schema }) => required && Object.hasOwn(schema as object, "default")).map(() => name),
  );
  expect(required).toEqual([]);
});
