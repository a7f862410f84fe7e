/** Executions of earlier versions: what they lack has its default, and their lives go on. */
import { expect, test } from "bun:test";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { Plan } from "../../../actors/execution/start/plan.ts";
import { ExecutionState } from "../../../actors/execution/state.ts";
import { completePlan, completeState } from "../../../actors/execution/stored-state.ts";
import type { Json } from "../../../actors/kernel/json.ts";
import { earlierPlan, earlierState } from "./first-version.ts";
import { samplePlan } from "./fixture.ts";
import { Story } from "./scenario.ts";

const state = TypeCompiler.Compile(ExecutionState);
const plan = TypeCompiler.Compile(Plan);
const workspace = {
  name: "workspace",
  volume_id: "0190f3c4-0000-7000-8000-000000000001",
  mount_path: "/workspace",
  storage_class: "ephemeral",
  access_mode: "read-write",
  size_limit_bytes: 1,
  ttl_ms: 1,
} as const;

function callUnderWay(): Story {
  const story = new Story().start().launch();
  story.generate();
  story.modelSays({ calls: [{ name: "fs.read", arguments: { path: "/workspace/a" } }] });
  expect(story.state.iteration.loop?.calls).toHaveLength(1);
  return story;
}

test.each([
  ["pending", () => new Story().start()],
  ["in its loop", callUnderWay],
  ["over", () => new Story().start().launch().exit("done")],
])("a state that is %s means what it meant", (_, tell) => {
  const { state: now } = tell();
  const old = earlierState(now);
  expect(state.Check(old)).toBe(false);
  const completed = completeState(old) as unknown as ExecutionState;
  expect(state.Check(completed)).toBe(true);
  expect(completed).toEqual({ ...now, iteration: { ...now.iteration, validation: null } });
  expect(completeState(now as unknown as Json)).toEqual(now as unknown as Json);
});

test("running validators are counted from the first, so each outcome finds its place", () => {
  const validators = [{ type: "regex", pattern: "x", target: "stdout", flags: "", min_score: 1, min_confidence: 0 }];
  const story = new Story({ plan: { validators: validators as Plan["validators"] } }).start().launch().exit("out");
  const completed = completeState(earlierState(story.state)) as unknown as ExecutionState;
  expect(completed.iteration.validation).toEqual({ next: 0, excerpt: "", panel: null });
});

test("a plan gains what plans did not say, its workspace among it", () => {
  const now = samplePlan({ mounts: [workspace] });
  const old = earlierPlan(now);
  expect(plan.Check(old)).toBe(false);
  expect(completePlan(old, workspace)).toEqual(now as unknown as Json);
  expect(completePlan(now as unknown as Json, { ...workspace, volume_id: "another" })).toEqual(now as unknown as Json);
});

test.each([[null], ["text"], [[]], [{}], [{ header: 1, iteration: [] }]])("%j is left as it is", (stored) => {
  expect(completeState(stored as Json)).toEqual(stored as Json);
});
