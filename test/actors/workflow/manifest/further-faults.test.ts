/** Faults of the further kinds, and of what states and schedules may say beside their kind (docs/reference/workflows.md). */
import { describe, expect, test } from "bun:test";
import type { Json } from "../../../../actors/kernel/json.ts";
import { around, reading, states, type Tree, withMember } from "./fixture.ts";
import { furtherStates } from "./further-states.ts";
import { expectOne, many, type Row } from "./rows.ts";

type FurtherKind = keyof typeof furtherStates;

describe("states of the further kinds", () => {
  const rows: Readonly<Record<FurtherKind, readonly Row[]>> = {
    Wait: [
      ["stimulus", undefined, "invalid", "seconds"],
      ["seconds", 5, "invalid", "stimulus"],
      ["signal", "go", "invalid", "stimulus"],
      ["until", "2031-05-01T08:00:00Z", "invalid", "stimulus"],
      ["stimulus.source", undefined],
      ["stimulus.source", "two words"],
      ["stimulus.key", undefined, "invalid", "stimulus.equals"],
      ["stimulus.equals", undefined],
      ["stimulus.key", "order..id"],
      ["stimulus.equals", "{{", "invalid_template"],
      ["stimulus.match", "payload.a ==", "invalid_expression"],
      ["stimulus.match", "input.a == 1"],
      ["stimulus.also", 1, "unknown_field"],
      ["timeout", 0],
      ["retry", { attempts: 2 }, "unknown_field"],
    ],
    Map: [
      ["items", undefined],
      ["items", {}],
      ["items", 5],
      ["items", "no list"],
      ["items", '{"a": 1}'],
      ["items", "all of {{input.items}}"],
      ["items", ["{{"], "invalid_template", "items.0"],
      ["items", many(10_001, () => 1), "map_unbounded"],
      ["items", JSON.stringify(many(10_001, () => 1)), "map_unbounded"],
      ["state", undefined],
      ["workflow", "child", "invalid", "state"],
      ["input", {}],
      ["state.kind", "Human"],
      ["state.kind", "Map"],
      ["state.kind", "Branch"],
      ["state.url", undefined],
      ["state.transitions", [{ target: "B" }], "unsupported_field"],
      ["state.compensate", "B", "unsupported_field"],
      ["state.continue_as", { input: 1 }, "unsupported_field"],
      ["state.outcome", "failed", "unsupported_field"],
      ["state.max_state_visits", 3, "unsupported_field"],
      ["state.retry.attempts", 11],
      ["as", "index"],
      ["as", "B"],
      ["as", "input"],
      ["concurrency", 0],
      ["concurrency", 101],
      ["batch", 0],
      ["batch", 1001],
      ["tolerate", -1],
      ["tolerate", 1.5],
      ["tolerate", "101%"],
      ["tolerate", "some"],
    ],
    Branch: [
      ["branches", undefined],
      ["branches", []],
      ["branches", [furtherStates.Branch.branches[0]]],
      ["branches", many(21, (n) => ({ name: `b${n}`, initial_state: "X", states: {} }))],
      ["branches.0.name", undefined],
      ["branches.0.name", "__proto__"],
      ["branches.1.name", "left"],
      ["branches.0.initial_state", undefined],
      ["branches.0.initial_state", "R1"],
      ["branches.0.initial_state", "B"],
      ["branches.0.states", {}],
      ["branches.0.states.L2.kind", "Branch"],
      ["branches.0.states.L2.kind", "Map"],
      ["branches.0.states.L2.transitions", [{ target: "B" }], "invalid", "branches.0.states.L2.transitions.0.target"],
      ["branches.0.states.L2.transitions", [{ target: "R1" }], "invalid", "branches.0.states.L2.transitions.0.target"],
      ["transitions", [{ target: "L1" }], "invalid", "transitions.0.target"],
      ["branches.1.states.0.name", "L2"],
      ["branches.0.states.L2.continue_as", { input: 1 }],
      ["branches.0.also", 1, "unknown_field"],
      ["join", 0],
      ["join", "most"],
      ["join", 3, "join_unreachable"],
      ["branches.1.states.0.outcome", "failed", "join_unreachable", "join"],
      ["branches.1.states.0.transitions", [{ target: "R1" }], "branch_without_end", "branches.1"],
    ],
    Tool: [
      ["tool", undefined],
      ["tool", " "],
      ["tool", "{{", "invalid_template"],
      ["arguments", []],
      ["arguments", "path=/etc"],
      ["arguments.deep.0.of", "{{", "invalid_template"],
    ],
    Fleet: [
      ["target", undefined],
      ["target", "Everything"],
      ["target", { Node: "web-1" }, "invalid", "target.Node"],
      ["target.Selector.tag", ["web"]],
      ["tool", undefined],
      ["tool", " "],
      ["command", "uptime", "invalid", "tool"],
      ["args", []],
      ["policy", "Parallel"],
      ["policy.mode", "Sideways"],
      ["policy.retries", 9],
      ["policy.also", 1],
    ],
    Http: [
      ["url", undefined],
      ["url", "ftp://example.com"],
      ["url", "https://user:pw@example.com/"],
      ["url", "{{", "invalid_template"],
      ["method", "TRACE"],
      ["method", "GET", "invalid", "body"],
      ["headers.Host", "x"],
      ["headers.idempotency-key", "x"],
      ["headers.X-Id", "{{", "invalid_template"],
      ["headers.X-Id", "two\nlines"],
      ["headers.X-Id", "secret:../up"],
      ["headers.X-Id", "credential:github", "unsupported_field"],
      ["body.id", "{{", "invalid_template"],
      ["expect.status", []],
      ["expect.status", [99], "invalid", "expect.status.0"],
      ["expect.status", ["6xx"], "invalid", "expect.status.0"],
      ["expect.schema", { type: "strin" }, "invalid_schema"],
      ["expect.schema", { description: "x".repeat(33_000) }, "invalid_schema"],
      ["expect.also", 1, "unknown_field"],
      ["retry.attempts", 0],
      ["retry.attempts", 11],
      ["retry.delay", "2d"],
      ["retry.backoff", 0.5],
      ["retry.max_delay", "2d"],
      ["retry.on", []],
      ["retry.on", ["two words"], "invalid", "retry.on.0"],
      ["retry.times", 3, "unknown_field"],
    ],
  };
  for (const [kind, list] of Object.entries(rows) as [FurtherKind, readonly Row[]][]) {
    for (const [path, value, code = "invalid", at = path] of list) {
      test(`${kind} ${path} = ${JSON.stringify(value)?.slice(0, 50)}`, () => {
        const bad = withMember(around(furtherStates[kind]) as Json, `spec.states.A.${path}`, value);
        expect(reading(bad).issues).toContainEqual([`spec.states.A.${at}`, code]);
      });
    }
  }

  const waits: readonly (readonly [Json, string])[] = [
    [{ seconds: -1 }, "seconds"],
    [{ seconds: 31_536_001 }, "seconds"],
    [{ seconds: "soon" }, "seconds"],
    [{ seconds: "{{" }, "seconds"],
    [{ seconds: 5, timeout: 5 }, "timeout"],
    [{ until: "tomorrow" }, "until"],
    [{ until: "2031-05-01T08:00:00" }, "until"],
    [{ until: "2031-13-01T08:00:00Z" }, "until"],
    [{ until: "{{input.at}}", timeout: 5 }, "timeout"],
    [{ signal: " " }, "signal"],
    [{ signal: "x".repeat(257) }, "signal"],
  ];
  test.each(waits.map(([wait, at]) => [JSON.stringify(wait).slice(0, 50), wait, at] as const))(
    "Wait %s",
    (_title, wait, at) => {
      const { issues } = reading(around({ kind: "Wait", transitions: [], ...(wait as object) } as Json) as Json);
      expect(issues.map(([path]) => path)).toEqual([`spec.states.A.${at}`]);
    },
  );
});

