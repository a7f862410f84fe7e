/** Judges of tool calls, as children and after the end of their parent. */
import { describe, expect, test } from "bun:test";
import type { Plan } from "../../../../actors/execution/start/plan.ts";
import { builtinTools } from "../../../../actors/tool/catalog.ts";
import { Story } from "../scenario.ts";
import { exited, semantic, several } from "./fixture.ts";

describe("the end of a parent", () => {
  const judged = (header: object = {}) => {
    const story = exited([several(["a", "b"])], header);
    const [a, b] = story.children.map(({ id }) => id);
    return { story: story.childStarts(a ?? ""), a: a ?? "", b: b ?? "" };
  };

  test("cancelled: children are cancelled, also one whose start is heard of later", () => {
    const { story, a, b } = judged();
    story.sim.askNow("cancel", { reason: null });
    expect(story.cancelled).toEqual([
      [a, "parent_cancelled"],
      [b, "parent_cancelled"],
    ]);
    expect(story.events.slice(-2)).toEqual(["child_execution_completed", "execution_cancelled"]);
    story.childStarts(b);
    expect(story.cancelled.at(-1)).toEqual([b, "parent_ended"]);
    story.checkInvariants();
  });

  test("timed out: the same, for another reason", () => {
    const { story, a, b } = judged({ timeout_ms: 1000 });
    story.sim.fireNext();
    expect(story.state.status).toBe("timed_out");
    expect(story.cancelled).toEqual([
      [a, "parent_ended"],
      [b, "parent_ended"],
    ]);
  });

  test("erased: nothing is left, and a late start is undone", () => {
    const { story, a, b } = judged();
    story.sim.askNow("erase", {});
    story.childStarts(b);
    expect(story.cancelled.map(([id]) => id)).toEqual([a, b, b]);
    expect(story.sim.state).toBeNull();
  });

  const swarm = { hierarchy: { parent_execution_id: null, depth: 0, path: [], swarm_id: "s" } };
  test("members of a swarm outlive it, unless it is cancelled", () => {
    const ended = judged({ ...swarm, timeout_ms: 1000 });
    ended.story.sim.fireNext();
    ended.story.childStarts(ended.b);
    expect(ended.story.cancelled).toEqual([]);
    ended.story.checkInvariants();
    const cancelled = judged(swarm);
    cancelled.story.sim.askNow("cancel", { reason: null });
    expect(cancelled.story.cancelled.length).toBe(2);
  });
});

describe("a child", () => {
  const hierarchy = { parent_execution_id: "p", depth: 1, path: ["p"], swarm_id: null };
  const told = (story: Story) => story.sim.told.map((effect) => (effect.effect === "tell" ? effect : null));

  test("tells its parent how it ended, once", () => {
    const done = new Story({ header: { hierarchy } }).start().launch().exit("42\n");
    expect(told(done)).toMatchObject([
      {
        kind: "execution",
        key: "p",
        message: {
          type: "child_ended",
          body: { child_execution_id: done.sim.key, status: "completed", output: "42", error_code: null },
        },
      },
    ]);
    const failed = new Story({ header: { hierarchy } }).start().launch().exit("", 3);
    expect(told(failed)).toMatchObject([{ message: { body: { status: "failed", error_code: "nonzero_exit" } } }]);
    const cancelled = new Story({ header: { hierarchy } }).start();
    cancelled.sim.askNow("cancel", { reason: "x" });
    cancelled.sim.askNow("erase", {});
    expect(told(cancelled)).toMatchObject([{ message: { body: { status: "cancelled", output: null } } }]);
    const erased = new Story({ header: { hierarchy } }).start();
    erased.sim.askNow("erase", {});
    expect(told(erased)).toMatchObject([{ message: { body: { status: "cancelled" } } }]);
  });

  test("a root has no parent to tell", () => {
    expect(told(new Story().start().launch().exit("42"))).toEqual([]);
  });
});

