/** What is found of states together: warnings, and what holds for random ones (docs/reference/workflows.md). */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Json } from "../../../../actors/kernel/json.ts";
import type { State } from "../../../../actors/workflow/definition.ts";
import { secretsOf } from "../../../../actors/workflow/manifest/secrets.ts";
import { around, definitionOf, reading, states, type Tree, withMember } from "./fixture.ts";
import { furtherStates } from "./further-states.ts";

const noop = (more: object = {}) => ({ kind: "System", command: "noop", transitions: [], ...more });
const to = (...targets: readonly string[]) => ({ transitions: targets.map((target) => ({ target })) });
const manifestOf = (all: Tree, spec: object = {}, metadata: object = {}): Json =>
  ({
    apiVersion: "svc.dev/v1",
    kind: "Workflow",
    metadata: { name: "sample", ...metadata },
    spec: { initial_state: Object.keys(all)[0], states: all, ...spec },
  }) as unknown as Json;
const warned = (document: Json) => reading(document).warnings;
const branches = (left: Tree, right: Tree): Json => ({
  kind: "Branch",
  branches: [
    { name: "left", initial_state: "L1", states: left },
    { name: "right", initial_state: "R1", states: right },
  ],
  ...to("END"),
});

describe("warnings of the further kinds", () => {
  test("good states are worth none", () => {
    for (const state of Object.values(furtherStates)) {
      const found = warned(around(state) as Json).filter(([, code]) => code !== "loop" && code !== "unreachable_state");
      expect(found).toEqual([]);
    }
  });

  test("states of branches and compensations are led to; others in a branch are not", () => {
    const document = manifestOf({
      A: branches({ L1: noop(), L2: noop() }, { R1: noop({ compensate: "UNDO" }) }),
      UNDO: noop(),
      END: noop(),
    });
    expect(warned(document)).toEqual([["spec.states.A.branches.0.states.L2", "unreachable_state"]]);
    const undoing = withMember(
      branches({ L1: noop(to("L3")), L3: noop() }, { R1: noop(), R2: noop() }),
      "transitions",
      [],
    );
    expect(warned(manifestOf({ A: noop({ compensate: "UNDO" }), UNDO: undoing }))).toEqual([
      ["spec.states.UNDO.branches.1.states.R2", "unreachable_state"],
    ]);
  });

  test("what has no effect", () => {
    const undone = { A: noop({ compensate: "UNDO", ...to("END") }), UNDO: noop(to("END")), END: noop() };
    expect(warned(manifestOf(undone))).toEqual([["spec.states.UNDO.transitions", "no_effect"]]);
    const failing = { A: noop({ compensate: "UNDO" }), UNDO: noop({ outcome: "failed" }) };
    expect(warned(manifestOf(failing))).toEqual([["spec.states.UNDO.outcome", "no_effect"]]);
    expect(warned(manifestOf({ A: noop() }, { compensate_on: ["failed"] }))).toEqual([
      ["spec.compensate_on", "no_effect"],
    ]);
    expect(warned(manifestOf({ A: noop({ retry: {} }) }))).toEqual([["spec.states.A.retry.attempts", "no_effect"]]);
    const slow = { attempts: 2, delay: "10m" };
    expect(warned(manifestOf({ A: noop({ retry: slow }) }))).toEqual([["spec.states.A.retry.delay", "no_effect"]]);
  });

  test("a Map without a bound", () => {
    const map = (items: Json, more: object = {}) => ({
      A: { kind: "Map", items, state: noopItem, transitions: [], ...more },
    });
    const noopItem = { kind: "System", command: "noop" };
    const typed = (list: object) => ({ input_schema: { type: "object", properties: { list } } });
    const unbounded = [["spec.states.A.items", "map_unbounded"]];
    expect(warned(manifestOf(map("{{input.list}}")))).toEqual(unbounded as never);
    expect(warned(manifestOf(map("{{input.list}}"), {}, typed({ type: "array" })))).toEqual(unbounded as never);
    expect(warned(manifestOf(map("{{input.list}}"), {}, typed({ maxItems: 10_001 })))).toEqual(unbounded as never);
    expect(warned(manifestOf(map("{{json blackboard.input.list}}")))).toEqual(unbounded as never);
    expect(warned(manifestOf(map("{{input.list}}"), {}, typed({ maxItems: 500 })))).toEqual([]);
    expect(warned(manifestOf(map([1, "{{input.list}}"])))).toEqual([]);
    const again = manifestOf(map([1], { state: undefined, workflow: "sample" }));
    expect(warned(again)).toEqual([["spec.states.A", "map_unbounded"]]);
  });
});

