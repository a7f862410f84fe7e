/** A turn under construction. */

import { describe, expect, test } from "bun:test";
import { executionProtocol } from "../../../actors/execution/messages.ts";
import type { Context } from "../../../actors/kernel/turn.ts";
import { evaluateExpression, parseExpression } from "../../../actors/template/expression.ts";
import { TemplateError } from "../../../actors/template/template.ts";
import { finalOutput } from "../../../actors/workflow/run/blackboard/output.ts";
import { firstState } from "../../../actors/workflow/run/blackboard/seed.ts";
import { RunTurn } from "../../../actors/workflow/run/turn.ts";
import { definitionOf, headerOf, noop, runId } from "./fixture.ts";

const context: Context = {
  now: 0,
  kind: "workflow_run",
  key: runId,
  tenant: "north",
  messageId: "m",
  replyTo: null,
  newId: () => "id",
  newIdBeside: () => "beside",
};
const start = { header: headerOf(), definition: definitionOf({ A: noop() }), input: {}, overrides: {}, resume: null };

test("of a step that throws nothing stays", () => {
  const run = new RunTurn(firstState(start, context), context);
  run.note({ before: 1 });
  run.tell(executionProtocol, "x", "cancel", { reason: null });
  const { state } = run;
  const step = () => {
    run.note({ within: 1 });
    run.tell(executionProtocol, "y", "cancel", { reason: null });
    throw new Error("no");
  };
  expect(() => run.attempt(step)).toThrow("no");
  expect(run.state).toBe(state);
  // The other one puts on record what was written to the blackboard.
  expect(run.turn().effects).toHaveLength(2);
  run.attempt(() => run.tell(executionProtocol, "z", "cancel", { reason: null }));
  expect(run.turn().effects).toHaveLength(3);
});

test("what a turn does not touch is shared with the state before", () => {
  const bulky = { list: [1, 2, 3] };
  const state = firstState({ ...start, overrides: { bulky } }, context);
  const run = new RunTurn(state, context);
  run.note({ other: 1 });
  expect(run.state.blackboard.bulky).toBe(bulky);
  expect(run.state.definition).toBe(state.definition);
  expect(state.blackboard).not.toHaveProperty("other");
});

describe("what templates take", () => {
  const board = { list: Array(250).fill(0) };
  const heavy = "{{#each list}}{{#each @root.list}}{{/each}}{{/each}}";
  const turn = () => new RunTurn(firstState({ ...start, overrides: board }, context), context);

  test("counts for all templates of a turn together", () => {
    const run = turn();
    run.render(heavy);
    run.renderParts(heavy);
    const parts = Array(20).fill(heavy);
    expect(() => parts.map((part) => run.render(part))).toThrow(TemplateError);
    expect(() => parts.map((part) => run.renderParts(part))).toThrow(TemplateError);
    expect(() => turn().render(heavy)).not.toThrow();
  });

  test("counts what they yield", () => {
    const run = new RunTurn(firstState({ ...start, overrides: { text: "x".repeat(1_000_000) } }, context), context);
    const render = () => Array.from({ length: 1_000 }, () => run.render("{{text}}").length);
    expect(render).toThrow(TemplateError);
  });

  test("is shared with rules and the output", () => {
    const run = turn();
    const output_template = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`k${index}`, heavy]));
    expect(() => finalOutput({ output_template, output_schema: null }, run.state.blackboard, run.effort)).toThrow();
    const faults: string[] = [];
    expect(evaluateExpression(parseExpression("list == list"), board, (fault) => faults.push(fault), run.effort)).toBe(
      false,
    );
    expect(faults).toEqual(["The template takes too long"]);
  });
});