describe("judges of tool calls", () => {
  const judgedPlan: Partial<Plan> = { tool_judges: [semantic("guard")] };
  function calling(
    calls: readonly { name: string; arguments?: Record<string, string> }[],
    plan: Partial<Plan> = judgedPlan,
    header: object = {},
  ) {
    const story = new Story({ plan, header }).start().launch();
    const call = story.generate();
    story.modelSays({ calls });
    return { story, call };
  }
  const run = { name: "cmd.run", arguments: { command: "make check" } };

  test("a call waits for its judge, then runs", () => {
    const { story, call } = calling([run]);
    expect(story.sim.answers.has(call)).toBe(false);
    expect(story.children).toMatchObject([
      { agent: "guard", input: { of: "call", tool: "cmd.run", call_id: "c1", judge: 0 } },
    ]);
    expect(story.events).not.toContain("tool_call_started");
    story.judges("guard", { score: 1 });
    expect(story.events).toContain("tool_call_started");
    const next = story.result(story.dispatchOf(call));
    story.modelSays({ content: "done" });
    expect(story.answer(next)).toMatchObject({ status: "final" });
    expect(story.state.usage.tool_calls).toBe(1);
    // Tool judges say nothing about the output.
    expect(story.events).not.toContain("gradient_validation_performed");
    story.checkInvariants();
  });

  test("a refused call is answered with the refusal, and the loop goes on", () => {
    const { story, call } = calling([run]);
    story.judges("guard", { score: 0.1, reasoning: "not in this repository" });
    expect(story.event("policy_violation")).toMatchObject({
      tool_name: "cmd.run",
      violation_type: "judge_rejected",
      details: { error_code: 2009, judge: "guard", score: 0.1 },
    });
    const message = story.conversation().find(({ role }) => role === "tool");
    expect(JSON.parse(message?.content ?? "")).toMatchObject({
      code: "judge_rejected",
      error_code: 2009,
      isError: true,
    });
    expect(message?.content).toContain("not in this repository");
    story.modelSays({ content: "I give up" });
    expect(story.answer(call)).toMatchObject({ status: "final", final: { tool_calls_executed: 0 } });
    expect(story.record().iterations[0]).toMatchObject({
      policy_violations: ["cmd.run"],
      trajectory: [{ status: "refused" }],
    });
    expect(story.state.usage.tool_calls).toBe(0);
  });

  test("without a verdict the call is refused", () => {
    const { story } = calling([run]);
    for (const _ of [1, 2]) {
      const id = story.children[0]?.id ?? "";
      story.childStarts(id).childEnds(id, null, "failed");
    }
    expect(story.event("policy_violation")).toMatchObject({ violation_type: "judge_rejected" });
    expect(story.event("tool_call_completed")).toMatchObject({ status: "refused" });
    expect(story.sim.underWay("model.call")).toHaveLength(1);
  });

  test("judges decide in order; the first refusal is the last word", () => {
    const { story } = calling([run, run], { tool_judges: [semantic("one"), semantic("two")] });
    story.judges("one", { score: 1 });
    expect(story.children).toMatchObject([{ agent: "two", input: { judge: 1 } }]);
    story.judges("two", { score: 0 });
    // The second call begins with the first judge.
    expect(story.children).toMatchObject([{ agent: "one", input: { call_id: "c2" } }]);
    story.judges("one", { score: 0 });
    expect(story.children).toEqual([]);
    expect(story.sim.underWay("model.call")).toHaveLength(1);
    story.checkModelInput();
  });

  test("read-only neighbours are judged and run side by side; a writer waits for them", () => {
    const { story } = calling([{ name: "fs.read" }, { name: "fs.list" }, { name: "fs.write" }]);
    const inputs = () => story.children.map(({ input }) => (input as { tool: string }).tool);
    expect(inputs()).toEqual(["fs.read", "fs.list"]);
    story.judges("guard", { score: 1 });
    expect(story.sim.underWay("tool.call")).toHaveLength(1);
    expect(inputs()).toEqual(["fs.list"]);
    story.toolEnds();
    expect(inputs()).toEqual(["fs.list"]);
    story.judges("guard", { score: 0 });
    expect(inputs()).toEqual(["fs.write"]);
    story.judges("guard", { score: 1 }).toolEnds();
    expect(story.sim.underWay("model.call")).toHaveLength(1);
    story.checkModelInput();
    story.checkInvariants();
  });

  test("a judged call keeps its place among the parallel ones", () => {
    const bounds = { max_rounds: 5, dispatch_grace_ms: 1, tool_parallelism: 1, tool_message_bytes: 4096 };
    const { story } = calling([{ name: "fs.read" }, { name: "fs.list" }], judgedPlan, { bounds });
    expect(story.children).toHaveLength(1);
  });

  test("a grant that skips the judge runs at once", () => {
    const tools = builtinTools.map((entry) => (entry.name === "fs.read" ? { ...entry, skip_judge: true } : entry));
    const { story } = calling([{ name: "fs.read" }, { name: "fs.list" }], { ...judgedPlan, tools });
    expect(story.sim.underWay("tool.call")).toHaveLength(1);
    expect(story.children).toMatchObject([{ input: { tool: "fs.list" } }]);
  });

  test("what could not run anyway is not judged", () => {
    const { story } = calling([{ name: "web.fetch" }, { name: "cmd.run" }]);
    expect(story.children).toEqual([]);
    expect(story.sim.underWay("model.call")).toHaveLength(1);
  });

  test("a superseded loop takes its judges back", () => {
    const { story } = calling([run]);
    const [child] = story.children;
    story.childStarts(child?.id ?? "");
    story.generate("another");
    expect(story.cancelled).toEqual([[child?.id ?? "", "no_longer_needed"]]);
    expect(story.children).toEqual([]);
    story.checkInvariants();
    story.childEnds(child?.id ?? "", '{"score":1}');
    expect(story.events).not.toContain("tool_call_started");
  });

  test("an iteration that is out of time takes its judges back", () => {
    const { story } = calling([run], { tool_judges: [semantic("guard", { timeout_ms: 3_600_000 })] });
    const [child] = story.children;
    story.sim.fireNext();
    expect(story.record()).toMatchObject({ status: "failed", error_code: "iteration_timeout" });
    expect(story.cancelled).toEqual([[child?.id ?? "", "no_longer_needed"]]);
    story.checkInvariants();
  });
});

