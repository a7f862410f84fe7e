/** Tool calls that wait for people (docs/reference/gateway.md). */
import { describe, expect, test } from "bun:test";
import type { Json } from "../../../../actors/kernel/json.ts";
import { AskedStory, fromContext, fromManifest, minute } from "./asked-calls.ts";

const ask = [fromContext({ timeout_seconds: 3600 })];
const command = { tool: "cmd.run", arguments: { command: "make" }, approvals: ask };

describe("a call that a person is asked about", () => {
  test("opens its approval in one commit with its event, and runs nothing", () => {
    const story = new AskedStory().calls(command).gather();
    const [opened] = story.opened;
    expect(opened?.body).toMatchObject({
      kind: "tool_call",
      execution_id: story.sim.key,
      owner: { kind: "execution", key: story.sim.key },
      timeout_ms: 3600_000,
      reject_on_timeout: true,
      allow_agents: false,
      tool_call: {
        tool: "cmd.run",
        arguments: { command: "make" },
        agent_name: "parcel-triage",
        model_reason: "It has to be done.",
        security_context: "build",
        capability_index: 0,
      },
    });
    expect(story.sim.beside.get(opened?.id ?? "")).toBe("approval");
    expect(story.event("tool_call_waiting")).toMatchObject({
      tool_name: "cmd.run",
      approval_id: opened?.id,
      code: null,
    });
    expect(story.record().iterations[0]?.trajectory[0]).toMatchObject({ status: "waiting" });
    expect(story.record().waiting_for).toMatchObject({ kind: "tool_call", approval_id: opened?.id, tool: "cmd.run" });
    expect(story.sim.answers.has(story.asked)).toBe(false);
    story.checkInvariants();
  });

  test("approved, it is judged by today's policy and then runs once", () => {
    const story = new AskedStory().calls(command).gather().decide(0);
    expect(story.sim.underWay("call.clear")[0]?.input).toMatchObject({ approved: true, tool: "cmd.run" });
    expect(story.sim.answers.has(story.asked)).toBe(false);
    story.clear();
    const id = story.opened[0]?.id ?? "";
    expect(story.executed).toEqual([[id, true]]);
    const dispatch = story.dispatchOf(story.asked);
    story.result(dispatch);
    expect(story.told).toMatchObject({ exit_code: 0 });
    expect(story.told).not.toHaveProperty("edited");
    // The same decision again, as after a crash, changes nothing.
    story.decide(0);
    expect(story.executed).toHaveLength(2);
    expect(story.record().waiting_for).toBeNull();
    story.checkInvariants();
  });

  test("approved with an edit, it runs with the edit, and the model is told so", () => {
    const story = new AskedStory().calls(command).gather();
    const edit = { command: "make", args: ["check"] };
    story.decide(0, { arguments: edit, arguments_sha256: "edited" }).gatherEdited(edit, ask).clear();
    expect(story.answer(story.asked)).toMatchObject({ status: "reply", reply: { command: "make", args: ["check"] } });
    story.result(story.dispatchOf(story.asked));
    expect(story.told).toMatchObject({ exit_code: 0, edited: true });
    const entries = story.sim.log(`loop:${story.instance}`) as { entry: string; arguments?: object }[];
    expect(entries.filter(({ entry }) => entry === "edit")).toEqual([
      { entry: "edit", call_id: "c1", arguments: { command: "make", args: ["check"] } } as never,
    ]);
  });

  test("a tool of the service reads its edited arguments where the log has them", () => {
    const story = new AskedStory().calls({ tool: "fs.write", approvals: ask }).gather({ path: "a" });
    story.decide(0, { arguments: { path: "b" }, arguments_sha256: "b" }).gatherEdited({ path: "b" }, ask);
    const [call] = story.sim.underWay("tool.call");
    const { edited = 0, approved } = (call?.input ?? {}) as { edited?: number; approved?: boolean };
    expect(approved).toBe(true);
    expect(story.sim.log(`loop:${story.instance}`)[edited - 1]).toMatchObject({ arguments: { path: "b" } });
    story.toolEnds();
    expect(story.told).toMatchObject({ status: "success", edited: true });
    expect(story.executed).toEqual([[story.opened[0]?.id ?? "", true]]);
  });

  test("that today's policy refuses after the approval answers with its code", () => {
    const story = new AskedStory().calls(command).gather().decide(0);
    const refused = {
      status: "refused",
      error_code: 2001,
      code: "tool_denied",
      violation_type: "tool_explicitly_denied",
      message: "no longer",
      attempted: "cmd.run",
    };
    story.sim.succeed(story.sim.underWay("call.clear")[0]?.id ?? "", refused);
    expect(story.told).toMatchObject({ code: "tool_denied", error_code: 2001 });
    expect(story.executed).toEqual([[story.opened[0]?.id ?? "", false]]);
    expect(story.sim.underWay("model.call")).toHaveLength(1);
    story.checkInvariants();
  });

  test.each([
    ["a command", command],
    ["a tool of the service", { tool: "fs.write", arguments: { path: "a" } }],
  ])("%s that was held up is asked about where today's policy asks", (_, { tool, arguments: given }) => {
    const story = new AskedStory().calls(
      { tool: "cmd.run", arguments: { command: "sleep" } },
      { tool, arguments: given },
    );
    const first = story.dispatchOf(story.asked);
    story.sim.now += minute;
    const asked = story.result(first);
    expect(story.sim.underWay("tool.call")).toHaveLength(0);
    const [clear] = story.sim.underWay("call.clear");
    expect(clear?.input).not.toHaveProperty("approved");
    story.sim.succeed(clear?.id ?? "", { status: "cleared", max_timeout_secs: null, approvals: ask } as never);
    story.gather(given);
    expect(story.opened).toHaveLength(1);
    expect(story.sim.answers.has(asked)).toBe(false);
    story.decide(0);
    if (tool === "cmd.run") expect(story.clear().dispatchOf(asked)).not.toBe(first);
    else expect(story.sim.underWay("tool.call")[0]?.input).toMatchObject({ approved: true });
    story.checkInvariants();
  });

  test("rejected, the model reads the reason and goes on", () => {
    const story = new AskedStory().calls(command).gather().decide(0, { status: "rejected", reason: "not on a Friday" });
    expect(story.told).toMatchObject({ isError: true, code: "rejected_by_person", reason: "not on a Friday" });
    expect(story.event("tool_call_rejected")).toMatchObject({ code: "rejected_by_person" });
    expect(story.record().iterations[0]?.trajectory[0]).toMatchObject({ status: "failed" });
    expect(story.record().iterations[0]?.policy_violations).toEqual([]);
    story.modelSays({ content: "Then not." });
    expect(story.answer(story.asked)).toMatchObject({ status: "final" });
  });

  test("timed out under reject, the model reads approval_timed_out", () => {
    const story = new AskedStory().calls(command).gather().decide(0, { status: "timed_out", reason: "timed out" });
    expect(story.told).toMatchObject({ isError: true, code: "approval_timed_out" });
    expect(story.state.status).toBe("running");
  });

  test("timed out under fail, the execution fails with tool_approval_timed_out", () => {
    const story = new AskedStory().calls({ ...command, approvals: [fromContext({ on_timeout: "fail" })] }).gather();
    expect(story.opened[0]?.body.reject_on_timeout).toBe(false);
    story.decide(0, { status: "timed_out" });
    expect(story.state).toMatchObject({ status: "failed", ending: { error_code: "tool_approval_timed_out" } });
    expect(story.event("tool_call_rejected")).toMatchObject({ code: "tool_approval_timed_out" });
    story.checkInvariants();
  });

  test("of an execution that is cancelled is withdrawn; a late yes is not executed", () => {
    const story = new AskedStory().calls(command).gather();
    const id = story.opened[0]?.id ?? "";
    story.sim.ask("cancel", { reason: "enough" });
    expect(story.withdrawn).toEqual([id]);
    expect(story.event("tool_call_withdrawn")).toMatchObject({ approval_id: id });
    story.decide(0);
    expect(story.executed).toEqual([[id, false]]);
    story.checkInvariants();
  });

  test("approved and not started when the execution ends, the decision stays unexecuted", () => {
    const story = new AskedStory().calls(command).gather().decide(0);
    story.sim.ask("cancel", { reason: "enough" });
    expect(story.executed).toEqual([[story.opened[0]?.id ?? "", false]]);
    expect(story.withdrawn).toEqual([]);
    expect(story.event("tool_call_withdrawn")).toBeDefined();
    story.checkInvariants();
  });

  test("is withdrawn when its instance is lost, and when its loop is superseded", () => {
    const lost = new AskedStory().calls(command).gather();
    lost.lose();
    expect(lost.withdrawn).toHaveLength(1);
    const superseded = new AskedStory().calls(command).gather();
    superseded.generate("Something else");
    expect(superseded.withdrawn).toHaveLength(1);
    expect(superseded.state.iteration.loop?.phase).toBe("generating");
    superseded.checkInvariants();
  });

  test("sent again while it waits, the message of the bootstrap joins", () => {
    const story = new AskedStory().calls(command).gather();
    const again = story.generate();
    expect(story.opened).toHaveLength(1);
    story.decide(0).clear();
    expect(story.answer(again)).toMatchObject({ status: "reply" });
  });
});

