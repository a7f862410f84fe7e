/** A fleet run that a state of a workflow waits for (docs/reference/workflow-calls.md). */
import { expect, test } from "bun:test";
import type { Json } from "../../../actors/kernel/json.ts";
import { RunStory, type StoryOptions } from "./story.ts";

const sender = { kind: "workflow_run", key: "r1", invocation_id: "i1" };

/** What its sender was told, as far as the words go. */
function told(story: RunStory): readonly (readonly [type: string, word: unknown])[] {
  return story.sim.told.flatMap((effect) => {
    if (effect.effect !== "tell" || effect.kind !== sender.kind || effect.key !== sender.key) return [];
    const body = effect.message.body as { readonly [member: string]: Json };
    expect(body).toMatchObject({ fleet_command_id: story.sim.key, invocation_id: "i1" });
    const { asked = null, decided = null, status } = body as { readonly [member: string]: { status?: Json } | null };
    return [[effect.message.type, asked === null ? (decided?.status ?? status ?? "there") : "asked"]];
  });
}
const sent = (options: Partial<StoryOptions>) => new RunStory({ eligible: 1, sender, ...options });

test("tells that it is there once it has begun", () => {
  expect(told(sent({}))).toEqual([["fleet_waiting", "there"]]);
});

test("tells its end, also where there is nothing to run", () => {
  expect(told(sent({ eligible: 0 }))).toEqual([
    ["fleet_waiting", "there"],
    ["fleet_ended", "halted"],
  ]);
});

test.each([
  ["rejected", [["fleet_ended", "cancelled"]]],
  ["approved", []],
])("tells that people are asked, and that they %s it", (status, behind) => {
  const story = sent({ gate: true }).decide(status);
  expect(told(story)).toEqual([["fleet_waiting", "asked"], ["fleet_waiting", status], ...behind] as never);
});

test("a run that none waits for tells none", () => {
  const story = new RunStory({ eligible: 0 });
  expect(told(story)).toEqual([]);
});
