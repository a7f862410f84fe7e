/** Who waits with the owner of an approval (docs/reference/approvals.md). */
import { expect, test } from "bun:test";
import type { Open } from "../../../actors/approval/messages.ts";
import { approveBody, openBody, rejectBody, unopened } from "./fixture.ts";
import { ada, id, stateOf, tellsOf } from "./opened.ts";

const waiter = { kind: "execution", key: "e1" };
function watched(changes: Partial<Open> = {}, watchers = [waiter]) {
  const one = unopened();
  one.tell("open", openBody(changes));
  for (const owner of watchers) one.tell("watch", { owner });
  return one;
}
/** What the one that waits was told. */
const heard = (one: ReturnType<typeof unopened>) =>
  tellsOf(one).flatMap(({ kind, key, message }) => (kind === waiter.kind && key === waiter.key ? [message.body] : []));

test.each([
  ["approved", (one: ReturnType<typeof unopened>) => one.askNow("approve", approveBody(ada)), null],
  ["rejected", (one: ReturnType<typeof unopened>) => one.askNow("reject", rejectBody(ada)), "too dear"],
  ["withdrawn", (one: ReturnType<typeof unopened>) => one.tell("withdraw", { reason: "cancelled" }), null],
  ["timed_out", () => {}, null],
] as const)("one that waits hears that it was %s, before and after", (status, end, reason) => {
  const one = watched({ remind_after_ms: null, escalate: null });
  if (status === "timed_out") while (stateOf(one).status === "pending" && one.fireNext());
  else end(one);
  expect(heard(one)).toMatchObject([{ approval_id: id, status, reason }]);
  one.tell("watch", { owner: waiter });
  expect(heard(one)).toHaveLength(2);
  expect(heard(one)[1]).toEqual(heard(one)[0] ?? null);
});

test("one that waits twice is told once; a forgotten approval tells that it is gone", () => {
  const one = watched({}, [waiter, waiter]);
  one.askNow("approve", approveBody(ada));
  expect(heard(one)).toHaveLength(1);
  one.tell("erase", {});
  one.tell("watch", { owner: waiter });
  expect(heard(one).at(-1)).toMatchObject({ status: "withdrawn" });
});

test("no more wait than four, the latest", () => {
  const one = watched({}, [waiter, ...["a", "b", "c", "d"].map((key) => ({ kind: "execution", key }))]);
  expect(stateOf(one).watchers?.map(({ key }) => key)).toEqual(["a", "b", "c", "d"]);
});
