/** An outcome that the mailbox lost is sent again, and no sooner than it may be presumed lost. */
import { expect, test } from "bun:test";
import type { Outcome } from "../../actors/kernel/activity.ts";
import type { Work } from "../../src/runtime/activities/fair-queue.ts";
import { ActivityResults } from "../../src/runtime/activities/results.ts";

const work: Work = {
  id: "work-1",
  actor: { kind: "counter", key: "a", tenant: "acme" },
  name: "slow",
  input: "null",
  replyType: "worked",
  resumed: false,
  moved: false,
  abandoned: false,
  attempt: 1,
  onceTaken: [],
  deaths: 0,
  takeovers: 0,
  queuedAt: 0,
};
const outcome: Outcome = { id: "work-1", ok: true, value: "done" };

function results(sendOutcome: (sent: number) => Promise<void>) {
  const clock = { now: 0 };
  const sent: Outcome[] = [];
  const options = {
    now: () => clock.now,
    sendOutcome: (_to: unknown, _type: string, it: Outcome) => {
      sent.push(it);
      return sendOutcome(sent.length);
    },
  };
  return { clock, sent, all: new ActivityResults(options, () => false) };
}

test("sent again after a while, as long as the row is there", async () => {
  const { clock, sent, all } = results(() => Promise.resolve());
  expect(await all.send(work, outcome)).toBe(true);
  clock.now = 9_999;
  all.sendAgain("work-1");
  expect(sent).toEqual([outcome]);
  clock.now = 10_000;
  all.sendAgain("work-1");
  all.sendAgain("work-1");
  expect(sent).toEqual([outcome, outcome]);
  all.delete("work-1");
  clock.now = 99_999;
  all.sendAgain("work-1");
  expect(sent.length).toBe(2);
});

test("a store that is away is tried until it takes the outcome", async () => {
  const { sent, all } = results((count) => (count < 3 ? Promise.reject(new Error("away")) : Promise.resolve()));
  expect(await all.send(work, outcome)).toBe(true);
  expect(sent.length).toBe(3);
});
