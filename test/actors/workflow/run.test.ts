/** A turn under construction. */
import { expect, test } from "bun:test";
import type { Context } from "../../../actors/actor.ts";
import { Run } from "../../../actors/workflow/run.ts";
import { firstState } from "../../../actors/workflow/seed.ts";
import { definitionOf, headerOf, noop, runId } from "./sample.ts";

const context: Context = {
  now: 0,
  kind: "workflow",
  key: runId,
  tenant: "north",
  messageId: "m",
  replyTo: null,
  newId: () => "id",
  newIdBeside: () => "beside",
};
const start = { header: headerOf(), definition: definitionOf({ A: noop() }), input: {}, overrides: {}, resume: null };

test("of a step that throws nothing stays", () => {
  const run = new Run(firstState(start, context), context);
  run.note({ before: 1 });
  run.tell("execution", "x", "cancel", {});
  const { state } = run;
  const step = () => {
    run.note({ within: 1 });
    run.tell("execution", "y", "cancel", {});
    throw new Error("no");
  };
  expect(() => run.attempt(step)).toThrow("no");
  expect(run.state).toBe(state);
  expect(run.turn().effects).toHaveLength(1);
  run.attempt(() => run.tell("execution", "z", "cancel", {}));
  expect(run.turn().effects).toHaveLength(2);
});

test("what a turn does not touch is shared with the state before", () => {
  const bulky = { list: [1, 2, 3] };
  const state = firstState({ ...start, overrides: { bulky } }, context);
  const run = new Run(state, context);
  run.note({ other: 1 });
  expect(run.state.blackboard.bulky).toBe(bulky);
  expect(run.state.definition).toBe(state.definition);
  expect(state.blackboard).not.toHaveProperty("other");
});