describe("what states of all kinds may say", () => {
  const noop = (more: object = {}) => ({ kind: "System", command: "noop", transitions: [], ...more });
  const manifestOf = (all: Tree, spec: object = {}): Json =>
    ({
      apiVersion: "svc.dev/v1",
      kind: "Workflow",
      metadata: { name: "sample" },
      spec: { initial_state: Object.keys(all)[0], states: all, ...spec },
    }) as unknown as Json;
  const branch = (one: object, other: object) =>
    ({
      kind: "Branch",
      branches: [
        { name: "one", initial_state: "ONE", states: one },
        { name: "other", initial_state: "OTHER", states: other },
      ],
      transitions: [],
    }) as unknown as Json;
  const to = (...targets: string[]) => ({ transitions: targets.map((target) => ({ target })) });

  const cases: Readonly<Record<string, readonly [document: Json, path: string, code: string]>> = {
    "a compensation that is no state": [
      manifestOf({ A: noop({ compensate: "UNDOO" }), UNDO: noop() }),
      "spec.states.A.compensate",
      "invalid",
    ],
    "a state that undoes itself": [
      manifestOf({ A: noop({ compensate: "A" }) }),
      "spec.states.A.compensate",
      "compensation_cycle",
    ],
    "states that undo each other": [
      manifestOf({ A: noop({ compensate: "B" }), B: noop({ compensate: "C" }), C: noop({ compensate: "B" }) }),
      "spec.states.C.compensate",
      "compensation_cycle",
    ],
    "a compensation that is undone": [
      manifestOf({ A: noop({ compensate: "B" }), B: noop({ compensate: "C" }), C: noop() }),
      "spec.states.B.compensate",
      "invalid",
    ],
    "a transition to a compensation": [
      manifestOf({ A: noop({ compensate: "UNDO", ...to("UNDO") }), UNDO: noop() }),
      "spec.states.A.transitions.0.target",
      "invalid",
    ],
    "a run that begins with a compensation": [
      manifestOf({ A: noop(), B: noop({ compensate: "A" }) }),
      "spec.initial_state",
      "invalid",
    ],
    "a branch that begins with a compensation": [
      manifestOf({ A: branch({ ONE: noop() }, { OTHER: noop(), X: noop({ compensate: "ONE" }) }) }),
      "spec.states.A.branches.0.initial_state",
      "invalid",
    ],
    "a compensation that the run goes on from": [
      manifestOf({ A: noop({ compensate: "UNDO" }), UNDO: noop({ continue_as: { input: 1 } }) }),
      "spec.states.UNDO.continue_as",
      "invalid",
    ],
    "a continuation in the middle": [
      manifestOf({ A: noop({ continue_as: { input: 1 }, ...to("B") }), B: noop() }),
      "spec.states.A.continue_as",
      "invalid",
    ],
    "a continuation of a failure": [
      manifestOf({ A: noop({ continue_as: { input: 1 }, outcome: "failed" }) }),
      "spec.states.A.continue_as",
      "invalid",
    ],
    "a continuation with a template that is none": [
      manifestOf({ A: noop({ continue_as: { input: ["{{"] } }) }),
      "spec.states.A.continue_as.input.0",
      "invalid_template",
    ],
    "a continuation that says more": [
      manifestOf({ A: noop({ continue_as: { input: 1, version: "2.0.0" } }) }),
      "spec.states.A.continue_as.version",
      "unknown_field",
    ],
    "a name inside a branch and outside": [
      manifestOf({ A: branch({ ONE: noop(), END: noop() }, { OTHER: noop() }), END: noop() }),
      "spec.states.END",
      "invalid",
    ],
    "retry of a person": [
      manifestOf({ A: { ...noop(), kind: "Human", command: undefined, prompt: "?", retry: {} } }),
      "spec.states.A.retry",
      "unknown_field",
    ],
    "retry of a container, which has its own": [
      manifestOf({
        A: { kind: "ContainerRun", name: "x", image: "a", command: ["x"], retry: { attempts: 2 }, ...to() },
      }),
      "spec.states.A.retry.attempts",
      "unknown_field",
    ],
    "more than 100 states, those of branches among them": [
      manifestOf({
        A: branch(
          Object.fromEntries(many(60, (n) => n).map((n) => [n === 0 ? "ONE" : `ONE${n}`, noop()])),
          Object.fromEntries(many(60, (n) => n).map((n) => [n === 0 ? "OTHER" : `OTHER${n}`, noop()])),
        ),
      }),
      "spec.states",
      "invalid",
    ],
  };
  test.each(Object.entries(cases))("%s", (_title, [document, path, code]) => {
    expect(reading(document).issues).toContainEqual([path, code]);
  });

  test("names of states that are near are told", () => {
    const said = (document: Json) => reading(document).judged.issues.map(({ message }) => message);
    expect(said(manifestOf({ PAY: noop({ compensate: "REFUDN" }), REFUND: noop() }))).toEqual([
      'there is no state "REFUDN"; did you mean REFUND?',
    ]);
    expect(said(manifestOf({ A: noop(to("DONEE")), DONE: noop() }))).toEqual([
      'there is no state "DONEE"; did you mean DONE?',
    ]);
    const branches = withMember(around(states.Branch) as Json, "spec.states.A.branches.0.initial_state", "L3");
    expect(said(branches)).toEqual(["names no state of the branch; did you mean L1?"]);
    const match = withMember(around(states.Wait) as Json, "spec.states.A.stimulus.match", "paylod.a == 1");
    expect(said(match)).toEqual(["sees payload and headers only, and not paylod; did you mean payload?"]);
  });
});

