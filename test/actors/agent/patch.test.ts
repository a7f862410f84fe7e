/** Patches of manifests: whole, merged, by single fields (docs/reference/agents.md). */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { keepName, patched, readPatch } from "../../../actors/agent/patch.ts";
import type { Json } from "../../../actors/kernel/json.ts";
import { Problem } from "../../../actors/kernel/problem.ts";
import { manifest } from "./offer.ts";

const stored = (): Json => ({
  ...manifest(),
  metadata: { name: "greeter", version: "1.0.0", description: "old", labels: { a: "1", b: "2" }, tags: ["x"] },
});

/** The document a patch leads to. */
function after(patch: Json, before = stored()): Json {
  const { content } = readPatch(patch);
  return content === null ? before : patched(before, content);
}

const metadata = (document: Json) => (document as { metadata: Json }).metadata;

function codeOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof Problem) return error.code;
    throw error;
  }
  return "none";
}

describe("what a patch makes of the manifest", () => {
  test("a whole manifest takes its place", () => {
    const whole = { ...manifest(), metadata: { name: "greeter", version: "2.0.0" } };
    expect(after(whole)).toEqual(whole);
  });

  test.each([
    [{ description: "new" }, { description: "new", labels: { a: "1", b: "2" }, tags: ["x"] }],
    [{ description: null }, { labels: { a: "1", b: "2" }, tags: ["x"] }],
    [{ labels: { a: null, c: "3" } }, { description: "old", labels: { b: "2", c: "3" }, tags: ["x"] }],
    [{ tags: ["y", "z"] }, { description: "old", labels: { a: "1", b: "2" }, tags: ["y", "z"] }],
    [
      { annotations: { k: "v" } },
      { description: "old", labels: { a: "1", b: "2" }, tags: ["x"], annotations: { k: "v" } },
    ],
    [{ metadata: { tags: [] } }, { description: "old", labels: { a: "1", b: "2" }, tags: [] }],
    [
      { metadata: { description: "m", tags: [] }, description: "f" },
      { description: "f", labels: { a: "1", b: "2" }, tags: [] },
    ],
  ])("%j", (patch, expected) => {
    expect(metadata(after(patch as Json))).toEqual({ name: "greeter", version: "1.0.0", ...expected } as never);
  });

  test("deep members merge, lists are replaced, the rest stays", () => {
    const document = after({ spec: { runtime: { version: "3.11" }, tools: ["fs.read"] } });
    expect(document).toEqual({
      ...(stored() as object),
      spec: {
        runtime: { language: "python", version: "3.11" },
        task: { instruction: "Say hello." },
        tools: ["fs.read"],
      },
    } as never);
  });

  test("a status alone leaves the manifest as it is", () => {
    expect(readPatch({ status: "paused" })).toEqual({ content: null, status: "paused", name: null });
    expect(readPatch({})).toEqual({ content: null, status: null, name: null });
  });

  test("status is a field of the agent, not of a whole manifest", () => {
    const whole = { ...manifest(), status: "paused" };
    expect(readPatch(whole)).toMatchObject({ status: null, content: { whole: true } });
  });

  test("keys with a meaning for objects stay keys", () => {
    const patch = JSON.parse('{"spec":{"__proto__":{"x":1},"constructor":{"prototype":{"y":2}}}}');
    const document = after(patch) as { spec: object };
    expect(Object.hasOwn(document.spec, "__proto__")).toBe(true);
    expect(({} as { x?: number; y?: number }).x).toBeUndefined();
    expect(({} as { x?: number; y?: number }).y).toBeUndefined();
  });

  test("patches do not grow a manifest beyond its bound", () => {
    const big = { ...manifest(), x: "a".repeat(700_000) };
    expect(codeOf(() => after({ y: "b".repeat(700_000) }, big))).toBe("body_too_large");
  });
});

describe("merge patches", () => {
  const { json } = fc.letrec<{ json: Json }>((tie) => ({
    json: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom<Json>(null, 1, "x", true),
      fc.array(tie("json"), { maxLength: 2 }),
      fc.dictionary(fc.constantFrom("a", "b", "c", "toString"), tie("json"), { maxKeys: 3 }) as fc.Arbitrary<Json>,
    ),
  }));
  const object = fc.dictionary(fc.constantFrom("a", "b", "c"), json, { maxKeys: 3 }) as fc.Arbitrary<Json>;

  test("once is as good as twice", () => {
    fc.assert(
      fc.property(object, object, (before, patch) => {
        const once = patched(before, { whole: false, document: patch });
        expect(patched(once, { whole: false, document: patch })).toEqual(once);
      }),
    );
  });

  test("an empty one changes nothing", () => {
    fc.assert(fc.property(object, (before) => expect(patched(before, { whole: false, document: {} })).toEqual(before)));
  });
});

test.each([[null], [7], ["text"], [[]]])("%j is no patch", (document) => {
  expect(codeOf(() => readPatch(document))).toBe("validation_failed");
});

test.each([["asleep"], [7], [["active"]]])("status %j", (status) => {
  expect(codeOf(() => readPatch({ status }))).toBe("validation_failed");
});

test.each([
  [{ name: "other" }, "immutable_field"],
  [{ metadata: { name: "other" } }, "immutable_field"],
  [{ metadata: { name: null } }, "immutable_field"],
  [{ ...manifest(), metadata: { name: "other", version: "1" } }, "immutable_field"],
  [{ name: "greeter" }, "none"],
  [{ metadata: { name: "greeter" } }, "none"],
  [{ description: "x" }, "none"],
])("the name stays: %j", (patch, code) => {
  expect(codeOf(() => keepName(readPatch(patch as Json), "greeter"))).toBe(code);
});
