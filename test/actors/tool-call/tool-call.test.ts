/** A tool call outside of a loop that waits for people, as its actor (docs/reference/tools.md). */
import { describe, expect, test } from "bun:test";
import type { ApprovalDecided, Open } from "../../../actors/approval/messages.ts";
import type { ActorDefinition } from "../../../actors/kernel/actor.ts";
import type { Json } from "../../../actors/kernel/json.ts";
import type { AskedApproval } from "../../../actors/policy/security/clearance.ts";
import type { ToolCallState } from "../../../actors/tool-call/state.ts";
import { toolCall } from "../../../actors/tool-call/tool-call.ts";
import { argumentsOf } from "../approval/fixture.ts";
import { fromContext, fromManifest } from "../execution/loop/asked-calls.ts";
import { Simulation } from "../simulate.ts";

const execution = { id: "e1", iteration: 2, agent_id: "a", agent_name: "clerk", deadline_at: null };
const starter = { realm: "system", kind: "operator", sub: "ida", role: "admin", membership: null, key_id: null };
const given = { title: "Printer broken" };

class CallStory {
  readonly sim = new Simulation(toolCall as unknown as ActorDefinition);

  constructor(asked: readonly AskedApproval[], own: Json = execution, more: Record<string, Json> = {}) {
    const call = {
      ...{ entry: "seal", tool: "tickets.create", arguments: given, idempotency_key: "k", request_id: null },
      ...{ execution: own, session_id: "s1", principal: "p", starter, opener: null, user: null, context: "build" },
      ...{ ceilings: [], grants: null, patterns: null, starter_email: "ida@example.com", ...more },
    };
    this.sim.ask("open", { call, shown: argumentsOf(given), asked } as unknown as Json);
  }

  get state(): ToolCallState {
    return this.sim.state as unknown as ToolCallState;
  }
  get opened(): { readonly id: string; readonly body: Open }[] {
    return this.sim.coCommitted
      .filter(({ kind, message }) => kind === "approval" && message.type === "open")
      .map(({ key, message }) => ({ id: key, body: message.body as never }));
  }
  get executed(): unknown[] {
    return this.sim.coCommitted
      .filter(({ message }) => message.type === "executed")
      .map(({ key, message }) => [key, (message.body as { executed: boolean }).executed]);
  }
  /** What its execution was told. */
  get told(): { readonly [member: string]: Json }[] {
    return this.sim.told.flatMap((effect) =>
      effect.effect === "tell" && effect.kind === "execution"
        ? [effect.message.body as { [member: string]: Json }]
        : [],
    );
  }
  decide(place: number, decision: Partial<ApprovalDecided> = {}): this {
    const status = decision.status ?? "approved";
    const at = { via: "approve", decided_at: new Date(this.sim.now).toISOString(), result: {} };
    this.sim.tell("approval_decided", {
      approval_id: this.opened[place]?.id ?? "",
      status,
      ...at,
      ...decision,
    } as Json);
    return this;
  }
  /** An edit is read as the next may see it. */
  shows(
    edit: { readonly [name: string]: Json },
    asked: readonly AskedApproval[],
    more: Record<string, Json> = {},
  ): this {
    const [next] = this.sim.underWay("tool_call.show");
    this.sim.succeed(next?.id ?? "", { ...argumentsOf(edit), asked: [...asked], ...more } as unknown as Json);
    return this;
  }
  runs(outcome: Record<string, Json> = { outcome: "success", result: { status: "success" } }): this {
    const [next] = this.sim.underWay("tool_call.run");
    this.sim.succeed(next?.id ?? "", outcome);
    return this;
  }
}

const edit = { title: "Printer fixed" };
const edited = { arguments: edit, arguments_sha256: argumentsOf(edit).sha256 };

test("an edit by a later approver is shown to the earlier ones before anything runs", () => {
  const both = [fromContext(), fromManifest({ editable: true })];
  const story = new CallStory(both).decide(0).decide(1, edited);
  expect(story.sim.underWay("tool_call.run")).toEqual([]);
  story.shows(edit, both);
  expect(story.opened[2]?.body.tool_call).toMatchObject({ arguments: edit, security_context: "build" });
  story.decide(2).runs();
  expect(story.opened).toHaveLength(3);
  expect(story.executed).toEqual(story.opened.map(({ id }) => [id, true]));
  expect(story.state).toMatchObject({ status: "answered", edited: edit });
});