describe("judges of calls beside the loop", () => {
  const running = (change: object = {}) =>
    new Story({ plan: { tool_judges: [semantic("guard")], ...change } }).start().launch();
  const judge = (story: Story, call_id: string) =>
    story.sim.ask("judge_call", { call_id, tool: "fs.write", arguments: { path: "a" } });
  const said = (story: Story, call: string) => story.sim.answers.get(call) ?? null;

  test("the same id again joins the panel, and reads its verdict for a while", () => {
    const story = running({ tool_judges: [semantic("one"), semantic("two")] });
    const calls = [judge(story, "c"), judge(story, "c")];
    expect(story.children).toMatchObject([{ agent: "one", input: { of: "outside_call", seq: 1, judge: 0 } }]);
    expect(story.sim.log("outside_calls")).toEqual([{ tool: "fs.write", arguments: { path: "a" } }]);
    story.judges("one", { score: 1 });
    expect(calls.map((call) => said(story, call))).toEqual([null, null]);
    expect(story.children).toMatchObject([{ agent: "two", input: { judge: 1 } }]);
    story.judges("two", { score: 0, reasoning: "no" });
    const verdict = { status: "rejected", judge: "two", score: 0, reason: expect.stringContaining("no") };
    expect([...calls, judge(story, "c")].map((call) => said(story, call))).toEqual([verdict, verdict, verdict]);
    expect(story.children).toEqual([]);
    // Sixteen more, and it is judged anew.
    for (let n = 0; n < 16; n++) {
      judge(story, `c${n}`);
      story.judges("one", { score: 0 });
    }
    judge(story, "c");
    expect(story.children).toHaveLength(1);
    story.checkInvariants();
  });

  test("as many as may run at once are judged at once; a refusal is an event of no loop", () => {
    const story = running();
    const calls = Array.from({ length: 9 }, (_, n) => judge(story, `c${n}`));
    expect(said(story, calls[8] ?? "")).toEqual({ status: "full", most: 8 });
    story.judges("guard", { score: 0.2, reasoning: "no" });
    expect(story.event("policy_violation")).toMatchObject({
      ...{ tool_name: "fs.write", violation_type: "judge_rejected" },
      details: { error_code: 2009, judge: "guard", score: 0.2, entry: "seal" },
    });
    expect(story.events).not.toContain("tool_call_started");
    expect(said(story, judge(story, "c8"))).toBe(null);
  });

  test("judges that take too long reject, an end answers, and nothing is left behind", () => {
    const story = running({ tool_judges: [semantic("guard", { timeout_ms: 1000 })] });
    const late = judge(story, "c");
    for (const _ of [1, 2]) story.sim.fireNext();
    expect(said(story, late)).toMatchObject({ status: "rejected", reason: expect.stringContaining("no verdict") });
    const open = judge(story, "d");
    const [child] = story.children;
    story.childStarts(child?.id ?? "");
    story.sim.askNow("cancel", { reason: null });
    expect(said(story, open)).toEqual({ status: "over" });
    expect(story.cancelled.at(-1)?.[0]).toBe(child?.id);
    expect(said(story, judge(story, "e"))).toEqual({ status: "over" });
    expect([...story.sim.timers.keys()]).toEqual([]);
    story.checkInvariants();
  });

  test("an agent without judges clears what it is asked about", () => {
    const story = running({ tool_judges: [] });
    expect(said(story, judge(story, "c"))).toEqual({ status: "cleared" });
  });
});