describe("paths that no state writes", () => {
  const messages = (document: Json) =>
    reading(document)
      .judged.warnings.filter(({ code }) => code === "template_path_missing")
      .map(({ path, message }) => `${path}: ${message}`);
  const prompt = (text: string, more: object = {}) => ({ kind: "Human", prompt: text, transitions: [], ...more });

  test("by no state that comes before", () => {
    const document = manifestOf({ A: prompt("{{B.status}}{{A.status}}", to("B")), B: prompt("{{A.status}}") });
    expect(messages(document)).toEqual([
      "spec.states.A.prompt: B.status is written by no state that comes before; a start may bring it",
      "spec.states.A.prompt: A.status is written by no state that comes before; a start may bring it",
    ]);
    const looped = manifestOf({ A: prompt("{{B.status}}{{A.status}}", to("B")), B: prompt("", to("A")) });
    expect(messages(withMember(looped, "spec.states.B.prompt", "go on"))).toEqual([]);
    // Its own result is there when it is left, and all of them are at the end.
    const feedback = { transitions: [{ target: "B", feedback: "{{A.status}}" }] };
    const output_template = { a: "{{A.status}}{{B.status}}" };
    expect(messages(manifestOf({ A: noop(feedback), B: noop() }, {}, { output_template }))).toEqual([]);
  });

  test("what a branch writes is seen in it alone", () => {
    const document = manifestOf({
      FIRST: noop(to("A")),
      A: branches(
        { L1: noop(to("L2")), L2: prompt("{{FIRST.status}}{{L1.status}}{{R1.status}}") },
        { R1: prompt("{{A.status}}") },
      ),
      END: prompt("{{L1.status}}{{A.branches.lefft.status}}{{A.branches.right.status}}{{A.joind}}"),
    });
    const kept = "is written by nothing that is seen from here: a branch keeps its results; a start may bring it";
    const late = "is written by no state that comes before; a start may bring it";
    const found = messages(document).sort();
    expect(found.map((one) => one.replace(/; did you mean .*/, ""))).toEqual(
      [
        `spec.states.A.branches.0.states.L2.prompt: R1.status ${kept}`,
        `spec.states.A.branches.1.states.R1.prompt: A.status ${late}`,
        "spec.states.END.prompt: A.branches.lefft.status does not exist",
        "spec.states.END.prompt: A.joind does not exist",
        `spec.states.END.prompt: L1.status ${kept}`,
      ].sort(),
    );
  });

  test("an item finds itself and its position, and no state after it does", () => {
    const map = { kind: "Map", items: [1], as: "thing", transitions: [{ target: "END" }] };
    const item = { kind: "Agent", agent: "writer", input: "{{thing.id}} {{index}} {{item}}" };
    const document = manifestOf({ A: { ...map, state: item }, END: prompt("{{thing}} {{A.results}}") });
    expect(messages(document).map((one) => one.replace(/; did you mean .*/, ""))).toEqual([
      "spec.states.A.state.input: item is written by nothing in this workflow; a start may bring it",
      "spec.states.END.prompt: thing is written by nothing in this workflow; a start may bring it",
    ]);
  });

  test("a compensation is told of what it undoes, and only it is", () => {
    const good = "{{state.of.name}} {{state.of.visit}} {{state.of.result.status}}";
    const document = (text: string, other = "") =>
      manifestOf({ A: noop({ compensate: "UNDO", ...to("END") }), UNDO: prompt(text), END: prompt(other || "done") });
    expect(messages(document(good))).toEqual([]);
    const inside = withMember(branches({ L1: prompt(good) }, { R1: prompt(`{{L1}}${good}`) }), "transitions", []);
    expect(messages(manifestOf({ A: noop({ compensate: "UNDO" }), UNDO: inside }))).toEqual([
      expect.stringContaining("spec.states.UNDO.branches.1.states.R1.prompt: L1 is written"),
    ]);
    expect(messages(document("{{state.of.nmae}}"))).toEqual([
      "spec.states.UNDO.prompt: state.of.nmae does not exist; did you mean name?",
    ]);
    expect(messages(document(good, good))).toHaveLength(3);
    const strict = { ...(document(good, "{{state.of.name}}") as Tree) };
    const refused = withMember(strict as Json, "spec.strict_templates", true);
    expect(reading(refused).issues).toEqual([["spec.states.END.prompt", "template_path_missing"]]);
  });

  test("members of results that no kind has", () => {
    const wait = { kind: "Wait", seconds: 1, ...to("END") };
    expect(messages(manifestOf({ A: wait, END: prompt("{{A.waited_ms}}{{A.paylod}}{{A.error}}") }))).toEqual([
      "spec.states.END.prompt: A.paylod does not exist; did you mean payload?",
    ]);
  });
});

test("secrets and credentials are found in items, branches and headers", () => {
  const http = { kind: "Http", url: "https://example.com/", headers: { Authorization: "secret:a/b" } };
  const container = { kind: "ContainerRun", name: "c", image: "ghcr.io/a/b:1", command: ["x"] };
  const document = manifestOf({
    A: { kind: "Map", items: [1], state: http, ...to("B") },
    B: branches(
      { L1: { ...http, transitions: [] } },
      { R1: { ...container, registry_credentials: "secret:r", ...to() } },
    ),
    END: noop(),
  });
  expect(secretsOf(definitionOf(document)).map(({ path, reference }) => [path, reference.text])).toEqual([
    ["spec.states.A.state.headers.Authorization", "secret:a/b"],
    ["spec.states.B.branches.0.states.L1.headers.Authorization", "secret:a/b"],
    ["spec.states.B.branches.1.states.R1.registry_credentials", "secret:r"],
  ]);
});

