/** Whom the end of an execution is told. */
import { expect, test } from "bun:test";
import { execution } from "../../../actors/execution/execution.ts";
import type { Header } from "../../../actors/execution/start/plan.ts";
import { Simulation } from "../simulate.ts";
import { sampleHeader, samplePlan } from "./fixture.ts";

const child = { depth: 1, path: ["p"], parent_execution_id: "p", swarm_id: null };

function toldAtEnd(change: Partial<Header>) {
  const sim = new Simulation(execution as never);
  sim.askNow("start", { header: sampleHeader(change), plan: samplePlan() } as never);
  sim.askNow("cancel", { reason: "enough" });
  return sim.told;
}

test("none, when it has no parent", () => {
  expect(toldAtEnd({ workflow_execution_id: "p" })).toEqual([]);
});

test.each([
  ["the workflow's run that started it", { workflow_execution_id: "p" }, "workflow_run"],
  ["the execution that started it", {}, "execution"],
  ["the execution that started it, whatever workflow that belongs to", { workflow_execution_id: "other" }, "execution"],
])("%s", (_, change, kind) => {
  expect(toldAtEnd({ hierarchy: child, ...change })).toMatchObject([
    { effect: "tell", kind, key: "p", message: { type: "child_ended", body: { status: "cancelled", output: null } } },
  ]);
});
