/** Further attempts at a state within one visit. */
import { describe, expect, test } from "bun:test";
import type { Json } from "../../../actors/kernel/json.ts";
import type { Retry } from "../../../actors/workflow/definition/parts.ts";
import type { Definition, State } from "../../../actors/workflow/definition.ts";
import { runElement } from "../../../actors/workflow/run/record/record.ts";
import { delayOf } from "../../../actors/workflow/run/retrying.ts";
import { forkProblem, planRetry } from "../../../actors/workflow/run/start/plan-again.ts";
import { agent, branches, definitionOf, noop, runId, system, ways } from "./fixture.ts";
import { RunStory } from "./scenario.ts";

const usual: Retry = { attempts: 3, delay_ms: 1_000, backoff: 2, max_delay_ms: 300_000, on: ["all"] };
const command = (retry: Partial<Retry>, change: object = {}): State =>
  ({ ...system("true {{input.x}}", ways(["on_success", "DONE"])), retry: { ...usual, ...retry }, ...change }) as State;
const storyOf = (state: State, spec: Partial<Definition> = {}): RunStory =>
  new RunStory(definitionOf({ WORK: state, DONE: noop() }, spec)).start();

function end(story: RunStory, exit_code: number): void {
  const [work] = story.sim.underWay("workflow.command");
  const value: Json = {
    status: exit_code === 0 ? "success" : "failed",
    exit_code,
    stdout: "",
    stderr: "",
    duration_ms: 1,
    timed_out: false,
    truncated: false,
    attempts: 1,
    error: null,
    warnings: [],
  };
  story.sim.succeed(work?.id ?? "", value);
  story.settle();
}
const isWaiting = (story: RunStory): boolean => story.state.current?.work.of === "backoff";

describe("delays", () => {
  test.each([
    [{}, [1_000, 2_000, 4_000, 8_000]],
    [{ backoff: 1 }, [1_000, 1_000, 1_000]],
    [{ backoff: 1.5, delay_ms: 333 }, [333, 500, 749]],
    [{ max_delay_ms: 3_000 }, [1_000, 2_000, 3_000, 3_000]],
    [{ backoff: 1e308, max_delay_ms: 5_000 }, [1_000, 5_000, 5_000, 5_000]],
    [{ backoff: 1e308, delay_ms: 0 }, [0, 0, 0, 0]],
  ])("of %j", (change, delays) => {
    expect(delays.map((_, at) => delayOf({ ...usual, ...change }, at + 1))).toEqual(delays);
  });
});

test("the result of the last attempt counts; all of them are one visit", () => {
  const story = storyOf(command({}));
  const began = story.sim.now;
  end(story, 1);
  expect(story.event("WorkflowStateRetried").details).toMatchObject({
    state_name: "WORK",
    attempt: 2,
    error: "command_failed",
    next_at: new Date(began + 1_000).toISOString(),
  });
  expect(story.blackboard.WORK).toBeUndefined();
  story.sim.fireNext();
  end(story, 2);
  expect(story.sim.timers.get("retry:1")?.at).toBe(began + 3_000);
  story.sim.fireNext();
  end(story, 3);
  expect(story.blackboard.WORK).toMatchObject({ exit_code: 3 });
  expect(story.state).toMatchObject({ status: "failed", visits: { WORK: 1 }, transition_count: 1 });
  expect(story.types.filter((type) => type === "WorkflowStateRetried")).toHaveLength(2);
  const instances = story.sim.performed.map(({ id }) => id);
  expect(new Set(instances).size).toBe(instances.length);
});

test("an attempt that succeeds goes on", () => {
  const story = storyOf(command({}));
  end(story, 1);
  story.sim.fireNext();
  end(story, 0);
  expect(story.way).toEqual(["WORK", "DONE"]);
});

test.each([
  [["command_failed"], true],
  [["state_timeout", "all"], true],
  [["state_timeout"], false],
  [["failed"], false],
])("codes %j are tried again: %p", (on, isTried) => {
  const story = storyOf(command({ on }));
  end(story, 1);
  expect(isWaiting(story)).toBe(isTried);
});

test("a timeout is of each attempt, and has the code that the run would fail with", () => {
  const state = {
    ...agent(ways(["on_success", "DONE"])),
    timeout_ms: 5_000,
    retry: { ...usual, on: ["state_timeout"] },
  };
  const story = storyOf(state as State);
  story.sim.fireNext();
  expect(story.event("WorkflowStateRetried").details).toMatchObject({ error: "state_timeout" });
  expect(story.toldOf("cancel")).toHaveLength(1);
  expect([...story.sim.timers.keys()]).toEqual(["retry:1"]);
  story.sim.fireNext();
  expect(story.state.current?.deadline_at).toBe(story.sim.now + 5_000);
  expect([...story.sim.timers.keys()]).toEqual(["state:1"]);
});

test("templates are rendered anew, and a state that cannot be entered is tried again", () => {
  const story = storyOf(command({ attempts: 2 }, { command: { form: "text", text: "{{nothing}}" } }));
  expect(isWaiting(story)).toBe(true);
  story.sim.fireNext();
  story.settle();
  expect(story.state).toMatchObject({ status: "failed", ending: { error_code: "template_resolved_empty" } });
});

