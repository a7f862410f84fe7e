/** Judges as children: of outputs and of tool calls, in order, in parallel, late, lost, refused. */
import { describe, expect, test } from "bun:test";
import type { Validator } from "../../../../actors/agent/manifest/execution/results.ts";
import type { Story } from "../scenario.ts";
import { exited, semantic, several } from "./fixture.ts";

const regex: Validator = {
  type: "regex",
  pattern: "ok",
  target: "stdout",
  flags: "",
  min_score: 1,
  min_confidence: 0,
};

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