describe("the place of a call that waits", () => {
  const tools = (story: AskedStory) =>
    story.sim.underWay("tool.call").map(({ input }) => (input as { tool: string }).tool);

  test("later calls that look run beside it, later ones that change wait for it", () => {
    const story = new AskedStory().calls(command, { tool: "fs.read" }, { tool: "fs.write" }).gather();
    expect(tools(story)).toEqual(["fs.read"]);
    story.toolEnds();
    expect(tools(story)).toEqual([]);
    story.decide(0).clear();
    story.result(story.dispatchOf(story.asked));
    expect(tools(story)).toEqual(["fs.write"]);
    story.toolEnds();
    expect(story.sim.underWay("model.call")).toHaveLength(1);
    story.checkModelInput();
  });

  test("approved out of turn, a later one still waits for the one before", () => {
    const story = new AskedStory().calls(command, { tool: "fs.write", approvals: ask }).gather();
    expect(story.opened).toHaveLength(2);
    story.decide(1);
    expect(tools(story)).toEqual([]);
    story.decide(0, { status: "rejected", reason: "no" });
    expect(tools(story)).toEqual(["fs.write"]);
  });

  test("a ninth call that would wait is refused with 2008", () => {
    const nine = Array.from({ length: 9 }, () => command);
    const story = new AskedStory().calls(...nine).gather();
    expect(story.opened).toHaveLength(8);
    expect(story.told).toMatchObject({ code: "concurrency_exceeded", error_code: 2008, isError: true });
    const elsewhere = new AskedStory().calls(command).gather({}, "tenant");
    expect(elsewhere.opened).toEqual([]);
    expect(elsewhere.told).toMatchObject({ error_code: 2008 });
  });
});