test("a webhook of each attempt is a call of its own", () => {
  const output_handler = {
    type: "webhook",
    url: "https://example.com/hook",
    method: "POST",
    headers: {},
    body_template: null,
    timeout_ms: 1_000,
    max_attempts: 1,
    required: true,
  };
  const state = { ...agent(ways(["on_success", "DONE"]), { output_handler }), retry: usual } as State;
  const story = storyOf(state);
  for (const ok of [false, true]) {
    const work = story.state.current?.work;
    const child = work?.of === "agent" ? work.children[0]?.id : undefined;
    const over = { agent_id: runId, status: "completed", output: "fine", error_code: null };
    story.tell("child_ended", { child_execution_id: child ?? "", ...over });
    const [call] = story.sim.underWay("workflow.webhook");
    if (ok) story.sim.succeed(call?.id ?? "", { output: "", truncated: false });
    else story.sim.fail(call?.id ?? "", "webhook_failed");
    story.settle();
    if (!ok) story.sim.fireNext();
  }
  expect(story.way).toEqual(["WORK", "DONE"]);
});

describe("while it waits for the next attempt", () => {
  const waiting = (): RunStory => {
    const story = storyOf(command({ delay_ms: 60_000 }), {});
    end(story, 1);
    return story;
  };

  test("a cancelled run leaves no timer, and late news changes nothing", () => {
    const story = waiting();
    story.ask("cancel", { reason: null });
    expect(story.sim.timers.size).toBe(0);
    story.tell("retry_due", { entry: 1 });
    expect(story.state.status).toBe("cancelled");
  });

  test("a timer that is early waits on", () => {
    const story = waiting();
    story.sim.timers.clear();
    story.tell("retry_due", { entry: 1 });
    expect(story.sim.timers.get("retry:1")?.at).toBe(story.sim.now + 60_000);
    expect(isWaiting(story)).toBe(true);
  });

  test("nothing is begun in a pause; what came due is begun with its end", () => {
    const story = waiting();
    story.ask("pause");
    story.sim.fireNext();
    expect(story.sim.underWay("workflow.command")).toHaveLength(0);
    story.ask("resume");
    expect(story.sim.underWay("workflow.command")).toHaveLength(1);
    const short = waiting();
    short.ask("pause");
    short.ask("resume");
    expect(isWaiting(short)).toBe(true);
    short.sim.fireNext();
    expect(short.sim.underWay("workflow.command")).toHaveLength(1);
  });

  test("it waits for no person any more", () => {
    const story = storyOf({ ...agent([]), timeout_ms: 60_000, retry: usual } as State);
    const work = story.state.current?.work;
    const child = work?.of === "agent" ? (work.children[0]?.id ?? "") : "";
    const approval = { approval_id: "a1", tool: "cmd.run", expires_at: story.sim.now + 9_000 };
    story.tell("child_waiting", { child_execution_id: child, waiting: approval, since: story.sim.now, most_ms: 9_000 });
    story.tell("child_ended", {
      child_execution_id: child,
      agent_id: runId,
      status: "failed",
      output: null,
      error_code: "iteration_failed",
    });
    expect(isWaiting(story)).toBe(true);
    expect(runElement({ execution_id: runId, tenant_id: "north" }, story.state).waiting_for).toBeNull();
  });
});

test("in a branch the attempts are its own; the end of the Branch ends them", () => {
  const split = branches("SPLIT", 1, {
    left: { L: command({ attempts: 2 }, { transitions: [] }) },
    right: { R: command({ attempts: 2 }, { transitions: [] }) },
  });
  const story = new RunStory(definitionOf(split)).start();
  end(story, 1);
  expect(story.event("WorkflowStateRetried").details).toMatchObject({ state_name: "L", branch: "left" });
  expect([...story.sim.timers.keys()]).toEqual(["retry:2"]);
  end(story, 0);
  expect(story.blackboard.SPLIT).toMatchObject({ joined: ["right"], branches: { left: null } });
  expect(story.sim.timers.size).toBe(0);
});

test("no retry and no fork of a run begins inside a branch", () => {
  const split = branches("SPLIT", 2, { left: { L: { ...noop(), outcome: "failed" } }, right: { R: noop() } });
  const story = new RunStory(definitionOf(split)).start();
  const plan = (fromState: string | null) =>
    planRetry(
      {
        fromState,
        starter: {},
        startedBy: null,
        countedFor: null,
        initiatedBy: story.state.header.initiated_by,
      } as never,
      {
        executionId: runId,
        earlierId: runId,
        earlier: story.state,
        terms: {} as never,
        storage: { readable: new Map() } as never,
        isContextAllowed: true,
      },
    );
  expect(plan("L")).toMatchObject({
    code: "unknown_state",
    extras: { issues: [{ path: "from_state", code: "state_in_branch" }] },
  });
  expect(plan("NONE")).toMatchObject({ code: "unknown_state" });
  const fork = { fromState: "L", fromVisit: null, patch: null } as unknown as Parameters<typeof forkProblem>[0];
  expect(forkProblem(fork, story.state)).toMatchObject({
    code: "unknown_state",
    status: 422,
    extras: { issues: [{ path: "from_state", code: "state_in_branch" }] },
  });
});
