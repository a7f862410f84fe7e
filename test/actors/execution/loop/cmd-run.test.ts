/** `cmd.run`: which calls become dispatches, and what their results come to. */
import { describe, expect, test } from "bun:test";
import { Story } from "../scenario.ts";
import { dispatched, run, running } from "./fixture.ts";

describe("cmd.run", () => {
  test("becomes a dispatch with all its fields", () => {
    const story = running();
    const asked = story.generate();
    const given = {
      command: "make",
      args: ["a b", "$HOME"],
      cwd: "sub",
      env_additions: { MODE: "ci", AWS_KEY: "x" },
      timeout_secs: 90,
    };
    story.modelSays({ calls: [{ name: "cmd.run", arguments: given }] });
    expect(story.answer(asked)).toEqual({
      status: "reply",
      reply: {
        type: "dispatch",
        dispatch_id: expect.any(String),
        action: "exec",
        command: "make",
        args: ["a b", "$HOME"],
        cwd: "/workspace/sub",
        env_additions: { MODE: "ci" },
        timeout_secs: 90,
        max_output_bytes: 1_048_576,
        iteration_number: 1,
      },
    });
    story.result(story.dispatchOf(asked), { stderr: "", timed_out: true, exit_code: -1, signal: "SIGKILL" });
    expect(JSON.parse(story.conversation().at(-1)?.content ?? "")).toEqual({
      exit_code: -1,
      stdout: "ok\n",
      stderr: "",
      timed_out: true,
      signal: "SIGKILL",
      dropped_env: ["AWS_KEY"],
    });
  });

  test("a plain result tells exit code and output, the record tells more", () => {
    const { story, dispatch } = dispatched();
    expect(story.record().iterations[0]?.trajectory).toMatchObject([
      { tool_name: "cmd.run", status: "dispatched", result_json: null },
    ]);
    story.result(dispatch);
    expect(story.conversation().at(-1)?.content).toBe('{"exit_code":0,"stdout":"ok\\n","stderr":""}');
    const step = story.record().iterations[0]?.trajectory[0];
    expect(step?.status).toBe("succeeded");
    expect(JSON.parse(step?.result_json ?? "")).toMatchObject({ duration_ms: 12, stdout_bytes: 3, truncated: false });
  });

  test.each([
    [{ command: "x", args: [], timeout_secs: 600 }, "timeout_secs was lowered to 30: no more time is left"],
    [{ command: "x", args: [] }, undefined],
  ])("the timeout is lowered to the time left, and a model that asked for more is told", (given, notice) => {
    const story = running({ iteration_timeout_ms: 30_000 });
    const asked = story.generate();
    story.modelSays({ calls: [{ name: "cmd.run", arguments: given }] });
    expect(story.answer(asked)).toMatchObject({ reply: { timeout_secs: 30 } });
    story.result(story.dispatchOf(asked));
    expect(JSON.parse(story.conversation().at(-1)?.content ?? "").notice).toBe(notice);
  });

  test("an iteration brings a bounded conversation, however many messages it sends", () => {
    const story = running();
    const large = "y".repeat(15_000_000);
    for (let count = 0; count < 4; count++) {
      story.generate(`${large}${count}`);
      story.modelSays({ content: "ok" });
    }
    expect(story.answer(story.generate(`${large}4`))).toMatchObject({ status: "refused", http: 413 });
    story.generate("a short one still fits");
    story.modelSays({ content: "ok" });
  });

  test("an iteration's results are recorded up to a share, then only their ends", () => {
    const story = running();
    let asked = story.generate();
    const output = "x".repeat(1_000_000);
    for (let round = 0; round < 12; round++) {
      story.modelSays({ calls: [{ name: "cmd.run", arguments: { command: "x", args: [] } }] });
      asked = story.result(story.dispatchOf(asked), { stdout: `${output}end` });
    }
    const kept = story.record().iterations[0]?.trajectory.map((step) => step.result_json ?? "") ?? [];
    expect(kept.length).toBe(12);
    expect(kept.join("").length).toBeLessThan(5_000_000);
    expect(kept.every((text) => text.includes("end"))).toBe(true);
  });

  test("a command that the gateway finds no place for was not run: 2008", () => {
    const { story, dispatch, asked } = dispatched();
    const refused = { instance_id: story.instance, dispatch_id: dispatch, message: "cmd.run runs 1 times already" };
    const refuse = () => story.sim.ask("dispatch_refused", { ...refused, retry_after_seconds: 1 });
    const next = [refuse(), refuse()];
    expect(JSON.parse(story.conversation().at(-1)?.content ?? "")).toMatchObject({
      ...{ code: "concurrency_exceeded", error_code: 2008, retry_after_seconds: 1 },
    });
    expect(story.event("tool_call_completed")).toMatchObject({ status: "refused" });
    // The message whose answer it was joins as well, and reads what comes next.
    const again = story.generate();
    story.modelSays({ content: "done" });
    for (const call of [...next, again]) {
      expect(story.answer(call)).toMatchObject({ status: "final", final: { tool_calls_executed: 0 } });
    }
    expect(story.answer(story.generate())).toMatchObject({ status: "replay" });
    expect(story.answer(story.result(dispatch))).toMatchObject({ http: 409, code: "dispatch_result_conflict" });
    expect(story.answer(asked)).toMatchObject({ status: "reply" });
    expect([...story.sim.timers.keys()]).not.toContain(`dispatch:${dispatch}`);
    story.checkInvariants();
  });

  test("output above the cap is trimmed again", () => {
    const story = running();
    const asked = story.generate();
    story.modelSays({ calls: [{ name: "cmd.run", arguments: { command: "x", max_output_bytes: 8 } }] });
    story.result(story.dispatchOf(asked), { stdout: "0123456789abcdef", stderr: "err" });
    expect(JSON.parse(story.conversation().at(-1)?.content ?? "")).toEqual({
      exit_code: 0,
      stdout: "bcdef",
      stderr: "err",
      truncated: true,
    });
  });

  test("a dispatch that stays unanswered past its grace is a lost bootstrap", () => {
    const { story, dispatch } = dispatched({ iteration_timeout_ms: 1_000_000 });
    expect(story.sim.timers.get(`dispatch:${dispatch}`)?.at).toBe(story.sim.now + 720_000);
    const former = story.instance;
    story.sim.fireNext();
    expect(story.event("iteration_restarted")).toMatchObject({ attempt: 2, reason: "bootstrap_lost" });
    expect(story.state.iteration).toMatchObject({ number: 1, phase: "waiting", loop: null });
    expect(story.sim.abandoned).toContain(`run:${former}`);
    expect(story.state.status).toBe("running");
    story.checkInvariants();
  });

  test("a command that waited for its places has its time from when it is handed out", () => {
    const { story, dispatch } = dispatched({ iteration_timeout_ms: 1_500_000 });
    const timer = () => story.sim.timers.get(`dispatch:${dispatch}`)?.at;
    const delayed = (of: object = {}) =>
      story.sim.tell("dispatch_delayed", { instance_id: story.instance, dispatch_id: dispatch, ...of });
    story.sim.now += 700_000;
    delayed();
    expect(timer()).toBe(story.sim.now + 720_000);
    // Of another instance, or another dispatch.
    const before = timer();
    story.sim.now += 10_000;
    delayed({ instance_id: crypto.randomUUID() });
    delayed({ dispatch_id: crypto.randomUUID() });
    expect(timer()).toBe(before);
    // The iteration ends before its time would be over: there the iteration's own timer does the work.
    story.sim.now += 100_000;
    delayed();
    expect(timer()).toBeUndefined();
    expect(story.state.iteration.attempt).toBe(1);
    story.result(dispatch);
    delayed();
    expect(timer()).toBeUndefined();
    story.checkInvariants();
  });

  test("a service that was away gives the bootstrap its grace anew", () => {
    const { story, dispatch } = dispatched({ iteration_timeout_ms: 5_000_000, timeout_ms: 10_000_000 });
    const due_at = story.sim.timers.get(`dispatch:${dispatch}`)?.at ?? 0;
    story.sim.now = due_at + 60_000;
    story.sim.fireNext();
    expect(story.state.iteration.attempt).toBe(1);
    expect(story.sim.timers.get(`dispatch:${dispatch}`)?.at).toBe(story.sim.now + 120_000);
    story.result(dispatch);
    expect(story.state.iteration.loop?.phase).toBe("generating");
  });

  test("once it is answered its timer is gone, and a late one does not matter", () => {
    const { story, dispatch } = dispatched({ iteration_timeout_ms: 1_000_000 });
    story.result(dispatch);
    expect(story.sim.timers.has(`dispatch:${dispatch}`)).toBe(false);
    story.sim.tell("dispatch_lost", { dispatch_id: dispatch });
    expect(story.state.status).toBe("running");
  });

  test("a result that comes when the instance has ended is too late", () => {
    const story = new Story({
      plan: { validators: [{ type: "json_schema", schema: {}, target_path: null, min_score: 1, min_confidence: 0 }] },
    });
    const asked = story.start().launch().generate();
    const dispatch = story.modelSays({ calls: [run()] }).dispatchOf(asked);
    story.exit("{}");
    expect(story.answer(story.result(dispatch))).toMatchObject({ http: 410, code: "dispatch_expired" });
  });

  test("no timer of its own when the iteration ends sooner", () => {
    const { story } = dispatched();
    expect([...story.sim.timers.keys()].sort()).toEqual(["deadline", `iteration:${story.instance}`]);
  });
});
