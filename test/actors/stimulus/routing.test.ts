/** The way of a stimulus to its run: which workflow it goes to, and what a failure means. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Problem, type ProblemCode } from "../../../actors/kernel/problem.ts";
import {
  classified,
  concludeAttempt,
  namedWorkflow,
  planRouting,
  settledWithTakers,
  startedEarlier,
  startFailure,
} from "../../../actors/stimulus/routing.ts";
import { failedStatusOf, maxAttempts } from "../../../actors/stimulus/statuses.ts";
import type { Chosen, Settlement } from "../../../actors/stimulus/stimulus.ts";

const source = { enabled: true, workflow: "north", workflowVersion: "1.0.0" };
const off = { ...source, enabled: false };
const unnamed = { ...source, workflow: null };
const override = { workflow: "south", version: null };
const chosen = namedWorkflow({ override, channel: "api" }, null) as Chosen;

describe("the workflow that is named", () => {
  test.each([
    ["a replay's own choice, whatever the source", override, "api", source, "south"],
    ["the source's", null, "api", source, "north"],
    ["the source's, though it was switched off since a webhook's delivery", null, "webhook", off, "north"],
    ["none by a source that is off, for a caller", null, "api", off, null],
    ["none by a source that names none", null, "webhook", unnamed, null],
    ["none without a source", null, "webhook", null, null],
  ] as const)("%s", (_, given, channel, configured, workflow) => {
    expect(namedWorkflow({ override: given, channel }, configured)?.workflow ?? null).toBe(workflow);
  });

  test("goes before the tenant's router; without either it ends", () => {
    const router = { agentId: "a" };
    expect(planRouting({ named: chosen, router }).kind).toBe("start");
    expect(planRouting({ named: null, router })).toEqual({ kind: "classify", router });
    expect(planRouting({ named: null, router: null })).toMatchObject({
      kind: "end",
      failure: { status: "rejected", code: "no_router_configured" },
    });
  });
});

test.each([
  ["no_router_configured", "classified"],
  ["classification_failed", "classified"],
  ["unknown_workflow", "classification_failed"],
  ["router_agent_failed", "classification_failed"],
  ["workflow_error", "start_failed"],
])("what ended with %s and a Wait took is %s", (code, status) => {
  const settlement = { status: failedStatusOf(code), code, message: "", extras: {}, detail: null };
  expect(settledWithTakers(settlement, ["run"]).status).toBe(status as Settlement["status"]);
  expect(settledWithTakers(settlement, [])).toBe(settlement);
});

test.each<[ProblemCode, object | null]>([
  ["workflow_not_found", { status: "classification_failed", code: "unknown_workflow" }],
  ["invalid_input", { status: "start_failed", extras: { cause_code: "invalid_input" } }],
  ["workflow_start_failed", { status: "start_failed", code: "workflow_error" }],
  ["service_unavailable", null],
])("a start refused with %s", (code, expected) => {
  const failure = startFailure(new Problem(code, "no"), chosen);
  if (expected === null) expect(failure).toBeNull();
  else expect(failure).toMatchObject(expected);
});

test("only what no caller waits for is tried again, and only a bounded number of times", () => {
  const failure = startFailure(new Problem("invalid_input", "no"), chosen);
  if (failure === null) throw new Error("a refusal is no failure");
  const attempt = fc.record({
    acknowledge: fc.constantFrom("routed" as const, "received" as const),
    failures: fc.nat(2 * maxAttempts),
  });
  fc.assert(
    fc.property(attempt, (stimulus) => {
      const conclusion = concludeAttempt(stimulus, failure, 1_000);
      const mayRetry = stimulus.acknowledge === "received" && stimulus.failures + 1 < maxAttempts;
      expect(conclusion.kind).toBe(mayRetry ? "retry" : "settle");
      if (conclusion.kind === "retry") expect(conclusion.at).toBeGreaterThan(1_000);
    }),
  );
  const run = { workflow_id: "w", workflow_name: "north" };
  for (const settlement of [classified(run, chosen.detail), startedEarlier(run, failure)]) {
    expect(settlement).toMatchObject({ status: "classified", detail: run });
    expect(concludeAttempt({ acknowledge: "received", failures: 0 }, settlement, 0)).toEqual({ kind: "settle" });
  }
});
