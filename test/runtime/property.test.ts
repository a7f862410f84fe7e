/** Random messages over several counters: the runtime comes to the same end as a fold in memory. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Json } from "../../actors/kernel/json.ts";
import { until } from "../harness/until.ts";
import { at, Harness } from "./harness.ts";

const harness = new Harness();

type Step = readonly [key: number, type: "add" | "note" | "get" | "end" | "fail", label: string];
const step: fc.Arbitrary<Step> = fc.tuple(
  fc.nat(4),
  fc.constantFrom("add", "add", "note", "note", "get", "end", "fail"),
  fc.string({ unit: "grapheme", maxLength: 8 }),
);

interface Model {
  count: number;
  seen: string[];
  notes: string[];
}

function fold(steps: readonly Step[]): Map<number, Model> {
  const models = new Map<number, Model>();
  for (const [key, type, label] of steps) {
    if (type === "end") models.delete(key);
    if (type !== "add" && type !== "note") continue;
    const model = models.get(key) ?? { count: 0, seen: [], notes: [] };
    model.count++;
    (type === "add" ? model.seen : model.notes).push(label);
    models.set(key, model);
  }
  return models;
}

function bodyOf(type: Step[1], label: string): Json {
  if (type === "add") return { label };
  return type === "note" ? { text: label } : {};
}

test("any sequence of messages folds as it would in memory", async () => {
  const nodes = await harness.pair({ actorIdleMs: 50, cachedActors: 3 });
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), fc.nat(1), async (steps, sender) => {
      run++;
      const { runtime } = nodes[sender] as (typeof nodes)[0];
      const address = (key: number) => at(`run-${run}-${key}`);
      await Promise.all(steps.map(([key, type, label]) => runtime.tell(address(key), type, bodyOf(type, label))));
      const models = fold(steps);
      for (const key of [0, 1, 2, 3, 4]) {
        const model = models.get(key);
        // Behind everything sent before.
        const state = (await runtime.ask(address(key), "get", {})) as { count: number; seen: string[] } | null;
        const notes = (await runtime.log(address(key), "events", 0, 1000)).map(({ seq, entry }) => [
          seq,
          (entry as { note: string }).note,
        ]);
        expect(state === null ? null : { count: state.count, seen: state.seen }).toEqual(
          model === undefined ? null : { count: model.count, seen: model.seen },
        );
        expect(notes).toEqual((model?.notes ?? []).map((note, index) => [index + 1, note]));
      }
    }),
    { numRuns: 60 },
  );
  await until(() => nodes.every(({ runtime }) => runtime.counts().backlog === 0));
});
