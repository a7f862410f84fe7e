/** What an execution states of its usage (docs/reference/usage.md). */
import { expect, test } from "bun:test";
import type { UsageFact } from "../../../actors/usage/activity.ts";
import { Story } from "./scenario.ts";

const used = (story: Story, kind: UsageFact["kind"]): UsageFact[] =>
  story.sim.facts.flatMap(({ name, fact }) =>
    name === "usage_activity" && (fact as UsageFact).kind === kind ? [fact as UsageFact] : [],
  );
const whose = ({ header }: Story) => ({ agent_id: header.agent_id, workflow: header.workflow_name });

test("an instance counts from launch to end, without the time for which it stood still", () => {
  const story = new Story().start();
  story.pickUp();
  story.sim.now += 5_000;
  const instance_id = story.instance;
  story.sim.tell("instance_spawned", { instance_id });
  const begun = story.sim.now;
  const parks = (stands: boolean, after: number) => {
    story.sim.now = begun + after;
    story.sim.tell("instance_parked", { instance_id, stands, at: story.sim.now });
  };
  parks(true, 2_000);
  // Told again by a node that goes on with it.
  parks(true, 4_000);
  parks(false, 12_000);
  parks(false, 13_000);
  parks(true, 20_000);
  story.sim.now = begun + 50_000;
  story.exit("done");
  // 2 s before it stood still, 8 s between, and none behind: it ended while it stood.
  expect(used(story, "instance")).toMatchObject([{ id: instance_id, duration_ms: 10_000, ...whose(story) }]);
});

test("an instance that was lost counts until that is seen, its successor by itself", () => {
  const story = new Story().start().launch();
  const lost = story.instance;
  story.sim.now += 3_000;
  story.lose().launch();
  const next = story.instance;
  story.sim.now += 4_000;
  story.exit("done");
  expect(used(story, "instance")).toMatchObject([
    { id: lost, duration_ms: 3_000 },
    { id: next, duration_ms: 4_000 },
  ]);
});

test("an instance that never was there counts nothing, nor does what stands for one", () => {
  const unseen = new Story().start();
  unseen.pickUp();
  unseen.sim.askNow("cancel", { reason: null });
  const inline = new Story({ header: { inline: true } }).start();
  inline.pickUp();
  inline.exit("done");
  expect([unseen, inline].flatMap((story) => used(story, "instance"))).toEqual([]);
});

test("a model call counts once, by exchange and number, also where it comes again", () => {
  const story = new Story({ header: { workflow_name: "nightly" } }).start().launch();
  story.generate();
  const [first] = story.sim.underWay("model.call");
  story
    .modelSays({ calls: [{ name: "fs.list" }] })
    .toolEnds()
    .modelSays({ content: "done" });
  const loop = story.state.iteration.loop?.id ?? "";
  const tokens = { input_tokens: 10, output_tokens: 4, cost: 0.001, model: "default", ...whose(story) };
  const both = [1, 2].map((place) => ({ kind: "model_call", id: loop, place, ...tokens }));
  expect(used(story, "model_call")).toMatchObject(both);
  // Redelivered: the same key, which is there already.
  const value = { usage: { input_tokens: 10, output_tokens: 4 }, cost_usd: 0.001 };
  story.sim.tell("model_outcome", { id: first?.id ?? "", ok: true, value: answer(value) });
  expect(used(story, "model_call").at(-1)).toMatchObject({ id: loop, place: 1 });
});

test("an answer that is not wanted any more was charged, and counts", () => {
  const story = new Story().start().launch();
  story.generate();
  const [call] = story.sim.underWay("model.call");
  story.sim.askNow("cancel", { reason: null });
  const value = answer({ usage: { input_tokens: 7, output_tokens: 1 }, cost_usd: 0.5 });
  story.sim.tell("model_outcome", { id: call?.id ?? "", ok: true, value });
  expect(used(story, "model_call")).toMatchObject([{ input_tokens: 7, output_tokens: 1, cost: 0.5 }]);
  expect(story.state.usage.llm_calls).toBe(0);
});

test("an execution counts once, whichever way it ends", () => {
  const stories = [
    new Story().start().launch().exit("done"),
    new Story().start().launch().exit("", 3),
    new Story().start(),
  ];
  stories[2]?.sim.askNow("cancel", { reason: null });
  for (const story of stories) {
    if (story.state.status === "running") story.sim.askNow("cancel", { reason: null });
    story.sim.askNow("cancel", { reason: "again" });
    expect(used(story, "execution")).toMatchObject([{ id: story.sim.key, ...whose(story) }]);
  }
});

/** As a model's answer has it. */
const answer = (more: object) => ({
  ...{ provider: "scripted", model: "scripted-1", content: "late", tool_calls: [], finish_reason: "stop" },
  ...{ prompt: "", ...more },
});
