/** How partitions are shared: all are owned, nearly evenly, and by nodes that know what lies in them. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { movesOf, type WillingNode } from "../../../src/runtime/ownership/shares.ts";
import type { Need } from "../../../src/runtime/versions/knowledge.ts";

const kinds = ["a", "b"];
const cluster = fc.record({
  partitions: fc.integer({ min: 1, max: 40 }),
  nodes: fc.array(fc.subarray(kinds), { minLength: 1, maxLength: 5 }),
  needs: fc.array(fc.constantFrom<string | null>("a", "b", "c", null), { maxLength: 40 }),
});

const nodeOf = (known: readonly string[], index: number): WillingNode => ({
  id: `n${index}`,
  knowledge: {
    kinds: Object.fromEntries(known.map((kind) => [kind, { version: 1, messages: [] }])),
    activities: {},
    effects: [],
  },
});

test("each partition comes to rest at a node that knows it, if any does", () => {
  fc.assert(
    fc.property(cluster, ({ partitions, nodes, needs: wanted }) => {
      const willing = nodes.map(nodeOf);
      const needs = new Map<number, readonly Need[]>();
      for (const [partition, kind] of wanted.slice(0, partitions).entries()) {
        if (kind !== null) needs.set(partition, [["kind", kind]]);
      }
      const owners: (string | null)[] = Array.from({ length: partitions }, () => null);
      const round = () => {
        let moved = 0;
        for (const { id } of willing) {
          const where = (owner: string | null) => [...owners.keys()].filter((one) => owners[one] === owner);
          const moves = movesOf({ node: id, willing, partitions, mine: where(id), free: where(null), needs });
          for (const one of moves.take) owners[one] = id;
          for (const one of moves.giveUp) owners[one] = null;
          moved += moves.take.length + moves.giveUp.length;
        }
        return moved;
      };
      for (let rounds = 0; rounds < 5; rounds++) round();
      expect(round()).toBe(0);
      expect(owners).not.toContain(null);
      for (const [partition, [need]] of needs) {
        const kind = need?.[1] ?? "";
        const able = willing.filter(({ knowledge }) => kind in knowledge.kinds).map(({ id }) => id);
        if (able.length > 0) expect(able).toContain(owners[partition] ?? "");
      }
      const counts = willing.map(({ id }) => owners.filter((owner) => owner === id).length);
      if (needs.size === 0) expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
    }),
  );
});
