/** Judges as children: of outputs and of tool calls, in order, in parallel, late, lost, refused. */
import { describe, expect, test } from "bun:test";
import type { JudgeValidator, Validator } from "../../../../actors/agent/manifest/execution/results.ts";
import type { Plan } from "../../../../actors/execution/start/plan.ts";
import { builtinTools } from "../../../../actors/tool/catalog.ts";
import { Story } from "../scenario.ts";

const passing = { min_score: 0.7, min_confidence: 0 };
const semantic = (judge_agent: string, change: object = {}): JudgeValidator => ({
  type: "semantic",
  judge_agent,
  criteria: "Each note is in one lane",
  timeout_ms: 60_000,
  ...passing,
  ...change,
});
const several = (judges: readonly string[], change: object = {}): JudgeValidator => ({
  type: "multi_judge",
  judges: judges.map((agent, index) => ({ agent, weight: 1 + 2 * index })),
  criteria: "Each note is in one lane",
  consensus: "weighted_average",
  threshold: 0.7,
  n: null,
  min_judges_required: 1,
  timeout_ms: 60_000,
  ...passing,
  ...change,
});
const regex: Validator = {
  type: "regex",
  pattern: "ok",
  target: "stdout",
  flags: "",
  min_score: 1,
  min_confidence: 0,
};

function exited(validators: readonly Validator[], header: object = {}): Story {
  return new Story({ header, plan: { validators: [...validators] } }).start().launch().exit("ok");
}
const results = (story: Story) => story.record().iterations.at(-1)?.validation_results ?? [];

describe("a semantic validator", () => {
  test("asks a child, waits, and accepts its verdict; the output is fetched at the end", () => {
    const story = exited([semantic("critic")]);
    expect(story.children).toMatchObject([{ agent: "critic", input: { of: "result", validator: 0, iteration: 1 } }]);
    expect(story.sim.underWay("iteration.validate")).toEqual([]);
    const [child] = story.children;
    story.judges("critic", { score: 0.9, confidence: 0.5, reasoning: "neat" });
    expect(results(story)).toMatchObject([
      {
        type: "semantic",
        passed: true,
        score: 0.9,
        confidence: 0.5,
        feedback: "neat",
        details: { judge: "critic", execution_id: child?.id, reasoning: "neat" },
      },
    ]);
    expect(story.state.status).toBe("running");
    story.validated("ok");
    expect(story.record()).toMatchObject({ status: "completed", output: "ok", total_iterations: 1 });
    expect(story.event("child_execution_spawned")).toMatchObject({ parent_execution_id: story.sim.key });
    expect(story.event("child_execution_completed")).toMatchObject({ outcome: "completed" });
    expect([...story.sim.timers.keys()]).toEqual([]);
  });

  test("rejects below its score; the words reach the next iteration", () => {
    const story = exited([semantic("critic")], { mode: "iterative", max_iterations: 2 });
    story.judges("critic", { score: 0.2, reasoning: "lane B is empty" });
    expect(story.event("iteration_rejected")).toMatchObject({
      validator: "semantic",
      score: 0.2,
      confidence: 0.8,
      feedback: "score 0.2 is below 0.7\nlane B is empty",
    });
    expect(story.sim.log("history")).toMatchObject([{ iteration: 1, output: "ok", validation_failed: "semantic" }]);
    expect(story.state.iteration).toMatchObject({ number: 2, phase: "waiting" });
    story.checkInvariants();
  });

  test("confidence is reported first", () => {
    const story = exited([semantic("critic", { min_confidence: 0.9 })]);
    story.judges("critic", { score: 0.1, confidence: 0.5, reasoning: "unsure" });
    expect(story.event("iteration_rejected").feedback).toBe("confidence 0.5 is below 0.9\nunsure");
  });

  test.each([
    ["says nothing", (story: Story, id: string) => story.childStarts(id).childEnds(id, "I like it")],
    ["fails", (story: Story, id: string) => story.childStarts(id).childEnds(id, null, "failed")],
    ["fails with a verdict", (story: Story, id: string) => story.childEnds(id, '{"score":1}', "timed_out")],
    ["is never heard of", (story: Story) => void story.sim.fireNext()],
  ])("a judge that %s is asked once more, then the output is rejected at any score", (_, fate) => {
    const story = exited([semantic("critic", { min_score: 0 })], { timeout_ms: 86_400_000 });
    const first = story.children[0]?.id ?? "";
    fate(story, first);
    const again = story.children[0]?.id ?? "";
    expect(again).not.toBe(first);
    expect(story.children).toMatchObject([{ agent: "critic", input: { of: "result", validator: 0 } }]);
    story.checkInvariants();
    fate(story, again);
    expect(story.record()).toMatchObject({ status: "failed", error_code: "validation_rejected" });
    expect(results(story)).toMatchObject([
      { passed: false, score: 0, details: { reason: "judge_no_verdict", execution_id: again } },
    ]);
    story.checkInvariants();
  });

  test("the second judge's verdict counts", () => {
    const story = exited([semantic("critic")]);
    const first = story.children[0]?.id ?? "";
    story.childStarts(first).childEnds(first, "none");
    story.judges("critic", { score: 1 }).validated("ok");
    expect(story.state.status).toBe("completed");
    // The first one's echo changes nothing.
    story.childEnds(first, '{"score":0}');
    expect(story.state.status).toBe("completed");
  });

  test("a judge that cannot be started is not asked again", () => {
    const story = exited([semantic("critic")]);
    story.sim.fail(`child:${story.children[0]?.id}`, "judge_not_found", "There is no agent critic");
    expect(story.record()).toMatchObject({ status: "failed", error_code: "validation_rejected" });
    expect(results(story)).toMatchObject([{ details: { reason: "judge_no_verdict", failure: "judge_not_found" } }]);
  });

  test("a child that ends before its start is known did start", () => {
    const story = exited([semantic("critic")]);
    const id = story.children[0]?.id ?? "";
    story.childEnds(id, '{"score":1}');
    expect(story.events.filter((name) => name.startsWith("child_"))).toEqual([
      "child_execution_spawned",
      "child_execution_completed",
    ]);
    story.childStarts(id).validated("ok");
    expect(story.events.filter((name) => name.startsWith("child_")).length).toBe(2);
    expect(story.state.status).toBe("completed");
  });
});

