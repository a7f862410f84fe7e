/** Messages of one mailbox taken out of turn: each once and in the order of its actor, after failures of each kind. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { Arrivals } from "../../../../src/runtime/lane/exchange/arrivals.ts";
import { Exchange } from "../../../../src/runtime/lane/exchange/exchange.ts";
import type { Held } from "../../../../src/runtime/lane/exchange/held.ts";
import { Inbox } from "../../../../src/runtime/lane/intake/inbox.ts";
import type { Envelope } from "../../../../src/runtime/mailbox/envelope.ts";
import type { Delivery } from "../../../../src/runtime/mailbox/mailbox.ts";

const incarnation = "1.1";
const limits = {
  messages: 12,
  bytes: 10_000,
  totalBytes: 100_000,
  batchBytes: 10_000,
  aside: { from: 4, lines: 2, messages: 40, bytes: 10_000, totalBytes: 20_000 },
};

interface Entry {
  readonly id: string;
  readonly envelope: Envelope;
}

type Step =
  | { readonly does: "send"; readonly source: string; readonly actors: readonly number[]; readonly isTwice: boolean }
  | { readonly does: "read"; readonly count: number }
  | { readonly does: "batch"; readonly count: number; readonly end: "committed" | "split" | "crash" | "crash after" }
  | { readonly does: "flush" | "refill" };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      does: fc.constant("send" as const),
      source: fc.constantFrom("n1", "n1", "n2", "p3", "p3", "told"),
      // The first is hot.
      actors: fc.array(fc.constantFrom(0, 0, 0, 0, 0, 0, 1, 2), { minLength: 1, maxLength: 6 }),
      isTwice: fc.integer({ min: 0, max: 9 }).map((one) => one === 0),
    }),
  },
  { weight: 4, arbitrary: fc.record({ does: fc.constant("read" as const), count: fc.integer({ min: 1, max: 12 }) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      does: fc.constant("batch" as const),
      count: fc.integer({ min: 1, max: 8 }),
      end: fc.constantFrom("committed", "committed", "committed", "committed", "split", "crash", "crash after"),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ does: fc.constantFrom("flush" as const, "refill" as const, "refill" as const) }),
  },
);

/** A partition with its mailbox in Redis, its rows in PostgreSQL, and the node that owns it. */
class Partition {
  /** Redis. */
  stream: Entry[] = [];
  private lastId = 0;
  /** PostgreSQL. */
  private offset = "0-0";
  private readonly received = new Map<string, number>();
  private readonly ahead = new Map<string, { source: string; seq: number; after: number }>();
  private readonly outbox = new Map<number, Envelope>();
  readonly taken: Envelope[] = [];
  /** Senders. */
  private readonly numbers = new Map<string, number>();
  readonly sent: Envelope[] = [];
  private lastEffect = 0;
  /** Taken before an earlier entry. */
  overtaken = 0;
  /** The owner. */
  private held!: Held;
  private inbox!: Inbox;
  private again: (readonly Delivery[])[] = [];
  private read = "0-0";

  constructor() {
    this.begin();
  }

  begin(): void {
    this.held = {
      partition: 0,
      epoch: 1,
      incarnation,
      mailboxOffset: this.offset,
      received: new Map(this.received),
      arrivals: new Arrivals(this.ahead.values()),
      outboxSequence: 0,
      sent: new Map(),
      takenInbox: new Set(),
      attempted: 0,
      published: 0,
      cleared: 0,
    };
    this.inbox = new Inbox(limits);
    this.again = [];
    this.read = this.offset;
    this.refill();
  }

  private append(envelope: Envelope): void {
    this.stream.push({ id: `${++this.lastId}-0`, envelope });
  }

  send(from: string, actor: number, isTwice: boolean): void {
    const number = (this.numbers.get(from) ?? 0) + 1;
    this.numbers.set(from, number);
    const [source, sequence] = from === "told" ? [`n1.${number}`, 1] : [from, number];
    const envelope: Envelope = {
      source,
      sequence,
      kind: "counter",
      key: `a${actor}`,
      tenant: actor === 2 ? "other" : "acme",
      type: "add",
      body: null,
      replyTo: null,
      activity: null,
      fresh: false,
      ...(from === "p3" ? { effect: { after: this.lastEffect, incarnation } } : {}),
    };
    if (from === "p3") {
      this.lastEffect = number;
      this.outbox.set(number, envelope);
    }
    this.sent.push(envelope);
    this.append(envelope);
    if (isTwice) this.append(envelope);
  }

  deliver(delivery: Delivery): void {
    this.held.arrivals.arrive(delivery, this.held.received, incarnation);
    this.inbox.push(delivery);
  }

  readOn(count: number): void {
    if (!this.inbox.hasRoom(0)) return;
    const after = Number(this.read.slice(0, -2));
    for (const { id, envelope } of this.stream.filter((one) => Number(one.id.slice(0, -2)) > after).slice(0, count)) {
      this.read = id;
      this.deliver({ partition: 0, id, envelope: { ...envelope }, raw: "x".repeat(10) });
    }
  }

