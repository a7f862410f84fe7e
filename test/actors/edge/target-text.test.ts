/** Targets as people type them (docs/reference/edge-cli.md). */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { isSelectorTerm, readSelectorText, readTargetText } from "../../../actors/edge/target-text.ts";
import { Problem } from "../../../actors/kernel/problem.ts";

const a = "0190b3c2-7d4e-7a11-8c22-5f0e6d7a8b90";
const b = "0190b3c2-7d4e-7a11-8c22-5f0e6d7a8b91";
const none = { os: null, arch: null, tools: [], labels: [], tags: [] };
const selector = (fields: object) => ({ Selector: { ...none, ...fields } });

test.each([
  [`@${a}`, { Node: a }],
  [` @${a.toUpperCase()} `, { Node: a }],
  [`@${a},@${b}`, { Nodes: [a, b] }],
  [`@${a}, ${b}`, { Nodes: [a, b] }],
  ["group:web", { Group: "web" }],
  ["Group: web servers ", { Group: "web servers" }],
  [`group:${a}`, { Group: a }],
  ["all", { All: null }],
  ["ALL", { All: null }],
  ["os=linux", selector({ os: "linux" })],
  ["os=Darwin arch=arm64", selector({ os: "macos", arch: "aarch64" })],
  ["tools=git,docker", selector({ tools: ["git", "docker"] })],
  ["tools=git tools=docker", selector({ tools: ["git", "docker"] })],
  ["tags=web", selector({ tags: [{ Has: "web" }] })],
  ["tags=web,db", selector({ tags: [{ Has: "web" }, { Has: "db" }] })],
  ["tags=AnyOf(a, b),NoneOf(c)", selector({ tags: [{ AnyOf: ["a", "b"] }, { NoneOf: ["c"] }] })],
  ["tags=any_of(a,b) tags=all-of(c)", selector({ tags: [{ AnyOf: ["a", "b"] }, { AllOf: ["c"] }] })],
  ["tags=AllOf()", selector({ tags: [{ AllOf: [] }] })],
  ["labels=zone=b", selector({ labels: [{ Equals: { zone: "b" } }] })],
  ["labels=zone=b=c,rack=", selector({ labels: [{ Equals: { zone: "b=c" } }, { Equals: { rack: "" } }] })],
  ["labels=Exists(gpu),In(zone,a,b)", selector({ labels: [{ Exists: "gpu" }, { In: { zone: ["a", "b"] } }] })],
])("%s is understood", (text, target) => {
  expect(readTargetText(text)).toEqual(target as ReturnType<typeof readTargetText>);
});

test.each([
  "",
  "  ",
  "web",
  "*",
  "@web",
  `@${a},`,
  `@${a},web`,
  "group:",
  "os=",
  "os=windows",
  "os=linux,macos",
  "os=linux os=macos",
  "sys=linux",
  "tag=web",
  "tags=",
  "tags=a|b",
  "tags=a,,b",
  "tags=AnyOf(a",
  "tags=AnyOf a)",
  "tags=SomeOf(a)",
  "tags=AnyOf(a,)",
  "tags=Has(a,b)",
  "labels=zone",
  "labels==b",
  "labels=Exists(a,b)",
  "labels=In(zone)",
  "labels=zone=a|Exists(b)",
  "os=linux and tags=web",
  "all os=linux",
])("%p is refused, not guessed", (text) => {
  expect(() => readTargetText(text)).toThrow(Problem);
});

test("any text is a target or a refusal, and a term is told from a tool", () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 40 }), (text) => {
      try {
        readSelectorText(text);
      } catch (error) {
        expect(error).toBeInstanceOf(Problem);
      }
    }),
  );
  expect(["os=linux", "TAGS=a", "labels=a=b"].map(isSelectorTerm)).toEqual([true, true, true]);
  expect(["cmd.run", "all", "@x", "x=os=linux"].map(isSelectorTerm)).toEqual([false, false, false, false]);
});
