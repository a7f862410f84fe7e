/** A tool call that a state of a workflow run makes and that people are asked about (docs/reference/workflow-calls.md). */
import { describe, expect, test } from "bun:test";
import type { ActorDefinition } from "../../../actors/kernel/actor.ts";
import type { Json } from "../../../actors/kernel/json.ts";
import type { AskedApproval } from "../../../actors/policy/security/clearance.ts";
import { toolCall } from "../../../actors/tool-call/tool-call.ts";
import { argumentsOf } from "../approval/fixture.ts";
import { fromContext, fromManifest } from "../execution/loop/asked-calls.ts";
import { Simulation } from "../simulate.ts";

type Body = { readonly [member: string]: Json };

const starter = { realm: "system", kind: "operator", sub: "ida", role: "admin", membership: null, key_id: null };
const place = { root_execution_id: "r0", workflow_id: "w1", workflow_name: "orders", state_name: "LOOK", visit: 2 };
const run = { id: "r1", ...place, owner: { kind: "workflow_run", key: "r1" } };

class Story {
  readonly sim = new Simulation(toolCall as unknown as ActorDefinition);

  constructor(asked: readonly AskedApproval[]) {
    const call = {
      ...{ entry: "workflow", tool: "tickets.create", arguments: {}, idempotency_key: "k", request_id: null, run },
      ...{ execution: null, session_id: null, principal: "r1", starter, opener: null, user: null, context: "build" },
      ...{ ceilings: [], grants: null, patterns: null },
    };
    this.sim.ask("open", { call, shown: argumentsOf({}), asked } as unknown as Json);
  }
  /** What was sent in the commit of its turn, by kinds. */
  sent(kind: string): (readonly [type: string, body: Body])[] {
    return this.sim.coCommitted.flatMap(({ kind: to, message }) =>
      to === kind ? [[message.type, message.body as Body] as const] : [],
    );
  }
  decide(status: string): this {
    const ids = this.sim.coCommitted.filter(({ message }) => message.type === "open").map(({ key }) => key);
    const approval_id = ids.at(-1) ?? "";
    const at = { via: "approve", decided_at: new Date(this.sim.now).toISOString(), result: { decision: status } };
    this.sim.tell("approval_decided", { approval_id, status, ...at });
    return this;
  }
  runs(outcome: Body = { outcome: "success", result: { status: "success" } }): this {
    this.sim.succeed(this.sim.underWay("tool_call.run")[0]?.id ?? "", outcome);
    return this;
  }
}

test("tells the run of people and of the end, each in one commit with it", () => {
  const story = new Story([fromContext(), fromManifest()]);
  expect(story.sent("approval")[0]).toMatchObject(["open", { execution_id: "r1", ...place, kind: "tool_call" }]);
  story.decide("approved").decide("approved").runs();
  expect(
    story.sent("workflow_run").map(([type, { asked, decided }]) => [type, asked != null, decided != null]),
  ).toEqual([
    ["tool_waiting", true, false],
    ["tool_waiting", false, true],
    ["tool_waiting", true, false],
    ["tool_waiting", false, true],
    ["tool_ended", false, false],
  ]);
  const [, end] = story.sent("workflow_run").at(-1) ?? [];
  expect(end).toMatchObject({ invocation_id: story.sim.key, tool: "tickets.create", outcome: { outcome: "success" } });
});

describe("silence", () => {
  test.each([
    ["under fail fails the run", fromContext({ on_timeout: "fail" }), "tool_approval_timed_out", true],
    ["is a rejection otherwise", fromContext(), "approval_timed_out", undefined],
  ])("%s", (_, asks, code, fails_run) => {
    const story = new Story([asks]).decide("timed_out");
    const [type, body] = story.sent("workflow_run").at(-1) ?? [];
    expect(type).toBe("tool_ended");
    expect(body?.fails_run).toBe(fails_run);
    expect(body?.outcome).toMatchObject({ outcome: "failed", result: { code } });
  });
});

describe("left by the run", () => {
  test("while people are asked it is withdrawn", () => {
    const story = new Story([fromContext()]);
    story.sim.tell("withdraw", { reason: "cancelled" });
    expect(story.sent("approval").at(-1)?.[0]).toBe("withdraw");
    expect(story.sim.state).toMatchObject({ status: "withdrawn" });
  });

  test("while it is made it is told to stop, and counts as one that may have run", () => {
    const story = new Story([fromContext()]).decide("approved");
    const [made] = story.sim.underWay("tool_call.run");
    story.sim.tell("withdraw", { reason: "cancelled" });
    expect(story.sim.abandoned).toContain(made?.id ?? "");
    expect(story.sent("approval").at(-1)).toEqual(["executed", { executed: true }]);
    expect(story.sim.facts.at(-1)?.fact).toMatchObject({ change: { outcome: "interrupted", ran: true } });
    expect(story.sim.state).toMatchObject({ status: "withdrawn" });
  });

  test("after its end nothing changes", () => {
    const story = new Story([fromContext()]).decide("approved").runs();
    const before = story.sim.state;
    story.sim.tell("withdraw", { reason: "cancelled" });
    expect(story.sim.state).toEqual(before);
  });
});
