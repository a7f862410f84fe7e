/** A run that another one follows: both are one commit, and the follower waits for its admission. */
import { describe, expect, test } from "bun:test";
import type { Json } from "../../../../../actors/kernel/json.ts";
import type { State } from "../../../../../actors/workflow/definition.ts";
import { runRecord } from "../../../../../actors/workflow/run/record/record.ts";
import { definitionOf, headerOf, human, noop, runId, ways, writes } from "../../fixture.ts";
import { RunStory } from "../../scenario.ts";

const input = { left: "{{rest}}", told: "after {{input.name}}", list: ["{{json input.tags}}"] };
const states = {
  COUNT: writes({ rest: "{{json input.rest}}" }, ["always", "NEXT"]),
  NEXT: { ...noop(), continue_as: { input } } as State,
};
const begun = (change: Partial<State> = {}, header = {}) =>
  new RunStory(definitionOf({ ...states, NEXT: { ...states.NEXT, ...change } as State }, { strict_templates: true }), {
    header: { context_ceilings: ["tight"], security_context: "own", schedule_id: "s", stimulus_id: "x", ...header },
    input: { name: "one", rest: { n: 2 }, tags: ["a"] },
  }).start();
const followOf = (story: RunStory) => story.toldOf("follow")[0]?.body as unknown as { header: Json; input: Json };

test("the successor is told in the commit of the end, and named by both", () => {
  const story = begun();
  const [told] = story.toldOf("follow");
  expect(told).toMatchObject({
    kind: "workflow_run",
    coCommit: true,
    body: {
      input: { left: { n: 2 }, told: "after one", list: [["a"]] },
      header: {
        continued_from: runId,
        initiated_by: { sub: "ada" },
        context_ceilings: ["tight"],
        security_context: "own",
        schedule_id: "s",
        stimulus_id: null,
        parent: null,
        root_execution_id: told?.key,
      },
    },
  });
  // The run of a schedule lives on in the one that follows.
  expect(story.toldOf("run_ended")).toMatchObject([
    { kind: "workflow_schedule", key: "s", body: { execution_id: runId, continued_as: told?.key } },
  ]);
  expect([...story.sim.beside]).toEqual([[told?.key ?? "", "workflow_run"]]);
  expect(story.types.slice(-2)).toEqual(["WorkflowExecutionContinued", "WorkflowExecutionCompleted"]);
  expect(story.event("WorkflowExecutionContinued").details).toEqual({ continued_as: told?.key ?? "" });
  expect(runRecord({ execution_id: runId, tenant_id: "north" }, story.state).continued_as).toBe(told?.key ?? null);
});

describe("none follows", () => {
  const none: [string, Partial<State>][] = [
    ["an outcome that is failed", { outcome: "failed" }],
    ["an input that cannot be rendered", { continue_as: { input: "{{nothing}}" } }],
  ];
  for (const [name, change] of none) {
    test(name, () => {
      const story = begun(change);
      expect([story.state.status, story.toldOf("follow")]).toEqual(["failed", []]);
    });
  }

  test("a run whose time is up", () => {
    const asks = { ASK: { ...human([]), continue_as: { input: {} } } as State };
    const story = new RunStory(definitionOf(asks), { header: { timeout_ms: 1_000 } }).start();
    story.sim.now += 2_000;
    story.decide("approved");
    expect([story.state.status, story.toldOf("follow")]).toEqual(["timed_out", []]);
  });
});

/** The follower of a run, as the former told it. */
function follower(header = {}): RunStory {
  const story = new RunStory(definitionOf({ ASK: human(ways()) }));
  const { header: told, input } = followOf(begun({}, header));
  story.sim.tell("follow", { header: told, definition: definitionOf(states), input, signals: [] });
  return story;
}
const admitted = (header: Json): Json => ({
  header: { ...(header as object), workflow_version: "2.0.0" },
  definition: definitionOf({ ASK: human([]) }, { context: { c: 1 } }) as unknown as Json,
  input: { filled: true },
});

