/** The rates of the execution's own tenant and user, at work in a loop (docs/reference/identity.md). */
import { describe, expect, test } from "bun:test";
import { run, running } from "./fixture.ts";

describe("a model that may not be asked now", () => {
  test("is answered with the wait, and the same message goes on", () => {
    const story = running();
    const asked = story.generate();
    story.heldBack("rate_limited", 40, { resource_type: "llm_call", bucket: "hourly" });
    expect(story.answer(asked)).toEqual({
      status: "refused",
      http: 429,
      code: "llm_quota_exceeded",
      message: "not now",
      retry_after: 40,
      extras: { resource_type: "llm_call", bucket: "hourly" },
    });
    expect(story.state.iteration.loop?.phase).toBe("generating");
    const again = story.generate();
    story.modelSays({ content: "ok" });
    expect(story.answer(again)).toMatchObject({ status: "final" });
    story.exit("ok");
    expect(story.state.status).toBe("completed");
  });

  test("costs none of llm_timeout_seconds and is no failure of a model", () => {
    const story = running({ llm_timeout_ms: 3000 });
    for (let hour = 0; hour < 3; hour++) {
      const asked = story.generate();
      story.heldBack("rate_limited", 3600);
      expect(story.answer(asked)).toMatchObject({ http: 429, retry_after: 3600 });
      story.sim.now += 3_600_000;
    }
    story.generate();
    const [call] = story.sim.underWay("model.call");
    expect(call?.input).toMatchObject({ budget_ms: 3000 });
    expect(JSON.stringify(story.sim.log())).not.toContain("llm_call_failed");
  });

  test("limits that cannot be read are 503, which is asked again as well", () => {
    const story = running();
    const asked = story.generate();
    story.heldBack("limiter_unavailable", 1);
    expect(story.answer(asked)).toMatchObject({ http: 503, code: "limiter_unavailable", retry_after: 1 });
    expect(story.state.iteration.loop?.phase).toBe("generating");
  });
});

describe("a tool call whose bucket is dry", () => {
  test("is refused with 2005 and its wait, the calls beside it run, and the loop goes on", () => {
    const story = running();
    story.generate();
    const held = [{ place: 0, resource_type: "seal_tool:fs_*", retry_after_seconds: 12.2 }];
    story.modelSays({ calls: [{ name: "fs.write", arguments: { path: "a" } }, { name: "fs.list" }], held });
    expect(story.event("policy_violation")).toMatchObject({
      tool_name: "fs.write",
      violation_type: "rate_limited",
      details: { error_code: 2005, limit_source: "account", resource_type: "seal_tool:fs_*" },
    });
    expect(story.sim.underWay("tool.call").map(({ input }) => (input as { tool: string }).tool)).toEqual(["fs.list"]);
    const told = story.conversation().find(({ role }) => role === "tool");
    expect(JSON.parse(told?.content ?? "")).toMatchObject({
      code: "rate_limited",
      error_code: 2005,
      retry_after_seconds: 12.2,
    });
    expect(told?.content).toContain("may be called again in 13 s");
    story.toolEnds();
    expect(story.sim.underWay("model.call")).toHaveLength(1);
  });

  test("a command is refused before it is handed out", () => {
    const story = running();
    const asked = story.generate();
    story.modelSays({
      calls: [run("true")],
      held: [{ place: 0, resource_type: "seal_tool:*", retry_after_seconds: 2 }],
    });
    expect(story.sim.underWay("model.call")).toHaveLength(1);
    story.modelSays({ content: "gave up" });
    expect(story.answer(asked)).toMatchObject({
      status: "final",
      final: { content: "gave up", tool_calls_executed: 0 },
    });
  });
});

test("a window of which most is used is an event", () => {
  const story = running();
  story.generate();
  story.modelSays({
    content: "ok",
    rateWarnings: [{ resource: "llm_call", bucket: "hourly", scope: "user", limit: 100 }],
  });
  expect(story.event("rate_limit_warning")).toMatchObject({
    resource_type: "llm_call",
    bucket: "hourly",
    scope_type: "user",
    limit: 100,
  });
});
