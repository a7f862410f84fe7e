/** Two versions of a workflow as the console compares them: what the service tells, put to the state it belongs to. */
import { expect, test } from "bun:test";
import { parse } from "yaml";
import { differenceOf } from "../../actors/manifest/difference.ts";
import { changesGraph, changesOf } from "../../src/console/pages/workflows/model/changes.ts";
import { type Definition, readDefinition } from "../../src/console/pages/workflows/model/definition.ts";

const manifest = (spec: string) => `kind: Workflow\nmetadata: { name: w, version: "1" }\nspec: ${spec}`;

function compared(before: string, after: string) {
  const texts = [manifest(before), manifest(after)] as const;
  const [old, next] = texts.map(readDefinition) as [Definition, Definition];
  const told = differenceOf(parse(texts[0]), parse(texts[1]));
  const changes = changesOf(old, next, told as Parameters<typeof changesOf>[2]);
  return { changes, graph: changesGraph(old, next, changes) };
}

const rule = (condition: string, target: string) => `{ condition: ${condition}, target: ${target} }`;

test("states, rules and fields that were added, removed and changed, each once", () => {
  const { changes, graph } = compared(
    `{ initial_state: ASK, states: {
      ASK: { kind: Human, prompt: Old?, timeout: 1h, transitions: [${rule("approved", "HOLD")}, ${rule("rejected", "END")}] },
      HOLD: { kind: Wait, signal: go, transitions: [${rule("always", "END")}] },
      END: { kind: System, command: noop } } }`,
    `{ initial_state: ASK, context: [a], states: {
      ASK: { kind: Human, prompt: New?, reminder: 5m, transitions: [${rule("rejected", "END")}, ${rule("approved", "PACK")}] },
      PACK: { kind: System, command: pack, transitions: [${rule("always", "END")}] },
      END: { kind: System, command: noop } } }`,
  );
  const said = changes.states.map(({ name, change, rules }) => [
    name,
    change,
    rules.map((one) => `${one.change} ${one.rule.condition} ${one.rule.target}`),
  ]);
  expect(said).toEqual([
    ["ASK", "changed", ["removed approved HOLD", "added approved PACK"]],
    ["PACK", "added", []],
    ["HOLD", "removed", []],
  ]);
  expect(changes.states[0]?.fields).toEqual([
    { path: "timeout", change: "removed", from: "1h", to: undefined },
    { path: "prompt", change: "changed", from: "Old?", to: "New?" },
    { path: "reminder", change: "added", from: undefined, to: "5m" },
  ]);
  expect(changes.others).toEqual([{ path: "spec.context", change: "added", from: undefined, to: ["a"] }]);
  expect(graph.nodes.map(({ id, change }) => [id, change])).toEqual([
    ["ASK", "changed"],
    ["PACK", "added"],
    ["END", null],
    ["HOLD", "removed"],
  ]);
  const ways = graph.edges.flatMap(({ from, to, change }) => (change == null ? [] : [`${change} ${from} ${to}`]));
  expect(ways.sort()).toEqual(["added ASK PACK", "added PACK END", "removed ASK HOLD", "removed HOLD END"]);
});

test("states of branches, states in a list, and rules in another order", () => {
  const branched = (command: string) => `{ states: [
    { name: SPLIT, kind: Branch, branches: [{ name: left, initial_state: IN, states: { IN: { kind: System, command: ${command} } } }] },
    { name: ASK, kind: Human, transitions: [${[rule("approved", "SPLIT"), rule("rejected", "IN")]}] }] }`;
  const { changes } = compared(branched("one"), branched("two"));
  expect(changes.states).toMatchObject([
    { name: "IN", change: "changed", fields: [{ path: "command", from: "one", to: "two" }] },
  ]);
  const ordered = (...rules: string[]) => `{ states: { A: { kind: Human, transitions: [${rules.join()}] } } }`;
  const [yes, no] = [rule("approved", "A"), rule("rejected", "A")];
  expect(compared(ordered(yes, no), ordered(no, yes)).changes.states).toMatchObject([
    { name: "A", change: "changed", rules: [], fields: [], isReordered: true },
  ]);
});
