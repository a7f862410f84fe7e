/** What a source passes over, and what a Wait takes. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Json } from "../../../actors/kernel/json.ts";
import { ignoredBy } from "../../../actors/stimulus/fitting.ts";
import { Effort } from "../../../actors/template/effort.ts";
import { type Matter, matcherOf, matchFault, textAt } from "../../../actors/template/matching.ts";

const payload = { order: { id: 88, ref: "o-88", paid: false, lines: [{ sku: "a" }], "odd.name": "x" }, none: null };

describe("what stands at a path", () => {
  test.each<[string, string | null]>([
    ["order.ref", "o-88"],
    ["order.id", "88"],
    ["order.paid", "false"],
    ["order.lines.0.sku", "a"],
    ["order.lines.[0].sku", "a"],
    ["order.[odd.name]", "x"],
    ["order", null],
    ["order.lines", null],
    ["none", null],
    ["order.missing", null],
    ["order.ref.length", null],
    ["constructor", null],
    ["order.lines.00.sku", null],
  ])("%s", (path, text) => {
    expect(textAt(payload, path)).toBe(text);
  });

  test("a payload that is no object has nothing at any path", () => {
    for (const other of [null, "order", 7, true, []] satisfies Json[]) expect(textAt(other, "order")).toBeNull();
  });

  test("any path of any payload is answered", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.string(), (value, path) => {
        const text = textAt(value as Json, path);
        return text === null || typeof text === "string";
      }),
    );
  });
});

describe("a match", () => {
  test.each<[string, string | null]>([
    ['payload.order.id == 88 && headers.x-github-event == "push"', null],
    ["!payload.deleted", null],
    ["(eq payload.kind 'a')", null],
    ["true", null],
    ["payload.a ==", "too early"],
    ["", "empty"],
    ["body.kind == 1", "sees payload and headers only, and not body"],
    ["payload.kind == state.kind", "not state"],
  ])("%p is one, or not", (text, fault) => {
    if (fault === null) expect(matchFault(text)).toBeNull();
    else expect(matchFault(text)).toContain(fault);
  });

  test("one that is not understood, or takes too long, holds for nothing", () => {
    const matter: Matter = { payload: { text: "x".repeat(500_000) }, headers: {} };
    expect(matcherOf("payload ==")(matter)).toBe(false);
    expect(matcherOf("payload != headers")(matter)).toBe(true);
    expect(matcherOf("payload != headers")(matter, new Effort(100))).toBe(false);
  });
});

describe("a source passes over", () => {
  const pushes = { events: ["push", "issues.opened"], match: null };
  const paid = { events: [], match: 'payload.status == "paid"' };
  const matter = (payload: Json): Matter => ({ payload, headers: {} });

  test.each([
    ["one of its events", pushes, ["push"], {}, null],
    ["one by its exact name", pushes, ["issues.opened", "issues"], {}, null],
    ["another action", pushes, ["issues.closed", "issues"], {}, "event"],
    ["another event", pushes, ["ping"], {}, "event"],
    ["what names no event", pushes, [], {}, "event"],
    ["what it matches", paid, [], { status: "paid" }, null],
    ["what it does not match", paid, ["any"], { status: "open" }, "match"],
    ["what has no payload", paid, [], null, "match"],
    ["an event before its match", { ...pushes, match: "payload.x" }, ["ping"], { x: 1 }, "event"],
    ["what does not match of its events", { ...pushes, match: "payload.x" }, ["push"], { x: 0 }, "match"],
    ["nothing without filters", { events: [], match: null }, [], null, null],
  ] as const)("%s: %j", (_, filter, names, payload, reason) => {
    expect(ignoredBy(filter, names, () => matter(payload))).toBe(reason);
  });

  test("what its match cannot be evaluated on", () => {
    const large = { list: Array.from({ length: 300_000 }, () => "some text that is compared again and again") };
    const match = Array.from({ length: 60 }, () => "payload.list == payload.other").join(" || ");
    const other = { list: large.list, other: [...large.list, 1] };
    expect(ignoredBy({ events: [], match }, [], () => matter(other))).toBe("match_failed");
  });
});
