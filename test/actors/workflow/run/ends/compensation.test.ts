/** What a run did is undone before a bad end: newest first, each visit once, with any messages in between. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Json } from "../../../../../actors/kernel/json.ts";
import type { Definition, State } from "../../../../../actors/workflow/definition.ts";
import { runGraph, StepFold } from "../../../../../actors/workflow/run/record/graph.ts";
import { runRecord } from "../../../../../actors/workflow/run/record/record.ts";
import { branches, definitionOf, human, mapOf, noop, runId, subworkflow, system, ways, writes } from "../../fixture.ts";
import { RunStory } from "../../scenario.ts";

const undo = (name: string, state: State): State => ({ ...state, compensate: name });
const bad: State = { ...noop(), outcome: "failed" };
/** Takes a card, books a room twice, then asks; what was taken and booked can be undone. */
const trip = {
  PAY: undo("REFUND", writes({ paid: "{{state.visit}}" }, ["always", "BOOK"])),
  BOOK: undo("CANCEL", writes({ rooms: "{{rooms}}x" }, ["always", "AGAIN"])),
  AGAIN: human(ways(["rejected", "LOST"], ["input_equals_yes" as "approved", "ASK"])),
  ASK: human(ways(["approved", "DONE"], ["rejected", "LOST"])),
  DONE: noop(),
  LOST: bad,
  REFUND: writes({ undone: "{{undone}}|{{state.of.name}} {{state.of.visit}} {{state.of.result.updated}}" }),
  CANCEL: writes({ undone: "{{undone}}|{{state.of.name}} {{state.of.visit}} {{state.of.result.updated}}" }),
} as Record<string, State>;
// Another room is booked on the word.
trip.AGAIN = human(ways(["rejected", "LOST"], ["approved", "BOOK"]));

const told = (states: Record<string, State>, change: Partial<Definition> = {}, header = {}) =>
  new RunStory(definitionOf(states, { max_total_transitions: 20, ...change }), { header }).start();
const compensations = (story: RunStory) =>
  story.events.flatMap(({ type, details }) =>
    type === "WorkflowCompensationStarted" ? [`${details.of_state} ${details.of_visit}`] : [],
  );
const recordOf = (story: RunStory) => runRecord({ execution_id: runId, tenant_id: "north" }, story.state);

describe("what is due", () => {
  const ends: [string, (story: RunStory) => unknown, Partial<Definition>, string, string][] = [
    ["failed", (story) => story.decide("rejected"), {}, "failed", "done"],
    [
      "failed, none of the ends listed",
      (story) => story.decide("rejected"),
      { compensate_on: ["cancelled"] },
      "failed",
      "none",
    ],
    ["cancelled, not listed", (story) => story.ask("cancel", { reason: null }), {}, "cancelled", "none"],
    [
      "cancelled, listed",
      (story) => story.ask("cancel", { reason: null }),
      { compensate_on: ["cancelled"] },
      "cancelled",
      "done",
    ],
    [
      "cancelled, asked for",
      (story) => story.ask("cancel", { reason: "x", compensate: true }),
      {},
      "cancelled",
      "done",
    ],
    [
      "cancelled, refused",
      (story) => story.ask("cancel", { reason: null, compensate: false }),
      { compensate_on: ["cancelled"] },
      "cancelled",
      "none",
    ],
    ["timed out, not listed", (story) => story.sim.fireNext(), {}, "timed_out", "none"],
    ["timed out, listed", (story) => story.sim.fireNext(), { compensate_on: ["timed_out"] }, "timed_out", "done"],
  ];
  for (const [name, end, change, status, compensation] of ends) {
    test(name, () => {
      const story = told(trip, change, { timeout_ms: 60_000 });
      story.decide("approved");
      end(story);
      story.settle();
      expect(story.state.status).toBe(status as "failed");
      expect(recordOf(story).compensation).toEqual({ status: compensation as "done", remaining: [] });
      expect(compensations(story)).toEqual(compensation === "done" ? ["BOOK 2", "BOOK 1", "PAY 1"] : []);
    });
  }

  test("a completed run undoes nothing", () => {
    const story = told({ PAY: undo("REFUND", noop()), REFUND: noop() });
    expect([story.state.status, compensations(story)]).toEqual(["completed", []]);
  });

  test("a visit that failed is not undone", () => {
    const story = told({ ASK: undo("REFUND", human(ways(["rejected", "LOST"]))), LOST: bad, REFUND: noop() });
    story.decide("rejected");
    expect([story.state.status, recordOf(story).compensation.status]).toEqual(["failed", "none"]);
  });
});

