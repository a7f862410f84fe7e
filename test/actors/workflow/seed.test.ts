/** The first blackboard, and how large any may grow. */
import { describe, expect, test } from "bun:test";
import type { Json } from "../../../actors/kernel/json.ts";
import {
  jsonBytes,
  maxBlackboardBytes,
  maxResultBytes,
  memberBytes,
} from "../../../actors/workflow/run/blackboard/size.ts";
import { agent, definitionOf, human, noop, runId, ways, writes } from "./fixture.ts";
import { type Beginning, RunStory } from "./scenario.ts";

const once = { A: human([]) };
const boardOf = (beginning: Beginning, change = {}) =>
  new RunStory(definitionOf(once, change), beginning).start().blackboard;

describe("the first blackboard", () => {
  test("later layers win: context, request, volumes, system keys", () => {
    const board = boardOf(
      { overrides: { b: 2, c: 2, work: "mine" }, input: { name: "n", extra: 1 } },
      { context: { a: 1, b: 1, input: "x", work: "x" } },
    );
    expect(board).toMatchObject({ a: 1, b: 2, c: 2, work: "mine", input: { name: "n", extra: 1 } });
  });

  test("every system key is there", () => {
    const board = boardOf({}, { context: { limit: 3 } });
    expect(board).toEqual({
      limit: 3,
      input: {},
      intent: "",
      tenant_id: "north",
      attachments: [],
      workflow: {
        name: "sample",
        version: "1.2.0",
        context: { limit: 3 },
        storage: { workspace: null, shared_volumes: [] },
      },
      execution: { id: runId, started_at: "2031-05-02T06:00:00.000Z" },
      state: { name: "A", feedback: null, visit: 1 },
      human: { feedback: null, response: null, decision: null, approver: null },
    });
  });

  test.each<[Json, Json]>([
    ["text", { input: "text" }],
    [7, { input: 7 }],
    [[1], { input: [1] }],
    [null, { input: null }],
    [{ a: 1 }, { a: 1 }],
  ])("input %j is exposed as %j", (input, exposed) => {
    const board = boardOf({ input });
    expect(board.input).toEqual(exposed);
    expect(board.workflow).toMatchObject(exposed as object);
  });

  test("input keys do not hide what the workflow is", () => {
    expect(boardOf({ input: { name: "mine", version: 9, of: "me" } }).workflow).toMatchObject({
      name: "sample",
      version: "1.2.0",
      of: "me",
    });
  });

  test("the workspace's id lies where the manifest wants it", () => {
    const workspace = {
      storage_class: "ephemeral" as const,
      ttl_ms: 1,
      size_limit_bytes: 1,
      volume_id: null,
      blackboard_key: "desk",
    };
    const mount = {
      access_mode: "read-write" as const,
      size_limit_bytes: 1,
      ttl_ms: 1,
      storage_class: "persistent" as const,
    };
    const volumes = [
      { ...mount, name: "workspace", mount_path: "/workspace", volume_id: "v1" },
      { ...mount, name: "cache", mount_path: "", volume_id: "v2" },
    ];
    const board = boardOf(
      { header: { volumes }, overrides: { cache_volume_id: "asked" } },
      { storage: { workspace, shared_volumes: [] } },
    );
    expect(board).toMatchObject({ desk: "v1", cache_volume_id: "v2" });
  });
});

describe("how large it may be", () => {
  const many = (bytes: number): string => "x".repeat(bytes);

  test("sizes are those of UTF-8 JSON", () => {
    const faces = "😀".repeat(40_000);
    const long = { a: faces, b: { a: `x${faces}`, b: faces }, c: `\ud83d${faces}` };
    const values = ["", "é€😀", '\n"', many(200_000), faces, `x${faces}\ud83d`, { a: [1, null, "ü"] }, "\ud800", long];
    for (const value of values) {
      expect(jsonBytes(value)).toBe(Buffer.byteLength(JSON.stringify(value)));
    }
    expect(memberBytes("ü", 1)).toBe(Buffer.byteLength('"ü":1,'));
  });

  test("a start with too much fails at once", () => {
    const story = new RunStory(definitionOf(once), { overrides: { a: many(maxBlackboardBytes) } }).start();
    expect(story.types).toEqual(["WorkflowExecutionStarted", "WorkflowExecutionFailed"]);
    expect(story.state).toMatchObject({ status: "failed", ending: { error_code: "blackboard_too_large" } });
    expect(story.toldOf("open")).toEqual([]);
  });

  test("a state that writes too much fails the run, and what did not fit is not kept", () => {
    const filled = many(maxBlackboardBytes - 20_000);
    const states = { A: writes({ b: "{{input.text}}" }, ["always", "B"]), B: noop() };
    const story = new RunStory(definitionOf(states), {
      overrides: { a: filled },
      input: { text: many(8_000) },
    }).start();
    expect(story.state).toMatchObject({ status: "failed", ending: { error_code: "blackboard_too_large" } });
    expect(story.state.blackboard_bytes).toBeLessThan(maxBlackboardBytes);
    expect(story.blackboard).not.toHaveProperty("b");
  });

  test("so does a result that does not fit any more", () => {
    const story = new RunStory(definitionOf({ A: agent(ways(["always", "B"])), B: noop() }), {
      overrides: { a: many(maxBlackboardBytes - 300_000) },
    }).start();
    end(story, many(400_000));
    expect(story.state).toMatchObject({
      status: "failed",
      outputs: [],
      ending: { error_code: "blackboard_too_large" },
    });
    expect(story.way).toEqual(["A"]);
    expect(story.types.slice(-2)).toEqual(["WorkflowStateExited", "WorkflowExecutionFailed"]);
  });

  test("a single result above its bound has failed, and rules are asked", () => {
    const states = { A: agent(ways(["on_failure", "B"])), B: noop() };
    const story = new RunStory(definitionOf(states)).start();
    end(story, many(maxResultBytes));
    expect(story.blackboard.A).toMatchObject({ status: "failed", error: "blackboard_too_large" });
    expect(story.state.status).toBe("completed");
  });

  function end(story: RunStory, output: string): void {
    const child_execution_id = story.sim.performed.at(-1)?.id.slice("agent:".length) ?? "";
    const agent_id = "0190f3c2-6d1e-7a55-9c1f-2f6d0c5b8e33";
    story.tell("child_ended", { child_execution_id, agent_id, status: "completed", output, error_code: null });
  }
});