  /** Effects that are not taken, each with the one before it. */
  refill(): void {
    let after = 0;
    for (const [seq, envelope] of [...this.outbox].slice(0, 6)) {
      const again = { ...envelope, effect: { after, incarnation } };
      this.deliver({ partition: 0, id: null, envelope: again, raw: "", isRefill: true });
      after = seq;
    }
  }

  /** Redis loses everything. What nodes sent is lost, but for what was told, which is sent again under its name. */
  flush(): Envelope[] {
    const taken = new Set(this.taken.map(nameOf));
    const lost = this.stream.map(({ envelope }) => envelope).filter((one) => !taken.has(nameOf(one)));
    this.stream = [];
    for (const envelope of lost) if (envelope.source.includes(".")) this.append(envelope);
    return lost.filter(({ source }) => /^n\d$/.test(source));
  }

  batch(count: number, end: "committed" | "split" | "crash" | "crash after"): void {
    const deliveries =
      this.again.shift() ??
      this.inbox.next(
        count,
        () => null,
        () => {},
      );
    if (deliveries.length === 0) return;
    const { held } = this;
    const exchange = new Exchange();
    const ran: Envelope[] = [];
    for (const { id, envelope } of deliveries) {
      if (envelope === null) continue;
      if (exchange.take(held, id, envelope)) ran.push(envelope);
    }
    if (end === "split") {
      exchange.undo([held]);
      const half = Math.ceil(deliveries.length / 2);
      this.again.unshift(...[deliveries.slice(0, half), deliveries.slice(half)].filter((part) => part.length > 0));
      return;
    }
    if (end === "crash") {
      this.begin();
      return;
    }
    this.commit(exchange, ran);
    if (end === "crash after") this.begin();
    else this.settle(exchange);
  }

  private commit(exchange: Exchange, ran: readonly Envelope[]): void {
    const rows = exchange.rows();
    this.offset = this.held.arrivals.position(this.held.mailboxOffset);
    this.held.mailboxOffset = this.offset;
    for (const { source, seq } of rows.received) this.received.set(source, seq);
    for (const row of rows.behind) expect(this.ahead.delete(`${row.source} ${row.seq}`)).toBe(true);
    for (const row of rows.ahead) this.ahead.set(`${row.source} ${row.seq}`, row);
    for (const { seq } of rows.taken) this.outbox.delete(seq);
    const known = new Set(this.sent.map(nameOf));
    for (const envelope of ran) if (known.has(nameOf(envelope))) this.taken.push(envelope);
  }

  private settle(exchange: Exchange): void {
    this.held.arrivals.settle();
    const gone = new Set([...exchange.takenBehind()].flatMap(([, ids]) => ids));
    this.overtaken += gone.size;
    const offset = Number(this.offset.slice(0, -2));
    this.stream = this.stream.filter(({ id }) => Number(id.slice(0, -2)) > offset && !gone.has(id));
  }

  /** Works until nothing waits. */
  drain(): void {
    for (let round = 0; round < 2000; round++) {
      this.readOn(12);
      this.batch(8, "committed");
      if (this.inbox.size + this.again.length > 0) continue;
      this.refill();
      const isOver = this.inbox.size === 0 && this.stream.every(({ id }) => !isAfter(id, this.read));
      if (isOver) return;
    }
    throw new Error("what waits does not end");
  }

  /** Numbers that the last number of their source does not say. */
  get notes(): number {
    return [...this.ahead.values()].filter(({ source, seq }) => seq > (this.received.get(source) ?? 0)).length;
  }
}

const isAfter = (left: string, right: string) => Number(left.slice(0, -2)) > Number(right.slice(0, -2));
const nameOf = ({ source, sequence }: Envelope) => `${source} ${sequence}`;

let overtaken = 0;

test("each message is taken once and in order after crashes, refusals and losses", () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 30, maxLength: 200, size: "max" }), (steps) => {
      const partition = new Partition();
      const lost = new Set<string>();
      for (const one of steps) {
        if (one.does === "send") for (const actor of one.actors) partition.send(one.source, actor, one.isTwice);
        else if (one.does === "read") partition.readOn(one.count);
        else if (one.does === "batch") partition.batch(one.count, one.end);
        else if (one.does === "refill") partition.refill();
        else for (const envelope of partition.flush()) lost.add(nameOf(envelope));
      }
      partition.drain();
      overtaken += partition.overtaken;
      const taken = partition.taken.map(nameOf);
      expect(new Set(taken).size).toBe(taken.length);
      const missing = partition.sent.map(nameOf).filter((name) => !taken.includes(name));
      expect(missing.filter((name) => !lost.has(name))).toEqual([]);
      for (const list of Map.groupBy(partition.taken, ({ source, key }) => `${source} ${key}`).values()) {
        const numbers = list.map(({ sequence }) => sequence);
        expect(numbers).toEqual(numbers.toSorted((left, right) => left - right));
      }
      if (lost.size === 0) expect(partition.notes).toBe(0);
    }),
    { numRuns: 300 },
  );
  // Otherwise it shows nothing.
  expect(overtaken).toBeGreaterThan(100);
});
