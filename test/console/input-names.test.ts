/** What the form of a workflow without an input schema asks for: the names that its templates and rules read. */
import { expect, test } from "bun:test";
import { type Definition, readDefinition } from "../../src/console/pages/workflows/model/definition.ts";
import { leftEmpty, schemaOfNames } from "../../src/console/pages/workflows/model/input-names.ts";

const workflow = readDefinition(`
kind: Workflow
metadata:
  name: w
  output_template: { seen: "{{input.report}} {{LOOK.input.no}}" }
spec:
  initial_state: PLAN
  states:
    PLAN:
      kind: Agent
      agent: a
      input: "{{input.alert}} on {{blackboard.input.host}} {{default input.[the place] 'input.quoted'}} input.prose {{#if input.soon}}!{{/if}}"
      transitions:
        - { condition: custom, expression: "input.urgent == 'yes' && PLAN.input.no > 1", target: EACH }
        - { condition: input_equals, value: "input.value", target: ASK }
    ASK: { kind: Human, prompt: "{{#each input.lines}}{{this}}{{/each}}{{input.order.id}}{{input.alert}}" }
    EACH: { kind: Map, items: "{{input.tickets}}", state: { kind: System, command: "echo {{input.word}}" } }
`) as Definition;

test("templates, rules and the output name the members; those walked through are JSON", () => {
  const text = { type: "string" };
  const json = { description: "Any JSON: a list or an object." };
  expect(schemaOfNames(workflow)).toEqual({
    type: "object",
    properties: {
      urgent: text,
      tickets: json,
      alert: text,
      host: text,
      "the place": text,
      soon: text,
      lines: json,
      order: json,
      word: text,
      report: text,
    },
  });
  const given = { urgent: "no", tickets: [], alert: "", host: null, word: "w", report: 0 };
  // What has a default, or is only asked for, may be empty.
  expect(leftEmpty(workflow, given)).toEqual(["alert", "host", "order"]);
  const inputSchema = { properties: { host: { type: "boolean" } } };
  expect(leftEmpty({ ...workflow, inputSchema }, given)).toEqual(["alert", "order"]);
});

test("a workflow that reads nothing by name has no form", () => {
  const blind = readDefinition(`spec: { states: { A: { kind: Agent, agent: a, input: "{{input}} {{intent}}" } } }`);
  expect(schemaOfNames(blind as Definition)).toBeNull();
});
