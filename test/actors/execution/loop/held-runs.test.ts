/** Calls in a loop whose runs on edge hosts ask people before they begin (docs/reference/edge-agents.md). */
import { describe, expect, test } from "bun:test";
import type { ApprovalDecided } from "../../../../actors/approval/messages.ts";
import type { Json } from "../../../../actors/kernel/json.ts";
import { AskedStory, cleared, fromContext, minute } from "./asked-calls.ts";

const approval = "0190f3c4-0000-7000-8000-00000000000a";
const target = { edge_node_id: "0190f3c4-0000-7000-8000-00000000000b" };

class HeldStory extends AskedStory {
  readonly clearance = { ...cleared("cmd.run"), on_host: true as const };

  /** The model calls a command on a host. */
  sends(approvals: Parameters<typeof cleared>[1] = [], count = 1): this {
    const one = { name: "cmd.run", arguments: { command: "uptime", target } };
    const clearance = {
      ...this.clearance,
      approvals: [...(approvals ?? [])],
      entry: { ...this.clearance.entry, runs: "service" as const },
    };
    return this.modelSays({
      content: "It has to be done.",
      calls: Array.from({ length: count }, () => one),
      clearances: Array.from({ length: count }, () => clearance),
    });
  }
  work = () => this.sim.underWay("tool.call");
  ends(value: Json): this {
    this.sim.succeed(this.work()[0]?.id ?? "", value);
    return this;
  }
  held = (): this =>
    this.ends({
      status: "waiting",
      fleet_command_id: this.clearance.invocation_id,
      approval_id: approval,
      expires_at: this.sim.now + 60 * minute,
    });
  /** People decide about the run. */
  runDecided(status: ApprovalDecided["status"], reason: string | null = null): this {
    const decided_at = new Date(this.sim.now).toISOString();
    this.sim.tell("approval_decided", {
      approval_id: approval,
      status,
      via: "approve",
      decided_at,
      result: {},
      reason,
    });
    return this;
  }
  toldOf(kind: string, type: string) {
    return this.sim.told.flatMap((one) =>
      one.effect === "tell" && one.kind === kind && one.message.type === type ? [[one.key, one.message.body]] : [],
    );
  }
  outcomes = () =>
    this.sim.facts.flatMap(({ name, fact }) =>
      name === "tool_invocation" ? [(fact as { change: { outcome: string } }).change.outcome] : [],
    );
}

const short = { timeout_ms: 20 * minute, iteration_timeout_ms: 10 * minute };

test("a command for a host is not dispatched to the sandbox", () => {
  const story = new HeldStory().sends();
  expect(story.work()).toHaveLength(1);
  story.ends({ status: "succeeded", result: { exit_code: 0, stdout: "up" } });
  expect(story.told).toEqual({ exit_code: 0, stdout: "up" });
  story.checkInvariants();
});

test("the call waits with its run, the clocks stand still, and it joins the run once", () => {
  const story = new HeldStory(short).sends().held();
  expect(story.toldOf("approval", "watch")).toEqual([[approval, { owner: { kind: "execution", key: story.sim.key } }]]);
  expect(story.state.waiting?.for).toMatchObject({ approval_id: approval, tool: "cmd.run" });
  const began = story.state.started_at ?? 0;
  story.sim.now += 50 * minute;
  story.sim.tell("deadline", {});
  story.sim.tell("iteration_deadline", { instance_id: story.instance });
  expect(story.state.status).toBe("running");
  story.runDecided("approved");
  expect(story.state.deadline_at).toBe(began + 70 * minute);
  expect(story.work()).toMatchObject([{ input: { approved: true } }]);
  expect(new Set(story.sim.performed.map(({ id }) => id)).size).toBe(story.sim.performed.length);
  story.ends({ status: "succeeded", result: { exit_code: 0 } });
  expect(story.told).toEqual({ exit_code: 0 });
  expect(story.outcomes()).toEqual(["running", "waiting", "running", "success"]);
  expect(story.state.usage.tool_calls).toBe(1);
  // The run asked, and tells its approvers itself.
  expect(story.executed).toEqual([]);
  story.checkInvariants();
});

describe("the model reads why its run did not begin, and goes on", () => {
  test.each([
    ["rejected", "rejected_by_person"],
    ["timed_out", "approval_timed_out"],
    ["withdrawn", "cancelled"],
  ] as const)("%s is %s", (status, code) => {
    const story = new HeldStory()
      .sends()
      .held()
      .runDecided(status, status === "rejected" ? "not today" : null);
    expect(story.told).toMatchObject({ status: "error", code });
    if (status === "rejected") expect(JSON.stringify(story.told)).toContain("not today");
    expect(story.sim.underWay("model.call")).toHaveLength(1);
    expect(story.toldOf("fleet-run", "cancel")).toEqual([]);
    story.checkInvariants();
  });
});

describe("the end of the execution cancels the run", () => {
  const cancelled = (story: HeldStory) => story.toldOf("fleet-run", "cancel").map(([key]) => key);
  test("that waits", () => {
    const story = new HeldStory().sends().held();
    story.sim.askNow("cancel", { reason: null });
    expect(cancelled(story)).toEqual([story.clearance.invocation_id]);
    expect(story.withdrawn).toEqual([]);
    expect(story.outcomes().at(-1)).toBe("withdrawn");
    story.checkInvariants();
  });
  test("so does today's policy, which refuses the call that was approved", () => {
    const story = new HeldStory().sends().held().runDecided("approved");
    const refused = {
      status: "refused",
      error_code: 2001,
      code: "tool_denied",
      message: "denied",
      attempted: "cmd.run",
    };
    story.ends({ ...refused, violation_type: "tool_explicitly_denied" });
    expect(cancelled(story)).toEqual([story.clearance.invocation_id]);
    expect(story.told).toMatchObject({ code: "tool_denied" });
    story.checkInvariants();
  });
  test("that is under way", () => {
    const story = new HeldStory().sends();
    story.sim.askNow("cancel", { reason: null });
    expect(cancelled(story)).toEqual([story.clearance.invocation_id]);
    story.checkInvariants();
  });
});

test("approvals of the context come before the run, which asks by itself", () => {
  const story = new HeldStory().sends([fromContext()]).gather();
  expect(story.work()).toEqual([]);
  story.decide(0).held().runDecided("approved");
  story.ends({ status: "succeeded", result: { exit_code: 0 } });
  expect(story.executed).toEqual([[story.opened[0]?.id ?? "", true]]);
  expect(story.told).toEqual({ exit_code: 0 });
  story.checkInvariants();
});
