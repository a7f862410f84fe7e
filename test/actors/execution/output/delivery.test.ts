/** Who is told of an execution's end, and what. */
import { describe, expect, test } from "bun:test";
import type { Delivery } from "../../../../actors/agent/manifest/execution/results.ts";
import { deliveryBody } from "../../../../actors/execution/output/delivery.ts";
import { Story } from "../scenario.ts";

const to = (condition: Delivery["condition"]): Delivery => ({
  name: condition,
  condition,
  url: "https://sink.example/?key=hidden",
  method: "POST",
  headers: { Authorization: "hidden" },
  secret: "hidden",
});
const deliveries = [to("on_success"), to("on_failure"), to("always")];
const begin = () => new Story({ plan: { deliveries } }).start().launch();
const sent = (story: Story) => story.sim.performed.filter(({ activity }) => activity === "delivery.send");
const indexes = (story: Story) => sent(story).map(({ input }) => (input as { delivery: number }).delivery);

describe("conditions", () => {
  test.each<[string, (story: Story) => unknown, number[]]>([
    ["completed", (story) => story.exit("x"), [0, 2]],
    ["failed", (story) => story.exit("x", 3), [1, 2]],
    ["timed_out", (story) => story.sim.tell("deadline", {}), [1, 2]],
    ["cancelled", (story) => story.sim.askNow("cancel", { reason: null }), [1, 2]],
  ])("%s", (status, end, expected) => {
    const story = begin();
    expect(sent(story)).toEqual([]);
    if (status === "timed_out") story.sim.now += story.header.timeout_ms;
    end(story);
    expect(story.state.status as string).toBe(status);
    expect(indexes(story)).toEqual(expected);
    expect(story.sim.log("output")).toEqual(status === "completed" ? [{ output: "x" }] : []);
    story.checkInvariants();
  });
});

test("no outcome of a delivery changes the execution", () => {
  const story = begin().exit("x");
  const before = structuredClone([story.sim.state, story.sim.log()]);
  const [first, second] = sent(story);
  story.sim.succeed(first?.id ?? "", { status: 200 });
  story.sim.fail(second?.id ?? "", "delivery_failed", "status 500");
  expect([story.sim.state, story.sim.log()]).toEqual(before);
});

test("the manifest's secrets are neither in the state nor in what is performed", () => {
  const story = begin().exit("x");
  expect(JSON.stringify([story.state, story.sim.log(), story.sim.performed])).not.toContain("hidden");
});

test("erased: deliveries under way are given up, and none begins", () => {
  const ended = begin().exit("x");
  const ids = sent(ended).map(({ id }) => id);
  ended.sim.askNow("erase", {});
  expect([...ended.sim.abandoned]).toEqual(expect.arrayContaining(ids));
  const running = begin();
  running.sim.askNow("erase", {});
  expect(sent(running)).toEqual([]);
});

test("what is sent", () => {
  const done = begin().exit("x");
  expect(deliveryBody("e", done.state, "x")).toEqual({
    execution_id: "e",
    agent_id: done.header.agent_id,
    agent_name: "parcel-triage",
    status: "completed",
    output: "x",
    error: null,
    ended_at: done.record().ended_at,
  });
  const failed = begin().exit("x", 3);
  expect(deliveryBody("e", failed.state, null)).toMatchObject({
    status: "failed",
    output: null,
    error: "The agent exited with code 3",
  });
});
