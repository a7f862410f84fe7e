/** What callers of the fleet ask for and get, by rules that need no node (docs/reference/edge-fleet.md). */
import { expect, test } from "bun:test";
import { readPolicy } from "../../../../../actors/edge/policy.ts";
import { Problem } from "../../../../../actors/kernel/problem.ts";
import { maskedArgs, readArgs } from "../../../../../src/features/edge/fleet/asking/asked.ts";
import { needsApproval } from "../../../../../src/features/edge/fleet/asking/gate.ts";
import { answerFor } from "../../../../../src/features/edge/fleet/stream/streaming.ts";

test.each([
  [null, "sse"],
  ["*/*", "sse"],
  ["text/event-stream, application/json", "sse"],
  ["application/json, text/plain, */*", "accepted"],
  ["application/json;q=0.1", "accepted"],
  ["application/json, application/x-ndjson", "ndjson"],
  ["APPLICATION/X-NDJSON; q=1", "ndjson"],
  ["text/plain", "sse"],
  ["", "sse"],
] as const)("%p is answered by %p", (accept, answer) => {
  expect(answerFor(accept)).toBe(answer);
});

const settings = {
  approve_all: true,
  approve_above: null,
  agent_runs: "approve" as const,
  self_approval: false,
  dispatch_enabled: true,
};
const resolved = { target: { Nodes: [] }, meansAll: false, eligible: [], queued: [], skipped: [] };
const person = { entry: "api", isAgent: false } as const;

test("what an agent asks for waits for a person, unless the tenant says otherwise", () => {
  const agent = { entry: "mcp", isAgent: true } as const;
  const policy = readPolicy({});
  expect(needsApproval(settings, policy, resolved, agent)).toBe(true);
  expect(needsApproval(settings, policy, resolved, person)).toBe(false);
  expect(needsApproval({ ...settings, agent_runs: "allow" }, policy, resolved, agent)).toBe(false);
  expect(needsApproval({ ...settings, agent_runs: "deny" }, policy, resolved, person)).toBe(false);
  const denied = () => needsApproval({ ...settings, agent_runs: "deny" }, policy, resolved, agent);
  expect(denied).toThrow(new Problem("agent_runs_denied", "Agents may not run anything on hosts of this tenant"));
});

test("a policy, a target of all hosts and one of many are reasons to ask", () => {
  expect(needsApproval(settings, readPolicy({ approval: true }), resolved, person)).toBe(true);
  expect(needsApproval(settings, readPolicy({}), { ...resolved, meansAll: true }, person)).toBe(true);
  expect(
    needsApproval({ ...settings, approve_all: false }, readPolicy({}), { ...resolved, meansAll: true }, person),
  ).toBe(false);
  const host = { id: "h", name: "h", status: "connected", accepting: true } as const;
  const many = { ...resolved, eligible: [host], queued: [host], skipped: [{ host, reason: "Disconnected" as const }] };
  expect(
    [2, 3].map((approve_above) => needsApproval({ ...settings, approve_above }, readPolicy({}), many, person)),
  ).toEqual([true, false]);
});

test("integers that some readers change are refused, environments are hidden", () => {
  expect(() => readArgs({ a: [{ b: -(2 ** 53) }] })).toThrow(Problem);
  expect(readArgs({ a: 2 ** 53 - 1, b: 0.5 })).toBe('{"a":9007199254740991,"b":0.5}');
  expect(maskedArgs({ command: "x", env_additions: { A: "1" } })).toEqual({
    command: "x",
    env_additions: { A: "********" },
  });
  expect(maskedArgs({ env_additions: "x" })).toEqual({ env_additions: "x" });
});
