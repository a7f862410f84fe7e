/** In which order waiting messages are taken. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { type Company, Inbox } from "../../../../src/runtime/lane/intake/inbox.ts";
import { companies } from "../../../../src/runtime/lane/intake/large.ts";
import type { Delivery } from "../../../../src/runtime/mailbox/mailbox.ts";

const limits = { messages: 100, bytes: 10_000, totalBytes: 100_000, batchBytes: 1000 };

/** @param id null: handed over in memory */
function delivery(tenant: string, partition: number, id: string | null, size = 10, key = "a"): Delivery {
  const envelope = {
    source: "n1",
    sequence: 1,
    kind: "counter",
    key,
    tenant,
    type: "add",
    body: id === null ? "x".repeat(size) : null,
    replyTo: null,
    activity: null,
    fresh: false,
  };
  return { partition, id, envelope, raw: id === null ? "" : "x".repeat(size) };
}

const anyCompany = () => null;
type CompanyOf = (one: Delivery, size: number) => Company | null;
const next = (inbox: Inbox, most: number, companyOf: CompanyOf = anyCompany, room = () => {}) =>
  inbox.next(most, companyOf, room).map(({ envelope, id }) => `${envelope?.tenant}${id ?? ""}`);

test("a tenant with many messages delays another by one turn", () => {
  const inbox = new Inbox(limits);
  for (let index = 0; index < 50; index++) inbox.push(delivery("big", index % 4, `${index}`));
  for (let index = 0; index < 50; index++) inbox.push(delivery("big", 0, null));
  inbox.push(delivery("small", 9, "1"));
  inbox.push(delivery("tiny", 9, null));
  expect(next(inbox, 4).filter((one) => !one.startsWith("big"))).toEqual(["small1", "tiny"]);
});

test("what stands before a message of another tenant in a mailbox goes first", () => {
  const inbox = new Inbox(limits);
  for (let index = 0; index < 40; index++) inbox.push(delivery("big", index % 4, `${index}`));
  inbox.push(delivery("small", 3, "last"));
  // Ten stand before it in its mailbox, and thirty in others.
  expect(next(inbox, 12).at(-1)).toBe("smalllast");
});

test("each mailbox keeps its order and nothing is lost", () => {
  const step = fc.oneof(
    fc.record({ tenant: fc.nat(3), partition: fc.nat(4), direct: fc.boolean() }),
    fc.record({ take: fc.integer({ min: 1, max: 6 }) }),
    fc.record({ remove: fc.nat(4) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const inbox = new Inbox(limits);
      const expected = new Map<number, string[]>();
      let waiting = 0;
      const check = (taken: readonly Delivery[]) => {
        waiting -= taken.length;
        for (const { id, partition } of taken) if (id !== null) expect(expected.get(partition)?.shift()).toBe(id);
      };
      for (const [index, one] of steps.entries()) {
        if ("take" in one) check(inbox.next(one.take, anyCompany, () => {}));
        else if ("remove" in one) check(inbox.remove(new Set([one.remove])));
        else {
          const id = one.direct ? null : `${index}`;
          inbox.push(delivery(`t${one.tenant}`, one.partition, id));
          waiting++;
          if (id !== null) expected.set(one.partition, [...(expected.get(one.partition) ?? []), id]);
        }
        expect(inbox.size).toBe(waiting);
        expect(inbox.bytes).toBe(waiting * 10);
      }
      check(inbox.next(1000, anyCompany, () => {}));
      expect([inbox.size, inbox.bytes]).toEqual([0, 0]);
    }),
  );
});

test("what is put back keeps its order and its turn", () => {
  const inbox = new Inbox(limits);
  for (const id of ["1", "2", "3", "4"]) inbox.push(delivery("a", 0, id));
  const taken = inbox.next(3, anyCompany, () => {});
  inbox.push(delivery("b", 1, "1"));
  expect(inbox.isShared(taken)).toBe(true);
  inbox.putBack(taken.slice(1));
  expect([inbox.size, inbox.bytes]).toEqual([4, 40]);
  const order = next(inbox, 4);
  expect(order.filter((one) => one.startsWith("a"))).toEqual(["a2", "a3", "a4"]);
  expect(order.indexOf("b1")).toBeLessThan(2);
  expect(inbox.isShared(taken)).toBe(false);
  expect(inbox.isShared([...taken, delivery("b", 1, "2")])).toBe(true);
});

