/** A tool call outside of a loop that waits with its run on an edge host (docs/reference/edge-agents.md). */
import { describe, expect, test } from "bun:test";
import type { ApprovalDecided } from "../../../actors/approval/messages.ts";
import type { ActorDefinition } from "../../../actors/kernel/actor.ts";
import type { Json } from "../../../actors/kernel/json.ts";
import { toolCall } from "../../../actors/tool-call/tool-call.ts";
import { argumentsOf } from "../approval/fixture.ts";
import { fromContext } from "../execution/loop/asked-calls.ts";
import { Simulation } from "../simulate.ts";

const given = { command: "uptime", target: { edge_node_id: "0190f3c4-0000-7000-8000-00000000000b" } };
const execution = { id: "e1", iteration: 2, agent_id: "a", agent_name: "clerk", deadline_at: null };
const call = {
  ...{ entry: "seal", tool: "cmd.run", arguments: given, idempotency_key: "k", request_id: null },
  ...{ execution, session_id: "s1", principal: "p", starter: null, opener: null, user: null, context: "build" },
  ...{ ceilings: [], grants: null, patterns: null },
};
const held = (approval_id = "a1") => ({ fleet_command_id: "run-1", approval_id, expires_at: 2_000_000_000_000 });
const success = { outcome: "success", result: { status: "success", exit_code: 0 } };

function opened(): Simulation {
  const sim = new Simulation(toolCall as unknown as ActorDefinition);
  const asked = { call, shown: argumentsOf(given), held: held() } as unknown as Json;
  expect(sim.askNow("hold", asked)).toMatchObject({ approval_id: "a1" });
  // Repeatable.
  expect(sim.askNow("hold", asked)).toMatchObject({ approval_id: "a1" });
  return sim;
}
const decide = (sim: Simulation, status: ApprovalDecided["status"], approval_id = "a1", reason: string | null = null) =>
  sim.tell("approval_decided", {
    ...{ approval_id, status, via: "approve", decided_at: new Date(sim.now).toISOString(), result: {}, reason },
  });
const toldOf = (sim: Simulation, kind: string, type: string) =>
  sim.told.flatMap((one) =>
    one.effect === "tell" && one.kind === kind && one.message.type === type ? [[one.key, one.message.body]] : [],
  );
const outcomeOf = (sim: Simulation) => (sim.state as { outcome: Json }).outcome;

test("it hears of the run's approval, and joins the run once", () => {
  const sim = opened();
  const owner = { kind: "tool_call", key: sim.key };
  expect(toldOf(sim, "approval", "watch")).toEqual([["a1", { owner }]]);
  expect(sim.underWay("tool_call.run")).toEqual([]);
  decide(sim, "approved");
  decide(sim, "approved");
  const [work, ...more] = sim.underWay("tool_call.run");
  expect(more).toEqual([]);
  sim.succeed(work?.id ?? "", success);
  expect(outcomeOf(sim)).toEqual(success);
  const news = toldOf(sim, "execution", "asked_outside").map(([, body]) => (body as { news: string }).news);
  expect(news).toEqual(["waiting", "approved"]);
});

describe("its caller reads why the run did not begin", () => {
  test.each([
    ["rejected", "rejected_by_person"],
    ["timed_out", "approval_timed_out"],
    ["withdrawn", "cancelled"],
  ] as const)("%s is %s", (status, code) => {
    const sim = opened();
    decide(sim, status, "a1", status === "rejected" ? "not today" : null);
    expect(outcomeOf(sim)).toMatchObject({ outcome: "failed", result: { code } });
    if (status === "rejected") expect(outcomeOf(sim)).toMatchObject({ result: { reason: "not today" } });
    expect(sim.underWay("tool_call.run")).toEqual([]);
  });
});

test("withdrawn, it cancels the run, whose approval is the run's to take back", () => {
  const sim = opened();
  sim.tell("withdraw", { reason: "The session has ended" });
  expect(toldOf(sim, "fleet-run", "cancel")).toEqual([["run-1", { by: null, reason: "The session has ended" }]]);
  expect(toldOf(sim, "approval", "withdraw")).toEqual([]);
  expect(outcomeOf(sim)).toMatchObject({ outcome: "withdrawn" });
});

test("not made any more although the run was approved, it cancels the run", () => {
  const sim = opened();
  decide(sim, "approved");
  const refused = { outcome: "failed", result: { code: "tool_denied" }, executed: false };
  sim.succeed(sim.underWay("tool_call.run")[0]?.id ?? "", refused);
  expect(toldOf(sim, "fleet-run", "cancel")).toEqual([["run-1", { by: null, reason: "call_ended" }]]);
});

test("approved by its context's people it may wait for the run's as well", () => {
  const sim = new Simulation(toolCall as unknown as ActorDefinition);
  sim.ask("open", { call, shown: argumentsOf(given), asked: [fromContext()] } as unknown as Json);
  const first = (sim.state as { approval_id: string }).approval_id;
  decide(sim, "approved", first);
  sim.succeed(sim.underWay("tool_call.run")[0]?.id ?? "", { outcome: "held", held: held() });
  expect(sim.state).toMatchObject({ status: "waiting", approval_id: "a1" });
  decide(sim, "approved");
  sim.succeed(sim.underWay("tool_call.run")[0]?.id ?? "", success);
  expect(outcomeOf(sim)).toEqual(success);
  expect(toldOf(sim, "approval", "executed")).toEqual([[first, { executed: true }]]);
  expect(new Set(sim.performed.map(({ id }) => id)).size).toBe(sim.performed.length);
});
