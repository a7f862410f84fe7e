/** Output handlers of states: agents and webhooks, required and not, what they are given and what they change. */
import { describe, expect, test } from "bun:test";
import type { OutputHandler } from "../../../../actors/agent/manifest/execution/results.ts";
import { Cast } from "../cast.ts";
import { agent, ways } from "../fixture.ts";

const followed = ways(["on_success", "DONE"], ["on_failure", "SORRY"]);
const byAgent = (change: object = {}): OutputHandler => ({
  type: "agent",
  agent: "editor",
  input_template: "{{output}}",
  timeout_ms: 300_000,
  required: false,
  ...change,
});
const byWebhook = (change: object = {}): OutputHandler => ({
  type: "webhook",
  url: "https://hooks.example/{{output.id}}",
  method: "PUT",
  headers: { "X-Run": "{{workflow.name}}" },
  body_template: null,
  timeout_ms: 30_000,
  max_attempts: 3,
  required: false,
  ...change,
});
const handled = (output_handler: OutputHandler, beginning = {}) =>
  Cast.of(agent(followed, { output_handler }), beginning);
const webhook = (cast: Cast) => {
  const [one] = cast.sim.underWay("workflow.webhook");
  if (one === undefined) throw new Error("no webhook is called");
  return one;
};

describe("an agent", () => {
  test("gets the rendered input, runs exempt, and what it says is the output", () => {
    const cast = handled(byAgent({ agent: "{{input.who}}", input_template: "{{output.a}} of {{input.who}}" }), {
      input: { who: "editor" },
    }).says('{"a":1}');
    expect(cast.only).toMatchObject({
      agent: "editor",
      trigger: "output_handler",
      input: "1 of editor",
      timeout_ms: 300_000,
    });
    cast.says('```\n{"edited":true}\n```');
    expect(cast.result).toMatchObject({ status: "completed", output: { edited: true }, iterations: 1 });
    expect(cast.result).not.toHaveProperty("handler_error");
  });

  test("fails: only a required one fails the state", () => {
    const optional = handled(byAgent()).says("raw").refused("agent_paused");
    expect(optional.result).toMatchObject({
      status: "completed",
      output: "raw",
      handler_error: "The agent editor ended as failed (agent_paused)",
    });
    const required = handled(byAgent({ required: true }))
      .says("raw")
      .refused("agent_paused");
    expect(required.result).toMatchObject({ status: "failed", error: "output_handler_failed", output: "raw" });
    expect(required.way).toEqual(["WORK", "SORRY"]);
  });

  test("a failed state is not handled", () => {
    expect(handled(byAgent()).refused("agent_paused").asked.length).toBe(1);
  });

  test.each([
    [{ agent: "{{nobody}}" }, "The name of the handler's agent is empty"],
    [
      { input_template: "{{#each blackboard}}{{#each ../blackboard}}{{json ../../blackboard}}{{/each}}{{/each}}" },
      null,
    ],
  ])("what cannot be rendered fails the handler alone: %j", (change, reason) => {
    const cast = handled(byAgent(change), { input: { big: "x".repeat(100_000) } }).says("raw");
    expect(cast.result).toMatchObject({ status: "completed", output: "raw" });
    expect(cast.result.handler_error).toBeString();
    if (reason !== null) expect(cast.result.handler_error).toBe(reason);
  });
});

describe("a webhook", () => {
  test("is called with what was rendered, and its answer is the output", () => {
    const cast = handled(byWebhook()).says('{"id":7}');
    expect(webhook(cast)).toMatchObject({
      id: `webhook:${cast.sim.key}:1`,
      input: {
        url: "https://hooks.example/7",
        listed: [],
        method: "PUT",
        headers: { "X-Run": "sample" },
        body: '{"id":7}',
        timeout_ms: 30_000,
        max_attempts: 3,
      },
    });
    cast.sim.succeed(webhook(cast).id, { output: "[1]", truncated: false });
    cast.settle();
    expect(cast.result).toMatchObject({ status: "completed", output: [1] });
  });

  test("an answer that was cut says so", () => {
    const cast = handled(byWebhook()).says("raw");
    cast.sim.succeed(webhook(cast).id, { output: "[1", truncated: true });
    cast.settle();
    expect(cast.result).toMatchObject({ status: "completed", output: "[1", truncated: true });
  });

  test("an empty answer changes nothing; a body of its own is rendered", () => {
    const cast = handled(byWebhook({ body_template: "got {{output}}" })).says("raw");
    expect(webhook(cast).input).toMatchObject({ body: "got raw" });
    cast.sim.succeed(webhook(cast).id, { output: "", truncated: false });
    cast.settle();
    expect(cast.result).toMatchObject({ status: "completed", output: "raw" });
  });

  test.each([true, false])("fails, required: %p", (required) => {
    const cast = handled(byWebhook({ required })).says("raw");
    cast.sim.fail(webhook(cast).id, "webhook_failed", "status 500");
    cast.settle();
    expect(cast.result).toMatchObject({ status: required ? "failed" : "completed", handler_error: "status 500" });
  });

  test("a header that a value would break is not sent", () => {
    const cast = handled(byWebhook({ headers: { "X-A": "{{output}}" } })).says("a\r\nX-B: c");
    expect(cast.result).toMatchObject({ status: "completed", handler_error: expect.stringContaining("header") });
    expect(cast.sim.underWay("workflow.webhook")).toEqual([]);
  });

  test("is given up with the run", () => {
    const cast = handled(byWebhook()).says("raw");
    const { id } = webhook(cast);
    cast.ask("cancel", { reason: null });
    expect(cast.sim.abandoned).toEqual(new Set([id]));
  });
});