test("the states of a Branch that undoes see what it undoes", () => {
  const asks = { ...human([]), prompt: "{{state.name}} {{state.of.name}}" };
  const lines = { left: { FIRST: asks }, right: { BEFORE: noop(["always", "THEN"]), THEN: asks } };
  const states = { PAY: undo("BOTH", noop(["always", "LOST"])), LOST: bad, ...branches("BOTH", 2, lines) };
  const asked = told(states).events.flatMap(({ type, details }) =>
    type === "HumanInputRequested" ? [details.prompt] : [],
  );
  expect(asked).toEqual(["FIRST PAY", "THEN PAY"]);
});

test("each sees what it undoes, with the result of that visit", () => {
  const story = told(trip).decide("approved").decide("rejected");
  expect(story.blackboard.undone).toBe('|BOOK 2 ["rooms"]|BOOK 1 ["rooms"]|PAY 1 ["paid"]');
  expect(story.types.slice(-3)).toEqual([
    "WorkflowStateExited",
    "WorkflowCompensationCompleted",
    "WorkflowExecutionFailed",
  ]);
  expect(story.state).toMatchObject({
    status: "failed",
    current_state: "LOST",
    visits: { BOOK: 2 },
    transition_count: 6,
  });
  expect(story.state.visits).not.toHaveProperty("CANCEL");
});

test("while it undoes, the run runs with its error, and only a pause acts", () => {
  const story = told({ ...trip, CANCEL: human([]) }, {}, { timeout_ms: 7_200_000 });
  story.decide("rejected");
  expect(recordOf(story)).toMatchObject({
    status: "running",
    error_code: "outcome_failed",
    ended_at: null,
    compensation: {
      status: "running",
      remaining: [
        { state_name: "CANCEL", of_state: "BOOK", of_visit: 1 },
        { state_name: "REFUND", of_state: "PAY", of_visit: 1 },
      ],
    },
  });
  expect([...story.sim.timers.keys()]).not.toContain("deadline");
  expect(story.ask("cancel", { reason: null })).toEqual({ outcome: "already_terminal", status: "failed" });
  story.tell("deadline", {});
  expect(story.state.status).toBe("running");
  story.ask("pause");
  story.decide("approved");
  expect(recordOf(story).compensation.remaining).toHaveLength(1);
  expect(story.state.current).toBeNull();
  story.ask("resume");
  expect([story.state.status, recordOf(story).compensation.status]).toEqual(["failed", "done"]);
});

test("one that fails leaves itself and those not begun, and the end stays", () => {
  const story = told({ ...trip, CANCEL: human([]) });
  story.decide("approved").decide("rejected").decide("approved").decide("rejected");
  expect(recordOf(story)).toMatchObject({
    status: "failed",
    error_code: "outcome_failed",
    compensation: {
      status: "failed",
      remaining: [
        { state_name: "CANCEL", of_state: "BOOK", of_visit: 1 },
        { state_name: "REFUND", of_state: "PAY", of_visit: 1 },
      ],
    },
  });
  expect(story.event("WorkflowCompensationFailed").details).toMatchObject({ of_state: "BOOK", of_visit: 1 });
  expect(story.types.at(-1)).toBe("WorkflowExecutionFailed");
});

