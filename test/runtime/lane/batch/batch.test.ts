/** What a batch makes of work whose outcome and whose end as unwanted meet in one commit. */
import { expect, test } from "bun:test";
import { Batch } from "../../../../src/runtime/lane/batch/batch.ts";
import { progress } from "../../../../src/runtime/lane/commit/progress.ts";
import { Arrivals } from "../../../../src/runtime/lane/exchange/arrivals.ts";
import type { Held } from "../../../../src/runtime/lane/exchange/held.ts";
import type { CachedActor } from "../../../../src/runtime/lane/turn.ts";
import type { Envelope } from "../../../../src/runtime/mailbox/envelope.ts";

const held = { partition: 0, epoch: 1, outboxSequence: 0 } as Held;
const actor = {
  kind: "counter",
  key: "a",
  tenant: "acme",
  partition: 0,
  state: {},
  logs: {},
} as unknown as CachedActor;

function message(activity: string | null): Envelope {
  const to = { kind: "counter", key: "a", tenant: "acme", type: "worked", body: null };
  return { source: "n1", sequence: 1, ...to, replyTo: null, activity, fresh: false };
}

const batch = () => new Batch("n1", { now: () => 1, newId: () => "id" }, () => false, 8);
const givingUp = (id: string) =>
  ({ result: "done", effects: [{ effect: "abandon", id }], reply: undefined, made: new Set<string>() }) as const;

// One statement does one thing with a row: were it both given up and settled, it might stay.
test("a turn that takes an outcome in and gives the same work up only settles it", () => {
  const both = batch();
  both.done(held, actor, message("work"), givingUp("work"));
  expect([both.settled, both.abandoned]).toEqual([["work"], []]);
});

test("work given up whose outcome is in the same batch is settled; the outcome drops", () => {
  const both = batch();
  both.done(held, actor, message(null), givingUp("work"));
  expect(both.abandoned).toEqual(["work"]);
  expect(both.awaits("work", new Map([["work", true]]))).toBe(false);
  expect([both.settled, both.abandoned]).toEqual([["work"], []]);
});

// Rows that are deleted in the next commit instead would otherwise wait for their partition's next effect.
test("effects carried out while a commit is written are not deleted by it", () => {
  const place: Held = {
    ...held,
    incarnation: "1.1",
    mailboxOffset: "0-0",
    arrivals: new Arrivals(),
    received: new Map(),
    published: 0,
    cleared: 0,
  };
  const commit = batch();
  commit.touched.add(place);
  expect(commit.toCommit(new Map()).partitions[0]?.published).toBe(0);
  place.published = 3;
  expect([...commit.clearing]).toEqual([]);
  const next = batch();
  next.touched.add(place);
  expect(next.toCommit(new Map()).partitions[0]?.published).toBe(3);
  expect([...next.clearing]).toEqual([[place, 3]]);
});

test("a commit writes its partitions in their order, in which others take them", () => {
  const commit = batch();
  for (const partition of [5, 0, 7, 2]) {
    commit.touched.add({
      ...held,
      partition,
      mailboxOffset: "0-0",
      arrivals: new Arrivals(),
      incarnation: "1.1",
      published: 0,
      cleared: 0,
    } as Held);
  }
  expect(progress(commit.toCommit(new Map()).partitions, "n1").parameters[0]).toBe("{0,2,5,7}");
});
