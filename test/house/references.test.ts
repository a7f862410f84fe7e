/** The lists of the reference hold what the code has: fields of manifests, events, series of metrics. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";
import { agentDescriptions } from "../../actors/agent/manifest/descriptions.ts";
import { agentSchema } from "../../actors/agent/manifest/manifest.ts";
import { eventFields } from "../../actors/execution/events.ts";
import { allScopes } from "../../actors/identity/scopes.ts";
import { problems } from "../../actors/kernel/problem.ts";
import { fieldsOf } from "../../actors/manifest/descriptions.ts";
import { builtinTools } from "../../actors/tool/catalog.ts";
import { workflowDescriptions } from "../../actors/workflow/manifest/descriptions.ts";
import { workflowSchema } from "../../actors/workflow/manifest/manifest.ts";
import { eventTypes } from "../../actors/workflow/run/record/events.ts";
import { operations } from "../../docs/generate/operations.ts";

const root = join(import.meta.dir, "../..");
const page = (name: string): string => readFileSync(join(root, "docs/reference", `${name}.md`), "utf8");

const manifests = [
  ["agents", agentSchema, agentDescriptions],
  ["workflows", workflowSchema, workflowDescriptions],
] as const;

test.each(manifests)("every field of the manifests of %s says what it means", (_, schema) => {
  const silent = [...fieldsOf(schema)].filter(([, { description }]) => typeof description !== "string");
  expect(silent.map(([path]) => path)).toEqual([]);
});

test.each(manifests)("each description of the manifests of %s is one of a field", (_, schema, descriptions) => {
  const paths = [...new Set([...fieldsOf(schema)].map(([path]) => path))];
  const unused = Object.keys(descriptions).filter(
    (key) => !paths.some((path) => path === key || path.endsWith(`.${key}`)),
  );
  expect(unused).toEqual([]);
});

/** The first cells of all tables of a page, without their marks. */
const rowsOf = (name: string): Set<string> =>
  new Set([...page(name).matchAll(/^\| `([^`]+)` +\|/gm)].map(([, cell = ""]) => cell));

test.each([
  ["events", [...Object.keys(eventFields), ...eventTypes]],
  ["scopes", [...allScopes]],
  ["errors", Object.keys(problems)],
  ["routes", operations.map(({ name }) => name)],
])("the page of %s has a row for each one", (name, all) => {
  const rows = rowsOf(name);
  expect(all.filter((one) => !rows.has(one))).toEqual([]);
});

test("the page of built-in tools has a section for each one, and no meaning is missing", () => {
  const named = [...page("built-in-tools").matchAll(/^## (\S+)$/gm)].map(([, name = ""]) => name);
  expect(builtinTools.map(({ name }) => name).filter((name) => !named.includes(name))).toEqual([]);
  expect(page("events")).not.toMatch(/^\| `\w+` +\| +\|/m);
});

test("the page of metrics has every series that the code names", async () => {
  const sources = await Promise.all(
    [...new Glob("src/**/*.ts").scanSync(root)].map((path) => Bun.file(join(root, path)).text()),
  );
  const named = new Set(
    sources.flatMap((text) => [...text.matchAll(/name: "(svc_\w+)"/g)].map(([, name = ""]) => name)),
  );
  expect(named.size).toBeGreaterThan(40);
  expect([...named].filter((name) => !page("metrics").includes(`\`${name}\``))).toEqual([]);
});

test("the page of metrics has the labels that the code gives its series", async () => {
  const told = new Map(
    [...page("metrics").matchAll(/^\| `(svc_\w+)` +\| \w+ +\| ([^|]*)\|/gm)].map(([, name = "", labels = ""]) => [
      name,
      [...labels.matchAll(/`(\w+)`/g)].map(([, label = ""]) => label),
    ]),
  );
  const sources = await Promise.all(
    [...new Glob("src/{http,features}/**/*.ts").scanSync(root)].map((path) => Bun.file(join(root, path)).text()),
  );
  const given = sources.flatMap((text) =>
    [...text.matchAll(/name: "(svc_\w+)",(?:(?!registers)[\s\S])*?labelNames: \[([^\].]*)\]/g)].map(
      ([, name = "", labels = ""]) => [name, [...labels.matchAll(/"(\w+)"/g)].map(([, label = ""]) => label)] as const,
    ),
  );
  expect(given.length).toBeGreaterThan(20);
  // Labels that a metric shares with others stand elsewhere.
  expect(given.filter(([name, labels]) => String(told.get(name)) !== String(labels))).toEqual([]);
});