test("branches and items of a compensation see what it undoes", () => {
  const said = system("undo {{state.name}} {{state.of.name}} {{state.of.visit}}", []);
  const asked = (story: RunStory): string => JSON.stringify([...story.sim.activities.values()]);
  const split = branches("CANCEL", 2, { a: { A: said }, b: { B: said } });
  const story = told({ ...trip, ...split }).decide("rejected");
  for (const name of ["A", "B"])
    expect(asked(story)).toMatch(new RegExp(`_1":"${name}","SVC_ARG_2":"BOOK","SVC_ARG_3":"1"`));
  const each = told({ ...trip, CANCEL: mapOf(said, [1]) }).decide("rejected");
  const [open] = each.sim.told.filter((one) => one.effect === "tell" && one.message.type === "open_items");
  const of = { name: "BOOK", visit: 1 };
  expect(open).toMatchObject({ message: { body: { blackboard: { state: { name: "CANCEL", of } } } } });
});

test("a compensation has its retries, its timeout and no transitions", () => {
  const retry = { attempts: 3, delay_ms: 1_000, backoff: 2, max_delay_ms: 60_000, on: ["all"] };
  const CANCEL = { ...subworkflow(ways(["always", "PAY"])), timeout_ms: 5_000, retry } as State;
  const story = told({ ...trip, CANCEL });
  story.decide("rejected");
  for (let timer = 0; timer < 5; timer++) story.sim.fireNext();
  story.settle();
  expect(story.types.filter((type) => type === "WorkflowStateRetried")).toHaveLength(2);
  expect(recordOf(story).compensation).toMatchObject({ status: "failed" });
  expect(story.way.at(-1)).toBe("CANCEL");
});

test("the graph shows what was undone, and the states that did", () => {
  const story = told(trip).decide("rejected");
  const fold = new StepFold();
  fold.add(story.events);
  const graph = runGraph(runId, story.state, fold.steps, story.sim.now);
  expect(graph.edges).toContainEqual({ from: "PAY", to: "REFUND", condition: "compensate", taken: 1 });
  expect(graph.steps.slice(-2)).toMatchObject([
    { state: "CANCEL", visit: 1, status: "success", compensates: { state: "BOOK", visit: 1 } },
    { state: "REFUND", visit: 1, status: "success", compensates: { state: "PAY", visit: 1 } },
  ]);
  expect(graph.nodes.find(({ name }) => name === "REFUND")).toMatchObject({ visits: 1, status: "success" });
});

test("results kept for compensations count toward the blackboard's size", () => {
  const big = "x".repeat(2 * 1_048_576);
  const loop = { ...system("true", ways(["always", "BIG"])), compensate: "UNDO", max_state_visits: 10 } as State;
  const story = new RunStory(definitionOf({ BIG: loop, UNDO: noop() })).start();
  for (let visit = 0; visit < 5 && story.state.status === "running"; visit++) {
    const [work] = story.sim.underWay("workflow.command");
    if (work === undefined) break;
    const end = { status: "success", exit_code: 0, stdout: big, stderr: "", duration_ms: 1, timed_out: false };
    story.sim.succeed(work.id, { ...end, truncated: false, attempts: 1, error: null, warnings: [] });
    story.settle();
  }
  expect(recordOf(story)).toMatchObject({ status: "failed", error_code: "blackboard_too_large" });
  expect(recordOf(story).compensation).toEqual({ status: "done", remaining: [] });
  expect(compensations(story)).toEqual(["BIG 2", "BIG 1"].slice(2 - compensations(story).length));
});

/** Of any shape: what each state is, whether it is undone, by what. */
const names = ["A", "B", "C"] as const;
const kinds = fc.constantFrom("noop", "human", "write");
const stateOf = (kind: string, list: readonly (readonly [string, string])[]): State =>
  kind === "noop" ? noop(...list) : kind === "write" ? writes({ x: "{{state.visit}}" }, ...list) : human(ways(...list));
