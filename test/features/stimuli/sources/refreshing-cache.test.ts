/** Answers that may be a few seconds old. */
import { beforeEach, expect, test } from "bun:test";
import { noteReceived } from "../../../../src/features/stimuli/sources/last-received.ts";
import { RefreshingCache } from "../../../../src/features/stimuli/sources/verification/refreshing-cache.ts";
import { until } from "../../../harness/until.ts";

let now = 0;
let asked: string[] = [];
/** How the next questions are answered, in their order. */
let pending: { answer(value: string): void; fail(): void }[] = [];
const find = (question: string) => {
  const { promise, resolve, reject } = Promise.withResolvers<{ value: string; until: number }>();
  asked.push(question);
  const at = now;
  pending.push({
    answer: (value) => resolve({ value, until: at + 3000 }),
    fail: () => reject(new Error("away")),
  });
  return promise;
};
const open = (capacity = 3) =>
  new RefreshingCache({
    find,
    isNothing: (value) => value === "nothing",
    renewAfterMs: 2000,
    now: () => now,
    capacity,
  });

beforeEach(() => {
  now = 0;
  asked = [];
  pending = [];
});

async function told(answers: RefreshingCache<string>, question: string, value: string): Promise<string> {
  const count = asked.length;
  const answer = answers.get(question);
  if (asked.length > count) pending.at(-1)?.answer(value);
  return answer;
}

test("a burst asks once, and so does all that comes within the time", async () => {
  const answers = open();
  const burst = Array.from({ length: 100 }, () => answers.get("a"));
  pending[0]?.answer("one");
  expect(await Promise.all(burst)).toEqual(Array(100).fill("one"));
  now = 1999;
  expect(answers.get("a")).toBe("one");
  expect(asked).toEqual(["a"]);
  now = 3000;
  expect(await told(answers, "a", "two")).toBe("two");
  expect(asked).toEqual(["a", "a"]);
});

test("an answer that grows old is asked for again before anybody has to wait for it", async () => {
  const answers = open();
  await told(answers, "a", "one");
  now = 2000;
  for (const _ of [1, 2, 3]) expect(answers.get("a")).toBe("one");
  expect(asked).toEqual(["a", "a"]);
  pending[1]?.fail();
  await until(() => {
    if (asked.length === 2) expect(answers.get("a")).toBe("one");
    return asked.length === 3;
  });
  pending[2]?.answer("two");
  await until(() => answers.get("a") === "two");
  now = 4999;
  expect(answers.get("a")).toBe("two");
});

test("an answer's age counts from when it was asked for", async () => {
  const answers = open();
  const first = answers.get("a");
  now = 2000;
  pending[0]?.answer("one");
  await first;
  now = 3000;
  expect(await told(answers, "a", "two")).toBe("two");
});

test("a lookup begun before a change answers no caller after it", async () => {
  const answers = open();
  const before = answers.get("a");
  answers.drop("a");
  const after = answers.get("a");
  pending[1]?.answer("new");
  expect(await after).toBe("new");
  pending[0]?.answer("old");
  expect(await before).toBe("old");
  expect(answers.get("a")).toBe("new");
});

test("a failure is told to waiting callers, and not kept", async () => {
  const answers = open();
  const waiting = [answers.get("a"), answers.get("a")];
  pending[0]?.fail();
  for (const one of waiting) expect(one).rejects.toThrow("away");
  await Promise.allSettled(waiting);
  expect(await told(answers, "a", "one")).toBe("one");
});

test("so many are kept, and a flood of nothing displaces none of them", async () => {
  const answers = open(3);
  for (const question of ["a", "b", "c"]) await told(answers, question, "something");
  for (let n = 0; n < 100; n++) await told(answers, `unheard-of-${n}`, "nothing");
  asked = [];
  for (const question of ["a", "b", "c"]) expect(answers.get(question)).toBe("something");
  expect(await told(answers, "unheard-of-0", "nothing")).toBe("nothing");
  expect(answers.get("unheard-of-99")).toBe("nothing");
  await told(answers, "d", "something");
  expect(await told(answers, "a", "asked anew")).toBe("asked anew");
  expect(asked).toEqual(["unheard-of-0", "d", "a"]);
});

test("notes are written in rounds, each route once, and again after a failure", async () => {
  const written: string[] = [];
  let away = true;
  const failures: string[] = [];
  const notes = noteReceived(
    async (marks) => {
      if (away) throw new Error("away");
      written.push(...marks.map(({ id, at }) => `${id} ${at.getTime()}`));
    },
    (event) => void failures.push(event),
    5,
  );
  for (const at of [1, 3, 2]) notes.note({ tenant: "t", id: "a" }, at);
  notes.note({ tenant: "t", id: "b" }, 7);
  await until(() => failures.length > 0);
  away = false;
  await until(() => written.length > 0);
  await notes.close();
  expect(written).toEqual(["a 3", "b 7"]);
});
