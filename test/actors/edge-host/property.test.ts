/** Whatever links, daemons, runs and clocks do, and in whichever order (docs/reference/edge-link.md). */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { idOf, second, World } from "./world.ts";

type Step = (world: World) => void;
const index = fc.integer({ min: 0, max: 4 });
/** Steps that often come behind each other, since what they lead to is rare otherwise. */
const together =
  (...parts: readonly Step[]): Step =>
  (world) => {
    for (const part of parts) {
      part(world);
      world.take();
    }
  };
const begun = (at: number): Step =>
  together(
    (w) => w.connect(false),
    (w) => w.offer(at),
    (w) => w.deliver(),
  );
const isDone = together(
  (w) => w.speak(),
  (w) => w.finishOne(),
  (w) => w.speak(),
);

const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: index.map(begun) },
  { weight: 2, arbitrary: fc.constant(isDone) },
  {
    weight: 1,
    arbitrary: fc.constant(
      together(
        (w) => w.restore(),
        (w) => w.connect(false),
      ),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constant(
      together(
        (w) => w.loseJournal(),
        (w) => w.connect(false),
      ),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constant(
      together(
        (w) => w.cut(),
        (w) => w.connect(true),
        (w) => w.deliver(),
        (w) => w.deliver(),
      ),
    ),
  },
  {
    weight: 4,
    arbitrary: fc.tuple(index, fc.boolean()).map(
      ([at, held]): Step =>
        (w) =>
          w.offer(at, { held }),
    ),
  },
  {
    weight: 3,
    arbitrary: fc.constant<Step>((w) => w.go()),
  },
  {
    weight: 1,
    arbitrary: index.map(
      (at): Step =>
        (w) =>
          w.tell("withdraw", { command_id: idOf(at) }),
    ),
  },
  {
    weight: 1,
    arbitrary: index.map(
      (at): Step =>
        (w) =>
          w.tell("cancel", { command_id: idOf(at), reason: "operator" }),
    ),
  },
  {
    weight: 3,
    arbitrary: fc.boolean().map(
      (keepsOpen): Step =>
        (w) =>
          w.connect(keepsOpen),
    ),
  },
  { weight: 2, arbitrary: fc.constant<Step>((w) => w.cut()) },
  { weight: 8, arbitrary: fc.constant<Step>((w) => w.deliver()) },
  { weight: 8, arbitrary: fc.constant<Step>((w) => w.speak()) },
  { weight: 4, arbitrary: fc.constant<Step>((w) => w.finishOne()) },
  { weight: 1, arbitrary: fc.constant<Step>((w) => w.restart()) },
  { weight: 1, arbitrary: fc.constant<Step>((w) => w.save()) },
  { weight: 1, arbitrary: fc.constant<Step>((w) => w.restore()) },
  { weight: 1, arbitrary: fc.constant<Step>((w) => w.loseJournal()) },
  {
    weight: 1,
    arbitrary: fc.boolean().map(
      (yes): Step =>
        (w) =>
          w.ask("accept", { accepting: yes }),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.boolean().map(
      (healthy): Step =>
        (w) =>
          changed(w, { healthy, accepting: null }),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.boolean().map(
      (accepting): Step =>
        (w) =>
          changed(w, { healthy: null, accepting }),
    ),
  },
  { weight: 2, arbitrary: fc.constant<Step>((w) => void w.sim.fireNext()) },
  {
    weight: 2,
    arbitrary: fc.integer({ min: 1, max: 90 }).map(
      (s): Step =>
        (w) =>
          w.wait(s * second),
    ),
  },
);

function changed(world: World, change: { healthy: boolean | null; accepting: boolean | null }): void {
  if (world.sim.state !== null) world.tell("link_changed", { epoch: world.state.epoch, ...change });
}

test("no command starts twice, each ends once, and slots are kept", () => {
  fc.assert(
    fc.property(fc.array(steps, { minLength: 20, maxLength: 60 }), (history) => {
      const world = new World();
      const offered = new Set<number>();
      for (const step of history) {
        step(world);
        world.take();
        for (const { idx } of world.sim.state === null ? [] : world.state.commands) offered.add(idx);
      }
      // In the end the host goes away for long: what has not ended does.
      world.cut();
      if (world.sim.state !== null) world.tell("link_closed", { epoch: world.state.epoch, longer: false });
      for (let fired = 0; fired < 20 && world.sim.fireNext(); fired++);
      for (const count of world.starts.values()) expect(count).toBe(1);
      if (world.sim.state !== null) expect(world.state.commands).toEqual([]);
      const ended = world.ended.map(({ command_id }) => command_id);
      expect(new Set(ended).size).toBe(ended.length);
      for (const at of offered) expect(ended).toContain(idOf(at));
    }),
    { numRuns: 400 },
  );
});

test("the first end of a command stands on record", () => {
  fc.assert(
    fc.property(fc.array(steps, { minLength: 20, maxLength: 60 }), (history) => {
      const world = new World();
      for (const step of history) {
        step(world);
        world.take();
      }
      for (const { command_id, status } of world.sim.state === null ? [] : world.ended) {
        const record = world.recordOf(command_id);
        const end = record.findIndex((fact) => "status" in fact && fact.status === status);
        const later = record.slice(end + 1);
        expect(end).toBeGreaterThanOrEqual(0);
        expect(later.filter((fact) => !("late" in fact))).toEqual([]);
      }
    }),
    { numRuns: 150 },
  );
});