test("a batch is bounded in characters; a larger message comes alone", () => {
  const inbox = new Inbox(limits);
  for (const size of [400, 400, 400, 5000, 10]) inbox.push(delivery("a", 0, `${size}`, size));
  expect(next(inbox, 512)).toEqual(["a400", "a400"]);
  expect(next(inbox, 512)).toEqual(["a400"]);
  expect(next(inbox, 512)).toEqual(["a5000"]);
  expect(next(inbox, 512)).toEqual(["a10"]);
});

test("a mailbox is full by characters or by number, and says when there is room again", () => {
  const inbox = new Inbox({ messages: 3, bytes: 1000, totalBytes: 100_000, batchBytes: 1000 });
  const told: string[] = [];
  for (let index = 0; index < 3; index++) inbox.push(delivery("a", 0, `${index}`));
  inbox.push(delivery("a", 1, "large", 1000));
  expect([0, 1, 2].map((partition) => inbox.hasRoom(partition))).toEqual([false, false, true]);
  expect(inbox.takes("a")).toBe(true);
  for (let index = 0; index < 3; index++) inbox.push(delivery("a", 2, null));
  expect([inbox.takes("a"), inbox.takes("b"), inbox.hasRoom(2)]).toEqual([false, true, true]);
  next(inbox, 1, anyCompany, () => told.push("room"));
  expect(told).toEqual(["room"]);
});

test("messages under suspicion share no batch with others", () => {
  const inbox = new Inbox(limits);
  const kinds: Record<string, Company | null> = {
    a: { kind: "suspects", most: 2 },
    b: { kind: "suspect", most: 1 },
    c: null,
  };
  for (const id of ["a1", "a2", "a3", "b1", "b2", "c1", "c2"]) inbox.push(delivery("", 0, id));
  const companyOf = ({ id }: Delivery) => kinds[id?.[0] ?? ""] ?? null;
  const batches = Array.from({ length: 5 }, () => next(inbox, 512, companyOf));
  expect(batches).toEqual([["a1", "a2"], ["a3"], ["b1"], ["b2"], ["c1", "c2"]]);
});

test.each([
  ["small", 10, [64, 36]],
  ["large", 200_000, [2, 2]],
])("%s messages to one large actor share a batch with so many of them", (_, size, batches) => {
  const inbox = new Inbox({ messages: 1000, bytes: 100_000_000, totalBytes: 100_000_000, batchBytes: 4_000_000 });
  const grown = { hasLarge: true, get: () => ({ size: 1_000_000 }) };
  const companyOf = companies(grown, () => null);
  for (let index = 0; index < 100; index++) inbox.push(delivery("a", 0, `${index}`, size));
  expect([1, 2].map(() => next(inbox, 512, companyOf).length)).toEqual(batches);
});

test("a large message, or one to a large actor, shares a batch with that actor's", () => {
  const inbox = new Inbox({ messages: 100, bytes: 10_000_000, totalBytes: 100_000_000, batchBytes: 4_000_000 });
  for (const id of ["a1", "a2", "a3"]) inbox.push(delivery("large", 0, id, 200_000));
  inbox.push(delivery("small", 1, "b1"));
  inbox.push(delivery("small", 1, "b2"));
  inbox.push(delivery("grown", 2, "c1"));
  const none = { hasLarge: false, get: () => undefined };
  const of = (cache: Parameters<typeof companies>[0]) => companies(cache, () => null);
  expect(next(inbox, 512, of(none))).toEqual(["largea1"]);
  expect(next(inbox, 512, of(none))).toEqual(["smallb1", "grownc1"]);
  expect(next(inbox, 512, of(none))).toEqual(["largea2"]);
  expect(next(inbox, 512, of(none))).toEqual(["smallb2"]);
  expect(next(inbox, 512, of(none))).toEqual(["largea3"]);
  for (const id of ["d1", "d2", "d3"]) inbox.push(delivery("grown", 2, id, 10, id === "d3" ? "other" : "one"));
  // The size that the cache counted is all that is looked at.
  const grown = { hasLarge: true, get: () => ({ size: 1_000_000 }) };
  expect(next(inbox, 512, of(grown))).toEqual(["grownd1", "grownd2"]);
  expect(next(inbox, 512, of(grown))).toEqual(["grownd3"]);
});

/** A mailbox with a long line of one actor, set aside. */
const aside = { from: 8, lines: 2, messages: 100, bytes: 10_000, totalBytes: 100_000 };