describe("random states", () => {
  const names = ["A", "B", "C", "D", "E", "F"] as const;
  const name = fc.constantFrom(...names);
  const graph = fc
    .tuple(
      ...names.map((own) =>
        fc.record({
          name: fc.constant(own),
          targets: fc.uniqueArray(name, { maxLength: 3 }),
          compensate: fc.option(name, { nil: undefined, freq: 4 }),
        }),
      ),
    )
    .map((all) => ({
      all,
      document: manifestOf(
        Object.fromEntries(all.map(({ name, targets, compensate }) => [name, noop({ ...to(...targets), compensate })])),
      ),
    }));

  test("compensations are refused exactly where they are in a circle, undone, or led to", () => {
    fc.assert(
      fc.property(graph, ({ all, document }) => {
        const written = JSON.parse(JSON.stringify(document)) as Json;
        const undoing = new Set(all.flatMap(({ compensate }) => compensate ?? []));
        const isBad =
          undoing.has("A") ||
          all.some((one) => undoing.has(one.name) && one.compensate !== undefined) ||
          all.some((one) => !undoing.has(one.name) && one.targets.some((target) => undoing.has(target)));
        expect(reading(written).issues.length > 0).toBe(isBad);
        const of = new Map(all.map((one) => [one.name as string, one.compensate as string | undefined]));
        const isInCircle = (start: string) => {
          let at = of.get(start);
          for (let step = 0; step < names.length && at !== undefined && at !== start; step++) at = of.get(at);
          return at === start;
        };
        const circles = reading(written).issues.filter(([, code]) => code === "compensation_cycle");
        expect(circles.map(([path]) => path).sort()).toEqual(
          names.filter(isInCircle).map((one) => `spec.states.${one}.compensate`),
        );
      }),
      { numRuns: 400 },
    );
  });

  const inner = fc.record({
    outcome: fc.constantFrom("completed", "failed"),
    next: fc.option(fc.constantFrom("1", "2", "3"), { nil: undefined }),
    condition: fc.constantFrom("always", "on_success", "on_failure"),
  });
  const branch = fc.tuple(inner, inner, inner);
  const branched = fc
    .record({ all: fc.array(branch, { minLength: 2, maxLength: 4 }), join: fc.integer({ min: 1, max: 4 }) })
    .filter(({ all, join }) => join <= all.length);

  /** Whether a run of these states alone could end, and complete. */
  const walk = (
    all: readonly (typeof inner extends fc.Arbitrary<infer T> ? T : never)[],
    from = 0,
    seen = new Set<number>(),
  ) => {
    const state = all[from];
    if (state === undefined || seen.has(from)) return { ends: false, completes: false };
    seen.add(from);
    if (state.next === undefined) return { ends: true, completes: state.outcome === "completed" };
    const further: { ends: boolean; completes: boolean } = walk(all, Number(state.next) - 1, seen);
    return {
      ends: further.ends || state.condition !== "always",
      completes: further.completes || state.condition === "on_failure",
    };
  };

  test("a join too few branches can meet is refused, and a branch that cannot end", () => {
    fc.assert(
      fc.property(branched, ({ all, join }) => {
        const list = all.map((of, at) => ({
          name: `b${at}`,
          initial_state: `S${at}_1`,
          states: Object.fromEntries(
            of.map(({ outcome, next, condition }, step) => [
              `S${at}_${step + 1}`,
              next === undefined ? noop({ outcome }) : noop({ transitions: [{ target: `S${at}_${next}`, condition }] }),
            ]),
          ),
        }));
        const found = reading(manifestOf({ A: { kind: "Branch", branches: list, join, transitions: [] } })).issues;
        const walks = all.map((of) => walk(of));
        const endless = walks.flatMap(({ ends }, at) =>
          ends ? [] : [[`spec.states.A.branches.${at}`, "branch_without_end"]],
        );
        const good = walks.filter(({ completes }) => completes).length;
        const expected = endless.length > 0 ? endless : good < join ? [["spec.states.A.join", "join_unreachable"]] : [];
        expect(found as never).toEqual(expected as never);
      }),
      { numRuns: 300 },
    );
  });

  test("branches stand flat behind their Branch, each state with its place", () => {
    const definition = definitionOf(around(states.Branch) as Json);
    expect(Object.keys(definition.states)).toEqual(["A", "L1", "L2", "R1", "B", "END"]);
    const placeOf = ({ branch }: State) => (branch === undefined ? null : `${branch.state}/${branch.name}`);
    expect(Object.values(definition.states).map(placeOf)).toEqual([null, "A/left", "A/left", "A/right", null, null]);
    // What undoes a state is the run's.
    const undone = manifestOf({
      A: branches({ L1: noop({ compensate: "UNDO" }), UNDO: noop() }, { R1: noop() }),
      END: noop(),
    });
    expect(definitionOf(undone).states.UNDO?.branch).toBeUndefined();
  });
});
