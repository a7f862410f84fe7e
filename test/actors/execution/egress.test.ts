import { expect, test } from "bun:test";
import { Story } from "./scenario.ts";

const blocked = (story: Story, host: string, instance = story.instance) =>
  story.sim.tell("egress_blocked", { instance_id: instance, host, port: 443, reason: "not_allowlisted" });

test("a refused connection is an event of the iteration", () => {
  const story = new Story().start().launch();
  blocked(story, "a.example");
  expect(story.event("egress_blocked")).toEqual({
    execution_id: story.sim.key,
    agent_id: story.header.agent_id,
    iteration_number: 1,
    host: "a.example",
    port: 443,
    reason: "not_allowlisted",
    blocked_at: new Date(story.sim.now).toISOString(),
  });
});

test("it counts while the output is judged, not from another instance or after the end", () => {
  const story = new Story().start().launch();
  blocked(story, "a.example", "another");
  expect(story.events).not.toContain("egress_blocked");
  story.exit("done");
  const ended = story.events.length;
  blocked(story, "a.example");
  expect(story.events).toHaveLength(ended);
});

test("a hostile agent fills no log with them", () => {
  const story = new Story().start().launch();
  for (let at = 0; at < 1_000; at++) blocked(story, `${at}.example`);
  expect(story.events.filter((name) => name === "egress_blocked")).toHaveLength(100);
});