describe("spec", () => {
  const good = around(states.System) as Json;
  const schedule = { name: "nightly", cron: "30 2 * * *" };
  const rows: readonly Row[] = [
    ["spec.security_context", "Not A Context", "unknown_security_context"],
    ["spec.security_context", 5],
    ["spec.compensate_on", "failed"],
    ["spec.compensate_on", ["finished"], "invalid", "spec.compensate_on.0"],
    ["spec.schedules", {}],
    ["spec.schedules", many(33, (n) => ({ name: `s${n}`, every: "1h" }))],
    ["spec.schedules", [{ cron: "30 2 * * *" }], "invalid", "spec.schedules.0.name"],
    ["spec.schedules", [{ ...schedule, name: "two words" }], "invalid", "spec.schedules.0.name"],
    ["spec.schedules", [schedule, schedule], "invalid", "spec.schedules.1.name"],
    ["spec.schedules", [{ name: "x" }], "invalid", "spec.schedules.0.cron"],
    ["spec.schedules", [{ ...schedule, every: "1h" }], "invalid", "spec.schedules.0.cron"],
    ["spec.schedules", [{ ...schedule, cron: "0 30 2 * * *" }], "invalid", "spec.schedules.0.cron"],
    ["spec.schedules", [{ ...schedule, cron: "61 2 * * *" }], "invalid", "spec.schedules.0.cron"],
    ["spec.schedules", [{ ...schedule, cron: "0 0 31 2 *" }], "invalid", "spec.schedules.0.cron"],
    ["spec.schedules", [{ name: "x", every: "59s" }], "invalid", "spec.schedules.0.every"],
    ["spec.schedules", [{ ...schedule, timezone: "Mars/Base" }], "invalid", "spec.schedules.0.timezone"],
    ["spec.schedules", [{ ...schedule, jitter: "61m" }], "invalid", "spec.schedules.0.jitter"],
    ["spec.schedules", [{ ...schedule, overlap: "wait" }], "invalid", "spec.schedules.0.overlap"],
    ["spec.schedules", [{ ...schedule, catch_up: "some" }], "invalid", "spec.schedules.0.catch_up"],
    ["spec.schedules", [{ ...schedule, catch_up_window: 0 }], "invalid", "spec.schedules.0.catch_up_window"],
    ["spec.schedules", [{ ...schedule, timezon: "UTC" }], "unknown_field", "spec.schedules.0.timezon"],
  ];
  for (const [path, value, code = "invalid", at = path] of rows) {
    test(`${path} = ${JSON.stringify(value)?.slice(0, 50)}`, () => {
      expectOne(withMember(good, path, value), at, code);
    });
  }

  test("a schedule's input is one that its workflow takes", () => {
    const input_schema = { type: "object", required: ["day"], properties: { day: { type: "string" } } };
    const typed = withMember(good, "metadata.input_schema", input_schema);
    const scheduled = (input: Json) => withMember(typed, "spec.schedules", [{ ...schedule, input }]);
    expect(reading(scheduled({ day: "today" })).issues).toEqual([]);
    expectOne(scheduled({ day: 5 }), "spec.schedules.0.input.day", "invalid_input");
  });
});
