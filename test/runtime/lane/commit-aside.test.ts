/** Which messages wait for a commit that is written beside the lane, and for how long. */
import { expect, test } from "bun:test";
import { CommitAside } from "../../../src/runtime/lane/commit-aside.ts";
import type { Company } from "../../../src/runtime/lane/intake/inbox.ts";
import { companies } from "../../../src/runtime/lane/intake/large.ts";
import type { Delivery } from "../../../src/runtime/mailbox/mailbox.ts";
import { until } from "../../harness/until.ts";

function deliveryOf(tenant: string, partition = 0): Delivery {
  const names = { source: "n1", sequence: 1, kind: "counter", key: "a", tenant, type: "add" };
  return {
    partition,
    id: null,
    raw: "",
    envelope: { ...names, body: null, replyTo: null, activity: null, fresh: false },
  };
}

const none = { hasLarge: false, get: () => undefined };
const companyOf: (delivery: Delivery, size: number) => Company | null = companies(none, () => null);
const largeSize = 1_000_000;

/** A commit of tenant `large` in partition 3 that takes about 50 ms, in which another tenant's message is taken. */
async function asideAfter(beside: string) {
  let told = 0;
  const aside = new CommitAside(() => {
    told++;
  });
  // Only what is asked of a batch here.
  const batch = { touched: [{ partition: 3 }] } as unknown as Parameters<CommitAside["begin"]>[0];
  const { promise, resolve } = Promise.withResolvers<void>();
  aside.begin(batch, [deliveryOf("large", 3)], () => promise);
  aside.goesOn([deliveryOf(beside)]);
  const holdsBack = aside.holdsBack(companyOf);
  expect([holdsBack?.(deliveryOf("small", 3), 1), holdsBack?.(deliveryOf("small"), 1)]).toEqual([true, false]);
  expect(holdsBack?.(deliveryOf("small"), largeSize)).toBe(true);
  // Its length is the subject.
  await Bun.sleep(50);
  resolve();
  await aside.take();
  return { aside, told: () => told };
}

test("the next large commit begins after as long again where another tenant has work", async () => {
  const { aside, told } = await asideAfter("small");
  const began = performance.now();
  const holdsBack = aside.holdsBack(companyOf);
  expect([holdsBack?.(deliveryOf("small", 3), 1), holdsBack?.(deliveryOf("large"), largeSize)]).toEqual([false, true]);
  expect([aside.isTaken, aside.isHoldingBack]).toEqual([false, true]);
  await until(() => !aside.isHoldingBack, { what: "the pause to end", everyMs: 1 });
  expect(performance.now() - began).toBeGreaterThan(40);
  expect([aside.holdsBack(companyOf), told()]).toEqual([null, 2]);
});

test("the next large commit begins at once where no other tenant has work", async () => {
  const { aside, told } = await asideAfter("large");
  expect([aside.holdsBack(companyOf), aside.isHoldingBack, told()]).toEqual([null, false, 1]);
});
