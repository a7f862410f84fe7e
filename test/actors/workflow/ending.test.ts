/** Rows of the state table: retries, the parent, news that come late, the end. */
import { describe, expect, test } from "bun:test";
import type { Json } from "../../../actors/kernel/json.ts";
import { definitionOf, human, noop, runId, subworkflow, system, ways, writes } from "./fixture.ts";
import { asks, told, two, works } from "./lifecycle-fixture.ts";
import { RunStory } from "./scenario.ts";

describe("retry", () => {
  test("enters the state with the earlier blackboard, visits anew", () => {
    const first = told({
      A: writes({ kept: "yes" }, ["always", "B", "again"]),
      B: human(ways(["approved", "C"])),
      C: noop(),
    }).decide("rejected");
    const { blackboard, outputs } = first.state;
    const resume = { blackboard, outputs, state: "B" } as unknown as Json;
    const second = new RunStory(first.definition, { resume, header: { retry_of: "x" } });
    second.start();
    expect(second.way).toEqual(["B"]);
    expect(second.blackboard).toMatchObject({
      kept: "yes",
      state: { name: "B", feedback: "again", visit: 1 },
      human: { decision: "rejected" },
    });
    expect(second.state).toMatchObject({ transition_count: 1, outputs: ["A", "B"] });
    second.decide("approved");
    expect(second.state.status).toBe("completed");
  });

  test("another state than the last one hears nothing of what that was told", () => {
    const states = { A: human(ways(["always", "B", "for B"])), B: human([]) };
    const { blackboard, outputs } = told(states).decide("approved").state;
    const feedbackOf = (state: string) => told(states, { resume: { blackboard, outputs, state } as unknown as Json });
    expect(feedbackOf("B").blackboard.state).toEqual({ name: "B", feedback: "for B", visit: 1 });
    expect(feedbackOf("A").blackboard.state).toEqual({ name: "A", feedback: null, visit: 1 });
  });

  test("a state that is not there fails the run", () => {
    const resume = { blackboard: {}, outputs: [], state: "NOWHERE" };
    expect(told(two, { resume }).state).toMatchObject({ status: "failed", ending: { error_code: "unknown_state" } });
  });
});

describe("the parent", () => {
  const parent = { execution_id: "0190f3c4-0000-7000-8000-00000000000a", state_name: "SUB", waits: true };

  test("that waits hears of the end", () => {
    const story = told(two, { header: { parent } }, { output_template: { name: "{{workflow.name}}" } });
    expect(story.toldOf("run_ended")).toEqual([
      {
        kind: "workflow_run",
        key: parent.execution_id,
        type: "run_ended",
        coCommit: false,
        body: {
          child_execution_id: runId,
          workflow_id: story.state.header.workflow_id,
          status: "completed",
          iterations: 2,
          final_state: "B",
          output: story.blackboard.B as Json,
          final_output: { name: "sample" },
          blackboard: story.blackboard,
          error: null,
          error_code: null,
        },
      },
    ]);
  });

  test("that does not wait hears nothing", () => {
    expect(told(two, { header: { parent: { ...parent, waits: false } } }).toldOf("run_ended")).toEqual([]);
  });

  test("hears of a cancellation", () => {
    const story = told(asks, { header: { parent } });
    story.ask("cancel", { reason: "x" });
    expect(story.toldOf("run_ended")[0]?.body).toMatchObject({ status: "cancelled", output: null, final_output: null });
  });
});