describe("the follower", () => {
  test("is pending until it is admitted, and then begins in the version of that time", () => {
    const story = follower();
    expect(story.state).toMatchObject({ status: "pending", current: null, next: null });
    expect(story.types).toEqual(["WorkflowExecutionStarted"]);
    const [work] = story.sim.underWay("workflow.admission");
    const { started_at } = story.state;
    story.sim.now += 5_000;
    story.sim.succeed(work?.id ?? "", admitted(story.state.header as unknown as Json));
    story.settle();
    expect(story.state).toMatchObject({ status: "running", started_at, current_state: "ASK", input: { filled: true } });
    expect(story.state.header).toMatchObject({ workflow_version: "2.0.0", continued_from: runId });
    expect(story.blackboard).toMatchObject({ c: 1, input: { filled: true } });
    expect(story.types.slice(0, 2)).toEqual(["WorkflowExecutionStarted", "WorkflowStateEntered"]);
  });

  test("fails with what refused it for good", () => {
    const story = follower();
    story.sim.fail(story.sim.underWay("workflow.admission")[0]?.id ?? "", "workflow_not_found", "Workflow not found");
    expect(story.state).toMatchObject({ status: "failed", ending: { error_code: "workflow_not_found" } });
    expect(story.types).toEqual(["WorkflowExecutionStarted", "WorkflowExecutionFailed"]);
  });

  test("is asked for again where the work of its admission died", () => {
    const story = follower();
    for (const death of [1, 2, 3, 4, 5]) {
      const [work] = story.sim.underWay("workflow.admission");
      story.sim.fail(work?.id ?? "", "process_died", "its process died");
      expect([story.state.status, story.state.admission_deaths]).toEqual(["pending", death]);
    }
    story.sim.fail(story.sim.underWay("workflow.admission")[0]?.id ?? "", "process_died", "its process died");
    expect(story.state).toMatchObject({ status: "failed", ending: { error_code: "process_died" } });
  });

  test("is cancelled while it waits, and what was admitted all the same goes", () => {
    const story = follower();
    const [work] = story.sim.underWay("workflow.admission");
    expect(story.sim.askNow("cancel", { reason: null })).toEqual({ outcome: "cancelled" });
    expect(story.sim.abandoned.has(work?.id ?? "")).toBe(true);
    const volume = { volume_id: "v", name: "workspace", mount_path: "/workspace", storage_class: "ephemeral" as const };
    const mount = { ...volume, access_mode: "read-write" as const, size_limit_bytes: 1, ttl_ms: 1 };
    const header = headerOf({ volumes: [mount] });
    story.sim.tell("admitted", { id: work?.id ?? "", ok: true, value: admitted(header as unknown as Json) });
    expect(story.sim.underWay("workflow.cleanup").map(({ input }) => input)).toEqual([
      { execution_id: runId, volume_ids: ["v"] },
    ]);
    expect(story.types).toEqual(["WorkflowExecutionStarted", "WorkflowExecutionCancelled"]);
  });

  test("that is paused while it waits enters nothing until it is resumed", () => {
    const story = follower();
    story.sim.askNow("pause", {});
    const [work] = story.sim.underWay("workflow.admission");
    story.sim.succeed(work?.id ?? "", admitted(story.state.header as unknown as Json));
    expect(story.state).toMatchObject({ status: "running", current: null });
    story.ask("resume");
    expect(story.state.current_state).toBe("ASK");
  });

  test("has its deadline from the start of its waiting; the same again is nothing", () => {
    const story = follower({ timeout_ms: 60_000 });
    const before = JSON.stringify(story.state);
    story.sim.tell("follow", {
      header: headerOf() as unknown as Json,
      definition: definitionOf(states) as unknown as Json,
      input: {},
      signals: [],
    });
    expect(JSON.stringify(story.state)).toBe(before);
    story.sim.fireNext();
    expect(story.state).toMatchObject({ status: "timed_out" });
  });
});

test("signals in the buffer go on with the run; later ones are told of the follower", () => {
  const asks = {
    ASK: human(ways(["approved", "NEXT"])),
    NEXT: { ...noop(), continue_as: { input: {} } } as State,
  };
  const story = new RunStory(definitionOf(asks)).start();
  const signal = { signal_name: "more", payload: { n: 1 }, work_id: null };
  story.ask("pause");
  story.decide("approved");
  expect(story.ask("signal", signal)).toEqual({ outcome: "buffered" });
  story.ask("resume");
  const [told] = story.toldOf("follow");
  expect(told?.body.signals).toMatchObject([{ name: "more", payload: { n: 1 } }]);
  const late = story.ask("signal", signal);
  expect(late).toEqual({ outcome: "already_terminal", status: "completed", continued_as: told?.key ?? "" });

  const next = new RunStory(definitionOf(asks));
  next.sim.tell("follow", told?.body as Json);
  expect(next.sim.askNow("signal", { ...signal, payload: { n: 2 } })).toEqual({ outcome: "buffered" });
  const [work] = next.sim.underWay("workflow.admission");
  next.sim.succeed(work?.id ?? "", admitted(next.state.header as unknown as Json));
  expect(next.state.signals?.map(({ payload }) => payload)).toEqual([{ n: 1 }, { n: 2 }]);
});
