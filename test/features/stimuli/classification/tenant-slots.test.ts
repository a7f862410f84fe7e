import { expect, test } from "bun:test";
import fc from "fast-check";
import { createTenantSlots } from "../../../../src/features/stimuli/classification/tenant-slots.ts";

test("a bounded number per tenant goes on at once, in order, and all are done", () => {
  const step = fc.record({ tenant: fc.constantFrom("a", "b"), leaves: fc.nat(), isWanted: fc.boolean() });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 3 }), fc.array(step, { maxLength: 40 }), (most, steps) => {
      const turns = createTenantSlots(most);
      const going: { tenant: string; number: number; leave: () => void }[] = [];
      const gone: Record<string, number[]> = { a: [], b: [] };
      for (const [number, { tenant, leaves, isWanted }] of steps.entries()) {
        const one = { tenant, number, leave: () => {} };
        let isGoing = false;
        one.leave = turns.take(tenant, () => {
          isGoing = true;
          gone[tenant]?.push(number);
          going.push(one);
        });
        if (!isWanted && !isGoing) one.leave();
        expect(going.filter((other) => other.tenant === tenant).length).toBeLessThanOrEqual(most);
        if (leaves % 3 === 0 && going.length > 0) {
          const [left] = going.splice(leaves % going.length, 1);
          left?.leave();
          left?.leave();
        }
      }
      while (going.length > 0) going.shift()?.leave();
      for (const order of Object.values(gone)) expect(order).toEqual([...order].sort((x, y) => x - y));
      const wanted = steps.filter(({ isWanted }) => isWanted).length;
      expect(Object.values(gone).flat().length).toBeGreaterThanOrEqual(wanted);
    }),
  );
});
