/** Executions whose agent brings nothing to run: no instance of their own, and nothing that goes with one. */
import { describe, expect, test } from "bun:test";
import type { Validator } from "../../../actors/agent/manifest/execution/results.ts";
import type { Header, Plan } from "../../../actors/execution/start/plan.ts";
import { Story } from "./scenario.ts";

const facts = { isolation: "process", image: null, sandbox: "none", egress_enforced: true };
const lanes: Validator = { type: "json_schema", schema: {}, target_path: null, min_score: 1, min_confidence: 0 };

const story = (header: Partial<Header> = {}, plan: Partial<Plan> = {}) =>
  new Story({ header: { inline: true, ...header }, plan: { tools: [], ...plan } }).start();
const pickUp = ({ sim, instance }: Story) =>
  sim.askNow("picked_up", { instance_id: instance, runtime: facts, warnings: [] });

test("an activity of its own runs it, and it is ready as soon as it is picked up", () => {
  const told = story();
  expect(told.sim.underWay("iteration.run")).toEqual([]);
  expect(told.sim.underWay("iteration.run.inline").map(({ input }) => input)).toEqual([
    { execution_id: told.sim.key, iteration: 1, attempt: 1, instance_id: told.instance, replaces: null },
  ]);
  const reply = pickUp(told);
  expect(reply).toMatchObject({
    proceed: true,
    inline: { header: { runtime: facts }, iteration_deadline_at: told.sim.now + 600_000 },
  });
  expect(pickUp(told)).toEqual(reply);
  told.exit("done\n");
  expect(told.events).toEqual([
    "execution_started",
    "iteration_started",
    "instance_spawned",
    "instance_terminated",
    "iteration_completed",
    "execution_completed",
  ]);
  expect(told.record()).toMatchObject({ status: "completed", output: "done", runtime: facts, volumes: [] });
  told.checkInvariants();
});

test("one with an instance is told nothing more than before", () => {
  const told = new Story().start();
  expect(told.pickUp()).not.toHaveProperty("inline");
});

describe("its time", () => {
  test("its deadline is watched by the exchange: the iteration's", () => {
    const told = story();
    pickUp(told);
    expect([...told.sim.timers.keys()]).toEqual([]);
    told.sim.fail(`run:${told.instance}`, "iteration_timeout", "The iteration took longer than 600 s");
    expect(told.record()).toMatchObject({ status: "failed", error_code: "iteration_timeout" });
    expect(told.record().iterations[0]).toMatchObject({ status: "failed", error: { code: "iteration_timeout" } });
    told.checkInvariants();
  });

  test("and the execution's, where an iteration may not end before it", () => {
    const told = story({ iteration_timeout_ms: 1_800_000 });
    expect(pickUp(told)).toMatchObject({ deadline_at: told.sim.now + 1_800_000 });
    expect(pickUp(told)).toMatchObject({ inline: { iteration_deadline_at: null } });
    told.sim.fail(`run:${told.instance}`, "execution_timeout");
    expect(told.record()).toMatchObject({ status: "timed_out", error_code: "execution_timeout" });
    told.checkInvariants();
  });

  test("what comes after the first exchange is kept by a timer", () => {
    const told = story({ mode: "iterative", max_iterations: 2 }, { validators: [lanes] });
    pickUp(told);
    const deadline = told.sim.now + 1_800_000;
    told.exit("{}");
    expect([...told.sim.timers].map(([name, { at }]) => [name, at])).toEqual([["deadline", deadline]]);
    told.validated("{}", 0);
    pickUp(told);
    told.exit("{}");
    expect([...told.sim.timers.keys()]).toEqual(["deadline"]);
    told.sim.now = deadline;
    told.sim.tell("deadline", {});
    expect(told.record()).toMatchObject({ status: "timed_out" });
    expect([...told.sim.timers.keys()]).toEqual([]);
    told.checkInvariants();
  });

  test("cancelled meanwhile, it has nothing left", () => {
    const told = story();
    pickUp(told);
    told.sim.askNow("cancel", { reason: null });
    expect(told.sim.underWay("iteration.run.inline")).toEqual([]);
    told.checkInvariants();
  });
});

test("a rejected answer is asked for again in the same way", () => {
  const told = story({ mode: "iterative", max_iterations: 2 }, { validators: [lanes] });
  pickUp(told);
  told.exit("{}").validated("{}", 0);
  expect(told.sim.underWay("iteration.run.inline")).toHaveLength(1);
  expect(pickUp(told)).toMatchObject({ proceed: true, iteration: 2 });
  told.exit("[]").validated("[]", 1);
  expect(told.record()).toMatchObject({ status: "completed", total_iterations: 2 });
  told.checkInvariants();
});

test("erased, it leaves no workspace to remove", () => {
  const told = story();
  pickUp(told);
  expect(told.sim.askNow("erase", {})).toEqual({ outcome: "erased" });
  expect([...told.sim.activities.values()]).toEqual([]);
  expect([...told.sim.timers.keys()]).toEqual([]);
});