describe("several who ask", () => {
  test("context and manifest are asked in turn, the second about the edit of the first", () => {
    const both = [fromContext({ editable: true }), fromManifest({ approvers: ["role:operator"] })];
    const story = new AskedStory().calls({ ...command, approvals: both }).gather();
    expect(story.opened).toHaveLength(1);
    story.decide(0, { arguments: { command: "make fast" }, arguments_sha256: "fast" });
    const [second] = story.sim.underWay("call.gather");
    expect(second?.input).toMatchObject({ edited: expect.any(Number) });
    story.gatherEdited({ command: "make fast" }, both);
    expect(story.opened[1]?.body).toMatchObject({
      approvers: ["role:operator"],
      tool_call: { arguments: { command: "make fast" }, security_context: null, capability_index: null },
    });
    expect(story.executed).toEqual([]);
    story.decide(1).clear();
    expect(story.executed).toHaveLength(2);
    expect(story.answer(story.asked)).toMatchObject({ reply: { command: "make", args: ["fast"] } });
  });

  test("an edit by the second is shown to the first again, and to those whom it concerns", () => {
    const [first, second, third] = [
      fromContext({}, 0),
      fromContext({ editable: true }, 1),
      fromManifest({ quorum: 2 }),
    ];
    const fast = { command: "make fast" };
    const story = new AskedStory().calls({ ...command, approvals: [first, second] }).gather();
    story.decide(0).gather().decide(1, { arguments: fast, arguments_sha256: "fast" });
    // Its condition holds of the changed arguments alone.
    story.gatherEdited(fast, [first, second, third]);
    expect(story.executed).toEqual([]);
    expect(story.opened[2]?.body.tool_call).toMatchObject({ arguments: fast, capability_index: 0 });
    story.decide(2).gather(fast);
    expect(story.opened[3]?.body).toMatchObject({ quorum: 2, tool_call: { arguments: fast, security_context: null } });
    story.decide(3).clear();
    expect(story.opened).toHaveLength(4);
    expect(story.executed.map(([, executed]) => executed)).toEqual([true, true, true, true]);
    expect(story.answer(story.asked)).toMatchObject({ reply: { command: "make", args: ["fast"] } });
    story.checkInvariants();
  });

  test("whom only the former arguments concerned is asked no more", () => {
    const both = [fromContext({ editable: true }), fromManifest()];
    const story = new AskedStory().calls({ ...command, approvals: both }).gather();
    story.decide(0, { arguments: { command: "true" }, arguments_sha256: "true" });
    story.gatherEdited({ command: "true" }, []).clear();
    expect(story.opened).toHaveLength(1);
    expect(story.answer(story.asked)).toMatchObject({ reply: { command: "true" } });
  });

  test("changed arguments that policy refuses by then answer with its code", () => {
    const story = new AskedStory().calls({ ...command, approvals: [fromContext({ editable: true })] }).gather();
    story.decide(0, { arguments: { command: "true" }, arguments_sha256: "true" });
    const denied = {
      status: "refused",
      error_code: 2001,
      code: "tool_denied",
      violation_type: "tool_explicitly_denied",
    };
    story.refuseEdited({ command: "true" }, { ...denied, message: "no longer", attempted: "cmd.run" });
    expect(story.told).toMatchObject({ code: "tool_denied", error_code: 2001 });
    expect(story.executed).toEqual([[story.opened[0]?.id ?? "", false]]);
    story.checkInvariants();
  });

  test("after so many edits people can only agree or refuse", () => {
    const asks = [fromContext({ editable: true }), fromManifest({ editable: true })];
    const story = new AskedStory().calls({ ...command, approvals: asks }).gather();
    for (let nth = 0; nth < 8; nth += 1) {
      expect(story.opened[nth]?.body.tool_call).toMatchObject({ editable: true });
      const edit = { command: `make ${nth}` };
      story.decide(nth, { arguments: edit, arguments_sha256: `${nth}` }).gatherEdited(edit, asks);
    }
    expect(story.opened[8]?.body.tool_call).toMatchObject({ editable: false });
    story.checkInvariants();
  });

  test("a rejection of the second leaves the first one unexecuted", () => {
    const story = new AskedStory().calls({ ...command, approvals: [fromContext(), fromManifest()] }).gather();
    story.decide(0).gather().decide(1, { status: "rejected", reason: "no" });
    expect(story.executed).toEqual([[story.opened[0]?.id ?? "", false]]);
    expect(story.told).toMatchObject({ code: "rejected_by_person" });
  });
});

