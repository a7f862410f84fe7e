/** Turns of tenants that share the slots of guarded processes (docs/reference/security.md). */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Slots, SlotsFull } from "../../../src/lib/guarded/slots.ts";

const limits = { slots: 2, perTenant: 1, waitingPerTenant: 3, waiting: 5 };

/** Lets everything run that is due. */
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

function begin(
  slots: Slots,
  tenant: string,
  started: string[],
  more: { durable?: boolean; signal?: AbortSignal } = {},
) {
  const taken = slots.take({ tenant, durable: false, ...more });
  taken.then(
    () => started.push(tenant),
    () => {},
  );
  return taken;
}

describe("slots of guarded processes", () => {
  test("a tenant with a long line delays no other tenant", async () => {
    const slots = new Slots(limits);
    const started: string[] = [];
    const first = await begin(slots, "flood", started);
    for (let count = 0; count < 3; count += 1) void begin(slots, "flood", started);
    const other = await begin(slots, "quiet", started);
    expect(started).toEqual(["flood", "quiet"]);
    void begin(slots, "quiet", started);
    first();
    await settle();
    other();
    await settle();
    expect(started).toEqual(["flood", "quiet", "flood", "quiet"]);
  });

  test("a full line is refused, of the tenant and of the node; durable work waits", async () => {
    const slots = new Slots(limits);
    const started: string[] = [];
    const release = await begin(slots, "a", started);
    const waiting = [1, 2, 3].map(() => begin(slots, "a", started));
    expect(await begin(slots, "a", started).catch((error) => error)).toEqual(new SlotsFull("tenant"));
    const free = await begin(slots, "b", started);
    for (let count = 0; count < 2; count += 1) waiting.push(begin(slots, "b", started));
    const refused = await begin(slots, "b", started).catch((error) => error);
    expect(refused).toEqual(new SlotsFull("node"));
    waiting.push(begin(slots, "b", started, { durable: true }));
    const ended = waiting.map(async (one) => (await one)());
    release();
    free();
    await Promise.all(ended);
    expect(started.toSorted()).toEqual(["a", "a", "a", "a", "b", "b", "b", "b"]);
  });

  test("the longest line gives way where the line of the node is full", async () => {
    const slots = new Slots(limits);
    const started: string[] = [];
    const running = [await begin(slots, "a", started), await begin(slots, "b", started)];
    const waiting = ["a", "a", "a", "b", "b"].map((tenant) => begin(slots, tenant, started));
    const quiet = begin(slots, "quiet", started);
    // The last one of the longest line gives way.
    expect(await waiting[2]?.catch((error: unknown) => error)).toEqual(new SlotsFull("node"));
    const ended = [...waiting.filter((_, index) => index !== 2), quiet].map(async (one) => (await one)());
    for (const release of running) release();
    await Promise.all(ended);
    expect(started.toSorted()).toEqual(["a", "a", "a", "b", "b", "b", "quiet"]);
  });

  test("work whose caller leaves gives up its place in the line", async () => {
    const slots = new Slots(limits);
    const started: string[] = [];
    const release = await begin(slots, "a", started);
    const gone = new AbortController();
    const left = begin(slots, "a", started, { signal: gone.signal });
    const stays = begin(slots, "a", started);
    gone.abort(new Error("left"));
    expect(await left.catch((error) => error.message)).toBe("left");
    release();
    (await stays)();
    expect(started).toEqual(["a", "a"]);
    expect(await begin(slots, "a", started, { signal: gone.signal }).catch((error) => error.message)).toBe("left");
  });

  test("work in any order runs once each and within the bounds", async () => {
    const steps = fc.array(fc.record({ tenant: fc.constantFrom("a", "b", "c"), leaves: fc.boolean() }), {
      maxLength: 40,
    });
    await fc.assert(
      fc.asyncProperty(steps, fc.integer({ min: 1, max: 4 }), async (work, count) => {
        const slots = new Slots({ ...limits, slots: count, perTenant: Math.max(1, count - 1) });
        const running = new Map<string, number>();
        let most = 0;
        const outcomes = work.map(async ({ tenant, leaves }) => {
          const gone = new AbortController();
          const taken = slots.take({ tenant, durable: true, signal: gone.signal });
          if (leaves) gone.abort(new Error("left"));
          const release = await taken.catch(() => null);
          if (release === null) return "left";
          running.set(tenant, (running.get(tenant) ?? 0) + 1);
          most = Math.max(
            most,
            [...running.values()].reduce((sum, one) => sum + one, 0),
          );
          expect(running.get(tenant)).toBeLessThanOrEqual(Math.max(1, count - 1));
          await settle();
          running.set(tenant, (running.get(tenant) ?? 0) - 1);
          release();
          return "ran";
        });
        const ended = await Promise.all(outcomes);
        expect(most).toBeLessThanOrEqual(count);
        ended.forEach((outcome, index) => {
          if (!work[index]?.leaves) expect(outcome).toBe("ran");
        });
      }),
      { numRuns: 50 },
    );
  });
});