describe("validators in order", () => {
  test("measured ones before, between and after judges; each stretch by itself", () => {
    const story = exited([regex, semantic("one"), semantic("two"), regex, semantic("three"), regex]);
    const [first] = story.sim.underWay("iteration.validate");
    expect(first?.input).toMatchObject({ from: 0 });
    expect(story.children).toEqual([]);
    story.validated("ok", 1);
    story.judges("one", { score: 1 });
    expect(story.sim.underWay("iteration.validate")).toEqual([]);
    story.judges("two", { score: 1 });
    expect(story.sim.underWay("iteration.validate")[0]?.input).toMatchObject({ from: 3 });
    story.validated("ok", 1).judges("three", { score: 1 });
    expect(story.sim.underWay("iteration.validate")[0]?.input).toMatchObject({ from: 5 });
    story.validated("ok", 1);
    expect(story.record()).toMatchObject({ status: "completed", output: "ok" });
    expect(results(story).map(({ type }) => type)).toEqual([
      "regex",
      "semantic",
      "semantic",
      "regex",
      "semantic",
      "regex",
    ]);
    expect(story.sim.log(`result:${story.instance}`)).toEqual([{ output: "ok", stderr: "", exit_code: 0 }]);
  });

  test("the first failure stops: no judge is asked", () => {
    const story = exited([regex, semantic("one")]).validated("ok", 0);
    expect(story.state.status).toBe("failed");
    expect(story.sim.performed.filter(({ activity }) => activity === "child.start")).toEqual([]);
  });

  test("a stretch that comes back short is a rejection", () => {
    const story = exited([regex, regex, semantic("one")]).validated("ok", 1);
    expect(story.record()).toMatchObject({ status: "failed", error_code: "validation_rejected" });
  });
});

describe("several judges", () => {
  test("side by side, weighted, with their names in the details", () => {
    const story = exited([several(["a", "b"], { min_score: 0.6 })]);
    const [first, second] = story.children;
    expect([first?.agent, second?.agent]).toEqual(["a", "b"]);
    story.judges("b", { score: 0.5, confidence: 1, reasoning: "so so" });
    expect(story.events).not.toContain("multi_judge_consensus");
    story.judges("a", { score: 0.9, confidence: 1, reasoning: "fine" }).validated("ok");
    expect(story.event("multi_judge_consensus")).toMatchObject({
      iteration_number: 1,
      judge_scores: [
        [first?.id, 0.9],
        [second?.id, 0.5],
      ],
      final_score: 0.6,
      confidence: 0.916,
    });
    expect(results(story)).toMatchObject([
      {
        type: "multi_judge",
        passed: true,
        score: 0.6,
        confidence: 0.916,
        details: {
          strategy: "weighted_average",
          final_score: 0.6,
          consensus_confidence: 0.916,
          individual_results: [
            { judge: "a", execution_id: first?.id, score: 0.9, confidence: 1, reasoning: "fine", weight: 1 },
            { judge: "b", execution_id: second?.id, score: 0.5, confidence: 1, reasoning: "so so", weight: 3 },
          ],
          failed_judges: [],
        },
      },
    ]);
    expect(story.record()).toMatchObject({ status: "completed", output: "ok" });
  });

  test("too few verdicts are a rejection, even at min_score 0, without another try", () => {
    const story = exited([several(["a", "b", "c"], { min_judges_required: 2, min_score: 0 })]);
    story.judges("a", { score: 1 });
    const [b = { id: "" }, c = { id: "" }] = story.children;
    story.sim.fail(`child:${b.id}`, "agent_paused");
    story.childStarts(c.id).childEnds(c.id, "no JSON");
    expect(story.record()).toMatchObject({ status: "failed", error_code: "validation_rejected" });
    expect(results(story)).toMatchObject([
      {
        passed: false,
        score: 0,
        details: {
          reason: "insufficient_verdicts",
          individual_results: [{ judge: "a" }],
          failed_judges: [
            { judge: "b", reason: "agent_paused" },
            { judge: "c", reason: "no_verdict" },
          ],
        },
      },
    ]);
    expect(story.events).not.toContain("multi_judge_consensus");
  });

  test("those that take too long are cancelled, the rest decide", () => {
    const story = exited([several(["a", "b"])]);
    story.judges("a", { score: 1 });
    const late = story.children[0]?.id ?? "";
    story.childStarts(late);
    story.sim.fireNext();
    expect(story.cancelled).toEqual([[late, "judge_timeout"]]);
    expect(results(story)).toMatchObject([
      { passed: true, details: { failed_judges: [{ judge: "b", reason: "timed_out" }] } },
    ]);
    story.checkInvariants();
  });
});

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
