/** What of a good manifest is worth a warning (docs/reference/workflows.md). */
import { describe, expect, test } from "bun:test";
import type { Json } from "../../../../actors/kernel/json.ts";
import { around, reading, states, withMember } from "./fixture.ts";

describe("warnings", () => {
  const warned = (document: Json) => reading(document).warnings;
  const system = (transitions: Json[]): Json => ({ kind: "System", command: "noop", transitions });

  test("a state that nothing leads to", () => {
    const document = withMember(around(states.Human) as Json, "spec.states.ISLAND", system([{ target: "ISLAND" }]));
    const found = warned(document);
    expect(found).toContainEqual(["spec.states.ISLAND", "unreachable_state"]);
    expect(found).not.toContainEqual(["spec.states.A", "unreachable_state"]);
  });

  test("a loop, once for all of its states", () => {
    const document = withMember(around(system([{ target: "B" }])) as Json, "spec.states.B", system([{ target: "A" }]));
    expect(warned(document).filter(([, code]) => code === "loop")).toEqual([["spec.states.A", "loop"]]);
    const alone = around(system([{ target: "A" }, { target: "B" }])) as Json;
    expect(warned(alone)).toEqual([["spec.states.A", "loop"]]);
  });

  test("rules that ask for a score beside rules that do not", () => {
    const above = { condition: "score_above", threshold: 0.5, target: "B" };
    const mixed = [["spec.states.A.transitions", "mixed_score_rules"]] as const;
    expect(warned(around(system([above, { condition: "on_failure", target: "B" }])) as Json)).toEqual([...mixed]);
    expect(warned(around(system([above, { ...above, condition: "score_below" }])) as Json)).toEqual([]);
  });

  test("a workflow that cannot be", () => {
    const document = withMember(around(states.Subworkflow) as Json, "spec.states.A.workflow_id", "Not A Name");
    expect(warned(document)).toEqual([["spec.states.A.workflow_id", "workflow_not_found"]]);
    expect(reading(document).judged.references.workflows).toEqual([]);
  });

  test("what a shell may read once more", () => {
    const document = withMember(around(states.System) as Json, "spec.states.A.command", "eval {{input.a}}");
    expect(warned(document)).toEqual([["spec.states.A.command", "command_risk"]]);
  });

  test("a template that prints a path that no run has, with the right name beside it", () => {
    const withPrompt = (text: string, more: { readonly [path: string]: Json }) =>
      Object.entries({ ...more, "spec.states.A.prompt": text }).reduce<Json>(
        (whole, [path, value]) => withMember(whole, path, value),
        around(states.Human) as Json,
      );
    const printed = (text: string, more: { readonly [path: string]: Json } = {}) => {
      const { issues, warnings } = reading(withPrompt(text, more)).judged;
      return [...issues, ...warnings].filter(({ code }) => code === "template_path_missing");
    };
    const messages = (...given: Parameters<typeof printed>) => printed(...given).map(({ message }) => message);
    expect(printed("{{inptu.a}}")).toMatchObject([{ path: "spec.states.A.prompt" }]);
    expect(messages("{{inptu.a}}")[0]).toContain("did you mean input?");
    expect(messages("{{trim execution.startd_at}}")[0]).toContain("did you mean started_at?");
    expect(messages("{{blackboard.human.feedbak}}")[0]).toContain("did you mean feedback?");
    const schema = { type: "object", properties: { invoice: { type: "string" } } };
    const typed = { "metadata.input_schema": schema };
    expect(messages("{{input.invoce}} {{input.invoce}}", typed)).toEqual([
      "input.invoce does not exist; did you mean invoice?",
    ]);
    // What may be there, is asked for, has an answer to its absence, or begins elsewhere.
    for (const text of [
      "{{input.invoice}} {{input}} {{A.anything}} {{given.x}} {{state.feedback}}",
      "{{#if nothing}}yes{{/if}}{{default nothing 1}}{{#unless (eq nothing 1)}}no{{/unless}}",
      "{{#each input.list}}{{this.name}} {{name}} {{@index}}{{/each}}",
    ]) {
      expect(messages(text, { ...typed, "spec.context": { given: { x: 1 } } })).toEqual([]);
    }
    const strict = { ...typed, "spec.strict_templates": true };
    const refused = (text: string, more: { readonly [path: string]: Json }) => reading(withPrompt(text, more)).issues;
    const closed = { ...strict, "metadata.input_schema": { ...schema, additionalProperties: false } };
    expect(refused("{{input.invoce}}", closed)).toEqual([["spec.states.A.prompt", "template_path_missing"]]);
    expect(refused("{{state.vist}}", strict)).toEqual([["spec.states.A.prompt", "template_path_missing"]]);
    const command = {
      "spec.states.B": { kind: "System", command: "noop", transitions: [{ target: "A" }] },
      "spec.initial_state": "B",
    };
    expect(messages("{{B.stdot}} {{B.stdout}} {{B.error_code}}", command)).toEqual([
      "B.stdot does not exist; did you mean stdout?",
    ]);
    // A start may bring them.
    expect(refused("{{input.invoce}} {{nothing}}", strict)).toEqual([]);
  });

  test("what has no effect", () => {
    const late = withMember(around(states.Human) as Json, "spec.states.A.remind_after", "2h");
    expect(warned(late)).toContainEqual(["spec.states.A.remind_after", "no_effect"]);
    const n = withMember(around(states.ParallelAgents) as Json, "spec.states.A.consensus.strategy", "majority");
    expect(warned(n)).toContainEqual(["spec.states.A.consensus.n", "no_effect"]);
    const schedules: Json = [
      { name: "often", every: "1h", timezone: "Europe/Berlin", catch_up: "none", catch_up_window: "2h" },
    ];
    const scheduled = warned(withMember(around(states.Human) as Json, "spec.schedules", schedules));
    expect(scheduled.filter(([, code]) => code === "no_effect")).toEqual([
      ["spec.schedules.0.timezone", "no_effect"],
      ["spec.schedules.0.catch_up_window", "no_effect"],
    ]);
    const sent = withMember(around(states.Http) as Json, "spec.states.A.body", { keys: ["secret:shop/key"] });
    expect(warned(sent)).toEqual([["spec.states.A.body", "no_effect"]]);
    const key = withMember(around(states.Human) as Json, "spec.context", { input: 1, free: 2 });
    expect(warned(key)).toContainEqual(["spec.context.input", "reserved_blackboard_key"]);
  });

  test("what the node does without", () => {
    const document = around(states.System) as Json;
    const codes = (over: Parameters<typeof reading>[1]) => reading(document, over).warnings.map(([, code]) => code);
    expect(codes({ defaultIsolation: "process" })).toContain("image_ignored");
    expect(codes({ openEgress: false })).toContain("open_egress_forbidden");
    expect(codes({})).toEqual([]);
  });
});
