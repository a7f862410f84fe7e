/** The states of an agent and who owns it (docs/reference/agents.md), and stored manifests of every age. */
import { describe, expect, test } from "bun:test";
import { type AgentStatus, agentEvent, changeScope, changeStatus } from "../../../actors/agent/lifecycle.ts";
import { completeSpec } from "../../../actors/agent/manifest/spec.ts";
import { Problem } from "../../../actors/kernel/problem.ts";
import { manifest, specOf } from "./offer.ts";

describe("status", () => {
  const rows: readonly (readonly [from: AgentStatus, to: AgentStatus, changed: boolean, event: string | null])[] = [
    ["active", "active", false, null],
    ["active", "paused", true, "agent_paused"],
    ["active", "archived", true, null],
    ["paused", "active", true, "agent_resumed"],
    ["paused", "paused", false, null],
    ["paused", "archived", true, null],
    ["archived", "active", true, "agent_resumed"],
    ["archived", "archived", false, null],
  ];
  test.each(rows)("%s → %s", (from, to, changed, event) => {
    expect(changeStatus(from, to)).toEqual({ changed, event } as never);
  });
  test("what is archived cannot be paused", () => {
    expect(() => changeStatus("archived", "paused")).toThrow(Problem);
  });
});

describe("scope", () => {
  test("promotion remembers the tenant, demotion returns there", () => {
    const own = { tenant: "team", scope: "tenant", origin_tenant: null } as const;
    const promoted = changeScope(own, "global");
    expect(promoted).toEqual({ tenant: "svc-system", scope: "global", origin_tenant: "team" });
    expect(promoted && changeScope(promoted, "tenant")).toEqual(own);
  });
  test("without an origin it stays with the platform", () => {
    expect(changeScope({ tenant: "svc-system", scope: "global", origin_tenant: null }, "tenant")).toEqual({
      tenant: "svc-system",
      scope: "tenant",
      origin_tenant: null,
    });
  });
  test.each(["tenant", "global"] as const)("%s to %s is no change", (scope) => {
    expect(changeScope({ tenant: "t", scope, origin_tenant: null }, scope)).toBeNull();
  });
});

test("an event names the agent, its version and the time", () => {
  const subject = { agent_id: "id", name: "n", version: "2", revision: 9 };
  expect(agentEvent("agent_updated", subject, new Date(0), { old_version: "1" })).toEqual({
    type: "agent_updated",
    body: { agent_id: "id", name: "n", version: "2", old_version: "1", occurred_at: "1970-01-01T00:00:00.000Z" },
  });
});

test("a manifest stored before it could say more means what it meant", () => {
  const spec = specOf(manifest());
  const { context, volumes, schedule, output_handler, warm_pool_size, swarm, execution, ...old } = spec;
  const { tool_judges, deliveries, max_tokens, ...before } = execution;
  expect(completeSpec({ ...old, execution: before })).toEqual(spec);
  expect(completeSpec(spec)).toEqual(spec);
});