const sample = fc
  .record({
    kinds: fc.tuple(kinds, kinds, kinds),
    undone: fc.tuple(fc.boolean(), fc.boolean(), fc.boolean()),
    undoing: fc.tuple(kinds, kinds, kinds),
    on: fc.subarray(["failed", "cancelled", "timed_out"] as const),
  })
  .map(({ kinds, undone, undoing, on }) => {
    const next = (at: number) => names[(at + 1) % names.length] ?? "A";
    const states = Object.fromEntries(
      names.flatMap((name, at): [string, State][] => {
        const state = stateOf(kinds[at] ?? "noop", [
          ["rejected", "BAD"],
          ["always", next(at)],
        ]);
        return [
          [name, { ...state, ...(undone[at] === true ? { compensate: `UNDO_${name}` } : {}) }],
          [`UNDO_${name}`, stateOf(undoing[at] ?? "noop", [["always", "A"]])],
        ];
      }),
    );
    return definitionOf({ ...states, BAD: bad }, { compensate_on: on, max_total_transitions: 8 });
  });
const acts = fc.constantFrom("itself", "itself", "itself", "approve", "approve", "reject", "pause", "resume", "resume");
const ends = fc.constantFrom("cancel", "compensate", "timer", "reload");

test("in any life it undoes just what was done, newest first, each once", () => {
  fc.assert(
    fc.property(sample, fc.array(fc.oneof({ weight: 12, arbitrary: acts }, ends), { maxLength: 40 }), (one, list) => {
      const story = new RunStory(one, { header: { timeout_ms: 90_000 } }).enter();
      for (const act of list) {
        step(story, act);
        story.check();
        checkUndone(story);
      }
    }),
    { numRuns: 150 },
  );
});

function step(story: RunStory, act: string): void {
  const { sim } = story;
  const open = story.state.current?.work.of === "human" ? story.approval : null;
  const last = { type: "", body: null as Json };
  if (act === "itself") story.hearItself();
  else if (act === "approve" && open !== null) story.decide("approved");
  else if (act === "reject" && open !== null) story.decide("rejected");
  else if (act === "pause" || act === "resume") sim.askNow(act, {});
  else if (act === "cancel") sim.askNow("cancel", { reason: null });
  else if (act === "compensate") sim.askNow("cancel", { reason: null, compensate: true });
  else if (act === "timer") sim.fireNext();
  // As after a death: from what was stored.
  else sim.state = JSON.parse(JSON.stringify(sim.state));
  if (open !== null && (act === "approve" || act === "reject")) {
    const before = JSON.stringify([sim.state, sim.log()]);
    Object.assign(last, { type: "approval_decided" });
    story.decide(act === "approve" ? "approved" : "rejected", {}, open);
    expect(JSON.stringify([sim.state, sim.log()])).toBe(before);
  }
}

function checkUndone(story: RunStory): void {
  const { state, events } = story;
  const done = events.slice(0, beginning(events)).flatMap(({ type, details }) => {
    const { state_name, visit, output } = details as { state_name: string; visit: number; output?: { status: string } };
    const isUndone = state.definition.states[state_name]?.compensate !== undefined;
    return type === "WorkflowStateExited" && isUndone && output?.status === "success" ? [`${state_name} ${visit}`] : [];
  });
  const begun = compensations(story);
  const { status, remaining = [] } = state.compensation ?? { status: "none" };
  const isAtWork = status === "running" && state.current !== null;
  expect(begun).toEqual(done.toReversed().slice(0, begun.length));
  if (status === "done") expect(begun).toHaveLength(done.length);
  if (status === "none") expect(begun).toEqual([]);
  else {
    const left = remaining.map(({ name, visit }) => `${name} ${visit}`);
    const undone = begun.length - (isAtWork || (status === "failed" && left.length > 0) ? 1 : 0);
    expect(left).toEqual(done.toReversed().slice(undone));
    expect(state.undo?.length).toBe(left.length);
  }
}

const beginning = (events: RunStory["events"]): number | undefined => {
  const at = events.findIndex(({ type }) => type === "WorkflowCompensationStarted");
  return at < 0 ? undefined : at;
};