describe("a call outside of the loop", () => {
  const outside = (news: string, more: Record<string, Json> = {}): Json => ({
    ...{
      news,
      invocation_id: "i1",
      tool: "cmd.run",
      approval_id: "a1",
      expires_at: Date.UTC(2031, 4, 2, 7),
      code: null,
    },
    ...more,
  });

  test("is told in the stream and the record, and stops no clock", () => {
    const story = new AskedStory();
    story.sim.tell("asked_outside", outside("waiting"));
    expect(story.event("tool_call_waiting")).toMatchObject({ call_id: "i1", approval_id: "a1" });
    expect(story.record().waiting_for).toMatchObject({ approval_id: "a1", tool: "cmd.run" });
    expect(story.state.waiting?.since).toBeNull();
    story.sim.tell("asked_outside", outside("rejected", { code: "rejected_by_person" }));
    expect(story.record().waiting_for).toBeNull();
    story.checkInvariants();
  });

  test("what was granted with it holds in the loop", () => {
    const story = new AskedStory();
    const from = JSON.stringify(["build", 0]);
    story.sim.tell("asked_outside", outside("approved", { grant: { from, sha256: null } }));
    story.calls({ ...command, approvals: ask });
    expect(story.opened).toEqual([]);
    story.clear();
    expect(story.answer(story.asked)).toMatchObject({ reply: { command: "make" } });
  });

  test("whose silence fails the execution fails it; one that has ended is left alone", () => {
    const story = new AskedStory();
    story.sim.tell("asked_outside", outside("rejected", { code: "tool_approval_timed_out", fails: true }));
    expect(story.state).toMatchObject({ status: "failed", ending: { error_code: "tool_approval_timed_out" } });
    const events = story.sim.log().length;
    story.sim.tell("asked_outside", outside("waiting"));
    expect(story.sim.log()).toHaveLength(events);
    story.checkInvariants();
  });
});

describe("what is remembered", () => {
  const offered = [fromContext({ remember: "tool" })];
  const again = (story: AskedStory, given: { command: string }, approvals = offered) => {
    const before = story.opened.length;
    story.result(story.dispatchOf(story.asked));
    story.calls({ tool: "cmd.run", arguments: given, approvals }).gather(given);
    return story.opened.length - before;
  };
  const approved = (remember: "execution" | "tool") =>
    new AskedStory()
      .calls({ ...command, approvals: offered })
      .gather()
      .decide(0, { remember })
      .clear();

  test("for the execution: equal arguments are not asked about again, others are", () => {
    expect(again(approved("execution"), { command: "make" })).toBe(0);
    expect(again(approved("execution"), { command: "make all" })).toBe(1);
  });

  test("for the tool: none of its calls is; another who asks still asks", () => {
    expect(again(approved("tool"), { command: "anything" })).toBe(0);
    expect(again(approved("tool"), { command: "make" }, [fromManifest()])).toBe(1);
  });

  test("for the execution with an edit: what was approved is the edit", () => {
    const edited = () =>
      new AskedStory()
        .calls({ ...command, approvals: offered })
        .gather()
        .decide(0, {
          remember: "execution",
          arguments: { command: "make fast" },
          arguments_sha256: JSON.stringify({ command: "make fast" }),
        })
        .gatherEdited({ command: "make fast" }, offered)
        .clear();
    expect(again(edited(), { command: "make fast" })).toBe(0);
    expect(again(edited(), { command: "make" })).toBe(1);
  });
});