test("beside a line set aside others of its tenant have each second turn", () => {
  const inbox = new Inbox({ ...limits, aside });
  for (let index = 0; index < 40; index++) inbox.push(delivery("big", 0, `hot${index}`, 10, "hot"));
  for (let index = 0; index < 4; index++) inbox.push(delivery("big", 0, `other${index}`, 10, `b${index}`));
  for (let index = 0; index < 4; index++) inbox.push(delivery("big", 0, null));
  inbox.push(delivery("big", 1, "mixed0"));
  inbox.push(delivery("small", 1, "mixed1"));
  const order = next(inbox, 100);
  const last = Math.max(...order.flatMap((one, index) => (one.startsWith("bighot") ? [] : [index])));
  expect(last).toBeLessThan(24);
  expect(order.filter((one) => one.startsWith("bighot"))).toEqual(Array.from({ length: 40 }, (_, i) => `bighot${i}`));
  expect(order.filter((one) => one.startsWith("bigother"))).toEqual([0, 1, 2, 3].map((i) => `bigother${i}`));
});

test("beside a line set aside one that others wait behind has each second turn", () => {
  const inbox = new Inbox({ ...limits, aside });
  for (let index = 0; index < 20; index++) inbox.push(delivery("big", 0, `hot${index}`, 10, "hot"));
  inbox.push(delivery("big", 0, "other", 10, "b"));
  for (let index = 0; index < 16; index++) inbox.push(delivery("big", 1, `before${index}`));
  inbox.push(delivery("small", 1, "behind"));
  const order = next(inbox, 100);
  expect(order.indexOf("bigother")).toBeLessThan(10);
  expect(order.indexOf("bigbefore15")).toBeGreaterThan(16);
  expect(order).toHaveLength(38);
});

test("a mailbox is left alone until its lines end where nothing may be taken ahead", () => {
  let mayDivide = true;
  const inbox = new Inbox({ ...limits, aside }, () => mayDivide);
  for (let index = 0; index < 10; index++) inbox.push(delivery("big", 0, `hot${index}`, 10, "hot"));
  expect(inbox.hasRoom(0)).toBe(true);
  mayDivide = false;
  expect(inbox.hasRoom(0)).toBe(false);
  const told: string[] = [];
  next(inbox, 9, anyCompany, () => told.push("room"));
  expect([inbox.hasRoom(0), told]).toEqual([false, []]);
  next(inbox, 9, anyCompany, () => told.push("room"));
  expect([inbox.hasRoom(0), told]).toEqual([true, ["room"]]);
  for (let index = 0; index < 10; index++) inbox.push(delivery("big", 0, `hot${index}`, 10, "hot"));
  inbox.push(delivery("small", 0, "behind"));
  expect(next(inbox, 100).at(-1)).toBe("smallbehind");
});

test("what is held back waits, all others go before it, and actors keep their order", () => {
  const step = fc.oneof(
    fc.record({
      tenant: fc.nat(2),
      partition: fc.nat(3),
      actor: fc.nat(2),
      count: fc.integer({ min: 1, max: 12 }),
      direct: fc.boolean(),
    }),
    fc.record({ take: fc.integer({ min: 1, max: 6 }), held: fc.uniqueArray(fc.nat(3)) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const inbox = new Inbox({ ...limits, aside });
      const waiting = new Map<string, Delivery[]>();
      const nameOf = ({ id, partition, envelope }: Delivery) => `${partition} ${envelope?.key} ${id === null}`;
      const check = (taken: readonly Delivery[]) => {
        for (const one of taken) expect(waiting.get(nameOf(one))?.shift() === one).toBe(true);
      };
      for (const [index, one] of steps.entries()) {
        if ("take" in one) {
          const isHeldBack = ({ partition }: Delivery) => one.held.includes(partition);
          const free = [...waiting.values()].flat().filter((each) => !isHeldBack(each));
          const taken = inbox.next(one.take, anyCompany, () => {}, isHeldBack);
          expect([taken.length, taken.some(isHeldBack)]).toEqual([Math.min(one.take, free.length), false]);
          check(taken);
        } else {
          for (let n = 0; n < one.count; n++) {
            const { tenant, partition, actor, direct } = one;
            const made = delivery(
              `t${tenant}`,
              partition,
              direct ? null : `${index}-${n}`,
              10,
              `a${tenant}${partition}${actor}`,
            );
            inbox.push(made);
            waiting.set(nameOf(made), [...(waiting.get(nameOf(made)) ?? []), made]);
          }
        }
        const left = [...waiting.values()].flat().length;
        expect([inbox.size, inbox.bytes]).toEqual([left, left * 10]);
      }
      check(inbox.next(1000, anyCompany, () => {}));
      expect([inbox.size, inbox.bytes]).toEqual([0, 0]);
    }),
    { numRuns: 300 },
  );
});