test("an edit concerns those whom its arguments do; what policy refuses is answered", () => {
  const none = new CallStory([fromContext({ editable: true }), fromManifest()]).decide(0, edited).shows(edit, []);
  expect([none.opened.length, none.state.status]).toEqual([1, "running"]);
  const more = new CallStory([fromContext({ editable: true })]).decide(0, edited);
  more.shows(edit, [fromContext({ editable: true }), fromContext({}, 3)]);
  expect(more.opened[1]?.body.tool_call).toMatchObject({ capability_index: 3, arguments: edit });
  const refused = { outcome: "failed", result: { code: "tool_denied" }, executed: false };
  const denied = new CallStory([fromContext({ editable: true })]).decide(0, edited).shows(edit, [], { refused });
  expect(denied.state.outcome).toMatchObject({ result: { code: "tool_denied" } });
  expect(denied.executed).toEqual([[denied.opened[0]?.id, false]]);
});

describe("silence", () => {
  const failing = [fromContext({ on_timeout: "fail" })];
  test("under fail fails the execution of the call", () => {
    const story = new CallStory(failing);
    expect(story.opened[0]?.body.reject_on_timeout).toBe(false);
    story.decide(0, { status: "timed_out" });
    expect(story.told.at(-1)).toMatchObject({ news: "rejected", fails: true, code: "tool_approval_timed_out" });
    expect(story.state.outcome?.result).toMatchObject({ code: "tool_approval_timed_out" });
  });
  test("under fail without an execution, and under reject, is a rejection", () => {
    const detached = new CallStory(failing, null);
    expect(detached.opened[0]?.body.reject_on_timeout).toBe(true);
    detached.decide(0, { status: "timed_out" });
    expect(detached.told).toEqual([]);
    const story = new CallStory([fromContext()]).decide(0, { status: "timed_out" });
    expect(story.told.at(-1)).toMatchObject({ news: "rejected", code: "approval_timed_out" });
    expect(story.told.at(-1)).not.toHaveProperty("fails");
    for (const one of [detached, story]) expect(one.state.outcome?.result.code).toBe("approval_timed_out");
  });
});

describe("what an approver grants", () => {
  const offered = [fromContext({ remember: "tool" })];
  const from = JSON.stringify(["build", 0]);
  test("is kept by the execution, for equal arguments or for any", () => {
    const any = new CallStory(offered).decide(0, { remember: "tool" });
    expect(any.opened[0]?.body.tool_call?.remember).toBe("tool");
    expect(any.told.at(-1)).toMatchObject({ news: "approved", grant: { from, sha256: null } });
    const equal = new CallStory(offered).decide(0, { remember: "execution" });
    expect(equal.told.at(-1)).toMatchObject({ grant: { from, sha256: argumentsOf(given).sha256 } });
    const changed = new CallStory(offered).decide(0, { ...edited, remember: "execution" });
    expect(changed.told.at(-1)).toMatchObject({ grant: { sha256: edited.arguments_sha256 } });
  });
  test("is kept with the call where there is no execution", () => {
    const story = new CallStory(offered, null).decide(0, { remember: "execution" });
    expect(story.state.grants).toEqual([{ tool: "tickets.create", from, sha256: argumentsOf(given).sha256 }]);
    expect(story.told).toEqual([]);
  });
});

test("its execution hears of each step; its opener is named beside the starter", () => {
  const opener = { ...starter, sub: "uma" };
  const story = new CallStory([fromContext()], execution, { opener, opener_email: "uma@example.com" });
  expect(story.opened[0]?.body).toMatchObject({
    initiator: { sub: "ida", email: "ida@example.com" },
    opener: { sub: "uma", email: "uma@example.com" },
  });
  story.sim.tell("withdraw", { reason: "The session was revoked" });
  expect(story.told.map(({ news }) => news)).toEqual(["waiting", "withdrawn"]);
  expect(story.state).toMatchObject({ status: "withdrawn", outcome: { outcome: "withdrawn" } });
});

test("refused or withdrawn before it began it is not executed; it goes after a day", () => {
  const refused = new CallStory([fromContext()]).decide(0);
  refused.runs({ outcome: "failed", result: { code: "path_not_allowed" }, executed: false });
  expect(refused.executed).toEqual([[refused.opened[0]?.id, false]]);
  const gone = new CallStory([fromContext()]).decide(0).runs({ outcome: "withdrawn", result: { code: "withdrawn" } });
  expect(gone.executed).toEqual([[gone.opened[0]?.id, false]]);
  const endedAt = gone.sim.now;
  expect(gone.sim.timers.get("erase")?.at).toBe(endedAt + 24 * 3_600_000);
  gone.sim.fireNext();
  expect(gone.sim.state).toBeNull();
});