describe("late news", () => {
  const agentId = "0190f3c2-6d1e-7a55-9c1f-2f6d0c5b8e33";

  test("a child that started for a state that has ended is cancelled", () => {
    const story = told(works);
    const [start] = story.sim.performed;
    story.ask("cancel", { reason: null });
    const before = story.toldOf("cancel").length;
    story.tell("agent_started", { id: start?.id ?? "", ok: true, value: { agent_id: agentId } });
    story.tell("agent_started", { id: start?.id ?? "", ok: false, code: "x", message: "x" });
    const key = start?.id.slice("agent:".length) ?? "";
    expect(story.toldOf("cancel").slice(before)).toMatchObject([{ kind: "execution", key }]);
  });

  test("so is a run, unless it was let go on by itself", () => {
    const value = { workflow_id: agentId, workflow_name: "inner" };
    const blocking = told({ SUB: subworkflow([]) });
    const [start] = blocking.sim.performed;
    blocking.ask("cancel", { reason: null });
    const before = blocking.toldOf("cancel").length;
    blocking.tell("run_started", { id: start?.id ?? "", ok: true, value });
    expect(blocking.toldOf("cancel").length).toBe(before + 1);

    const free = told({ SUB: subworkflow([], { mode: "fire_and_forget", result_key: null }) });
    const id = free.sim.performed[0]?.id ?? "";
    free.sim.succeed(id, value);
    free.settle();
    expect(free.state.status).toBe("completed");
    free.tell("run_started", { id, ok: true, value });
    expect(free.toldOf("cancel")).toEqual([]);
  });

  test("the result of an entry waits for its own message", () => {
    const story = new RunStory(definitionOf(two)).enter();
    const before = structuredClone(story.state);
    story.sim.tell("advance", { entry: 2 });
    expect(story.state).toEqual(before);
  });

  test("of commands, only the one at work is heard", () => {
    const story = told({ RUN: system("true", []) });
    const [command] = story.sim.performed;
    const before = structuredClone(story.state);
    story.tell("command_ended", { id: "command:other", ok: false, code: "x", message: "x" });
    expect(story.state).toEqual(before);
    story.tell("command_ended", { id: command?.id ?? "", ok: false, code: "sandbox_unavailable", message: "x" });
    expect(story.state).toMatchObject({ status: "failed", ending: { error_code: "sandbox_unavailable" } });
  });

  test("ends and outcomes of what is not at work change nothing", () => {
    const story = told(asks);
    const before = structuredClone(story.state);
    const child = "0190f3c4-0000-7000-8000-0000000000cc";
    story
      .tell("command_ended", { id: "command:x", ok: false, code: "x", message: "x" })
      .tell("webhook_answered", { id: `webhook:${runId}:1`, ok: false, code: "x", message: "x" })
      .tell("child_ended", {
        child_execution_id: child,
        agent_id: agentId,
        status: "completed",
        output: "x",
        error_code: null,
      })
      .tell("run_ended", {
        child_execution_id: child,
        workflow_id: agentId,
        status: "completed",
        iterations: 1,
        final_state: null,
        output: null,
        final_output: null,
        blackboard: {},
        error: null,
        error_code: null,
      })
      .tell("advance", { entry: 1 })
      .tell("advance", { entry: 7 })
      .tell("cleaned_up", { id: `cleanup:${runId}`, ok: true, value: null })
      .tell("deadline", {})
      .tell("state_overdue", { entry: 1 });
    expect(story.state).toEqual(before);
  });
});

describe("the end", () => {
  const volume = {
    volume_id: "0190f3c4-0000-7000-8000-0000000000aa",
    access_mode: "read-write" as const,
    size_limit_bytes: 1,
    ttl_ms: 1,
  };
  const volumes = [
    { ...volume, name: "workspace", mount_path: "/workspace", storage_class: "ephemeral" as const },
    { ...volume, volume_id: "kept", name: "cache", mount_path: "", storage_class: "persistent" as const },
  ];

  test("lets volumes go and names what stays", () => {
    const story = told(two, { header: { volumes } });
    expect(story.sim.underWay("workflow.cleanup")).toMatchObject([
      { input: { execution_id: runId, volume_ids: [volume.volume_id] } },
    ]);
    expect(story.event("WorkflowExecutionCompleted").details.artifacts).toEqual([
      { type: "volume", name: "cache", volume_id: "kept" },
    ]);
    expect(story.blackboard).toMatchObject({ workspace_volume_id: volume.volume_id, cache_volume_id: "kept" });
  });

  test("erasing cancels what is under way and leaves nothing", () => {
    const story = told(asks, { header: { volumes } });
    const { approval } = story;
    expect(story.ask("erase")).toEqual({ outcome: "erased" });
    expect(story.sim.state).toBeNull();
    expect(story.toldOf("withdraw")).toMatchObject([{ key: approval, body: { reason: "deleted" } }]);
    expect(story.sim.underWay("workflow.cleanup")).toHaveLength(1);
    story.tell("cleaned_up", { id: `cleanup:${runId}`, ok: true, value: null });
    expect(story.sim.state).toBeNull();
    const ended = told(two, { header: { volumes } });
    expect(ended.ask("erase")).toEqual({ outcome: "erased" });
    expect(ended.sim.underWay("workflow.cleanup")).toHaveLength(1);
  });

  test("a command at work is left to its own time", () => {
    const story = told({ RUN: system("sleep 9", ways(["on_timeout", "DONE"])), DONE: noop() });
    expect([...story.sim.timers.keys()]).toEqual([]);
  });
});
