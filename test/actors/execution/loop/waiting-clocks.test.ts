/** The deadlines of executions while tool calls wait for people (docs/reference/executions.md). */
import { describe, expect, test } from "bun:test";
import { deadlineAt } from "../../../../actors/execution/loop/waiting/clocks.ts";
import { AskedStory, fromContext, minute } from "./asked-calls.ts";
import { bounds } from "./fixture.ts";

const ask = [fromContext({ timeout_seconds: 3600 })];
const command = { tool: "cmd.run", arguments: { command: "make" }, approvals: ask };

describe("clocks", () => {
  const short = { timeout_ms: 20 * minute, iteration_timeout_ms: 10 * minute };

  test("stand still while every open call waits, and go on afterwards", () => {
    const story = new AskedStory(short).calls(command).gather();
    const began = story.state.started_at ?? 0;
    const waited = 3 * 60 * minute;
    story.sim.now += waited;
    expect(deadlineAt(story.state, story.sim.now)).toBe(began + 20 * minute + waited);
    // Whichever timer fires meanwhile, nothing ends.
    story.sim.tell("deadline", {});
    story.sim.tell("iteration_deadline", { instance_id: story.instance });
    story.decide(0).clear();
    expect(story.state.deadline_at).toBe(began + 20 * minute + waited);
    expect(story.state.iteration.deadline_at).toBe(began + 10 * minute + waited);
    expect(story.sim.timers.get("deadline")?.at).toBe(began + 20 * minute + waited);
    story.result(story.dispatchOf(story.asked));
    story.modelSays({ content: "Done." });
    expect(story.answer(story.asked)).toBeDefined();
    story.exit("Done.");
    expect(story.state.status).toBe("completed");
    story.checkInvariants();
  });

  test("run while another call is under way beside the one that waits", () => {
    const story = new AskedStory(short).calls(command, { tool: "fs.read" }).gather();
    expect(story.state.waiting?.since).toBeNull();
    story.sim.now += 10 * minute;
    story.sim.tell("iteration_deadline", { instance_id: story.instance });
    expect(story.state.status).toBe("failed");
    expect(story.withdrawn).toHaveLength(1);
    story.checkInvariants();
  });

  test("stand still no longer than they may in all", () => {
    const story = new AskedStory({ ...short, bounds: { ...bounds, tool_wait_max_ms: 30 * minute } });
    const began = story.state.started_at ?? 0;
    story.calls(command).gather();
    story.sim.now += 20 * minute;
    story.decide(0).clear();
    story.result(story.dispatchOf(story.asked));
    story.calls(command).gather();
    // Ten minutes are left of thirty; then the iteration's ten begin to run.
    story.sim.now = began + 39 * minute;
    story.sim.tell("iteration_deadline", { instance_id: story.instance });
    expect(story.state.status).toBe("running");
    story.sim.now = began + 40 * minute;
    story.sim.tell("iteration_deadline", { instance_id: story.instance });
    expect(story.state.status).toBe("failed");
    story.checkInvariants();
  });

  test("a workflow run above hears that they stand still, and that they go on", () => {
    const above = "0190f3c4-0000-7000-8000-0000000000aa";
    const story = new AskedStory({
      workflow_execution_id: above,
      hierarchy: { parent_execution_id: above, depth: 1, path: [above], swarm_id: null },
    });
    const news = () =>
      story.sim.told.flatMap((one) =>
        one.effect === "tell" && one.message.type === "child_waiting"
          ? [one.message.body as { since: number | null }]
          : [],
      );
    story.calls(command).gather();
    expect(news().at(-1)).toMatchObject({ waiting: { approval_id: story.opened[0]?.id }, since: story.sim.now });
    story.decide(0);
    expect(news().at(-1)).toMatchObject({ waiting: null, since: null });
  });
});
