/** A fleet run that is a tool call on one host (docs/reference/edge-agents.md). */
import { describe, expect, test } from "bun:test";
import { RunStory } from "./story.ts";

const resolving = (story: RunStory) => story.sim.underWay("edge.resolve").length;
const asked = (ofCall = true) => new RunStory({ eligible: 1, gate: true, ofCall });

test("approved it waits for its call, and begins once", () => {
  const story = asked();
  story.sim.askNow("proceed", {});
  expect([story.state.status, resolving(story)]).toEqual(["awaiting_approval", 0]);
  story.decide("approved");
  expect([story.state.status, resolving(story)]).toEqual(["awaiting_approval", 0]);
  story.sim.askNow("proceed", {});
  story.sim.askNow("proceed", {});
  expect(resolving(story)).toBe(1);
  expect(story.sim.timers.has("unclaimed")).toBe(false);
});

test("any other run begins as soon as it is approved", () => {
  expect(resolving(asked(false).decide("approved"))).toBe(1);
});

describe("nothing is sent of one", () => {
  test("whose call does not go on", () => {
    const story = asked().decide("approved");
    story.sim.fireNext();
    expect(story.last).toMatchObject({ status: "cancelled" });
    story.sim.askNow("proceed", {});
    expect(resolving(story)).toBe(0);
  });
  test("whose call is given up", () => {
    const story = asked().decide("approved");
    story.sim.askNow("cancel", { by: null, reason: "call_ended" });
    expect(story.last).toMatchObject({ status: "cancelled", summary: { not_started: 1 } });
    expect(story.sim.timers.size).toBe(0);
  });
  test("while only what failed is tried again", () => {
    const story = asked().decide("approved");
    story.sim.tell("again", {});
    expect(resolving(story)).toBe(0);
  });
});
