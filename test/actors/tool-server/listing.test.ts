/** What of a tool server's list is offered (docs/reference/tool-servers.md). */
import { expect, test } from "bun:test";
import {
  acceptedDefinitions,
  accepting,
  bounds,
  definitionText,
  differenceOf,
  type ListedTool,
  standingOf,
  withinBounds,
} from "../../../actors/tool-server/listing.ts";

const annotations = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true };
const tool = (name: string, more: Partial<ListedTool> = {}): ListedTool => ({
  name,
  description: "",
  inputSchema: { type: "object" },
  outputSchema: null,
  annotations,
  ...more,
});
const sizeOf = (text: string) => new TextEncoder().encode(text).length;
const kept = (...tools: ListedTool[]) => withinBounds(tools, sizeOf).tools.map(({ name }) => name);

test("the 501st tool is left out with a warning", () => {
  const many = Array.from({ length: 503 }, (_, index) => tool(`t${index}`));
  const { tools, warnings } = withinBounds(many, sizeOf);
  expect(tools).toHaveLength(bounds.tools);
  expect(warnings).toEqual(["3 tools beyond the first 500 are left out"]);
});

test.each([
  ["a schema of 65 KiB", tool("a", { inputSchema: { description: "x".repeat(65 * 1_024) } })],
  ["a description of more than 4 KiB", tool("a", { description: "ä".repeat(2_049) })],
  [
    "a schema of 5,000 levels",
    tool("a", { inputSchema: JSON.parse(`${'{"not":'.repeat(5_000)}{}${"}".repeat(5_000)}`) }),
  ],
  ["a name with a space", tool("a b")],
  ["no name", tool("")],
  ["a name of 97 characters", tool("a".repeat(97))],
])("%s is left out", (_, odd) => {
  expect(kept(odd, tool("good"))).toEqual(["good"]);
});

test("of all tools together no more is kept than 8 MiB", () => {
  const many = Array.from({ length: 200 }, (_, index) =>
    tool(`t${index}`, { inputSchema: { description: "x".repeat(60 * 1_024) } }),
  );
  const { tools, warnings } = withinBounds(many, sizeOf);
  expect(tools).toHaveLength(136);
  expect(warnings).toEqual(["64 tools beyond the first 136 are left out"]);
});

test("a tool that is listed twice counts once", () => {
  expect(kept(tool("a"), tool("a", { description: "another" }))).toEqual(["a"]);
});

test("pinned: the first list is accepted, what is new or changed later is withheld", () => {
  const first = standingOf("pinned", null, { a: "1", b: "1" });
  expect(first).toEqual({ accepted: { a: "1", b: "1" }, withheld: [] });
  const later = { a: "2", b: "1", c: "1" };
  expect(standingOf("pinned", first.accepted, later).withheld).toEqual(["a", "c"]);
  expect(standingOf("pinned", accepting(first.accepted, later, ["c", "unknown"]), later).withheld).toEqual(["a"]);
  expect(standingOf("follow", first.accepted, later)).toEqual({ accepted: null, withheld: [] });
});

test("the accepted form of a changed tool is kept until the change is accepted", () => {
  const [one, other, third] = ["one", "other", "third"].map((description) => tool("a", { description }));
  if (one === undefined || other === undefined || third === undefined) throw new Error("unreachable");
  const accepted = { a: "1" };
  const first = acceptedDefinitions({}, { tools: [one], digests: { a: "1" } }, accepted, { a: "2", b: "1" }, sizeOf);
  expect(first).toEqual({ a: one });
  // Of several changes the accepted one counts, also over a list without the tool.
  const gone = acceptedDefinitions(first, { tools: [other], digests: { a: "2" } }, accepted, {}, sizeOf);
  expect(acceptedDefinitions(gone, { tools: [], digests: {} }, accepted, { a: "3" }, sizeOf)).toEqual({ a: one });
  expect(acceptedDefinitions(first, { tools: [third], digests: { a: "3" } }, accepted, accepted, sizeOf)).toEqual({});
  expect(acceptedDefinitions(first, { tools: [other], digests: { a: "2" } }, null, { a: "2" }, sizeOf)).toEqual({});
  const large = tool("l", { inputSchema: { description: "x".repeat(bounds.listBytes) } });
  const before = { tools: [large, one], digests: { l: "1", a: "1" } };
  // What waits for a person comes before what is gone.
  expect(acceptedDefinitions({}, before, { l: "1", a: "1" }, { a: "2" }, sizeOf)).toEqual({ a: one });
});

test("two lists are compared by their definitions", () => {
  expect(differenceOf({ a: "1", b: "1" }, { b: "2", c: "1" })).toEqual({
    added: ["c"],
    removed: ["a"],
    changed: ["b"],
  });
  expect(differenceOf({ a: "1" }, { a: "1" })).toBeNull();
  const [one, other] = [
    { x: 1, y: { b: 1, a: [1] } },
    { y: { a: [1], b: 1 }, x: 1 },
  ];
  expect(definitionText(tool("a", { inputSchema: one }))).toBe(definitionText(tool("a", { inputSchema: other })));
});
