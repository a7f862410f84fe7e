/** The life of a swarm (docs/reference/swarms.md). */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { type SwarmState, statusOf, swarm } from "../../../actors/swarm/swarm.ts";
import { Simulation } from "../simulate.ts";

const actor = { kind: "operator", realm: null, user_id: "ada", role: null, key_id: null, name: null };
const by = { actor, ip: null, user_agent: null, request_id: null };
const begun = () => new Simulation(swarm as never);
const stateOf = (sim: Simulation) => sim.state as unknown as SwarmState;
const told = (sim: Simulation) => sim.told.map((one) => ("key" in one ? one.key : null));

function news(sim: Simulation, type: string, id?: string) {
  sim.tell(type, id === undefined ? {} : { execution_id: id });
}

test("it dissolves once its founder and its last member have ended", () => {
  const sim = begun();
  news(sim, "joined", "a");
  expect(statusOf(stateOf(sim))).toBe("active");
  news(sim, "joined", "b");
  news(sim, "left", "a");
  news(sim, "founder_ended");
  expect(statusOf(stateOf(sim))).toBe("dissolving");
  news(sim, "left", "b");
  expect(stateOf(sim)).toMatchObject({
    dissolved_at: sim.now,
    members: [
      { id: "a", ended: true },
      { id: "b", ended: true },
    ],
  });
  expect(told(sim)).toEqual([]);
});

test("members of one whose founder goes on may all end", () => {
  const sim = begun();
  news(sim, "joined", "a");
  news(sim, "left", "a");
  expect(statusOf(stateOf(sim))).toBe("active");
});

test("cancelling it cancels those that run, and those that were on their way", () => {
  const sim = begun();
  for (const id of ["a", "b"]) news(sim, "joined", id);
  news(sim, "left", "a");
  expect(sim.askNow("cancel", { by } as never)).toEqual({ outcome: "cancelled" });
  expect(sim.facts).toMatchObject([{ fact: { action: "swarm.cancelled", details: { members: 1 } } }]);
  news(sim, "joined", "c");
  expect(told(sim)).toEqual(["b", "c"]);
  for (const id of ["b", "c"]) news(sim, "left", id);
  expect(statusOf(stateOf(sim))).toBe("dissolved");
  expect(sim.askNow("cancel", { by } as never)).toEqual({ outcome: "dissolved" });
});

test("one without a member is none, and cannot be cancelled", () => {
  const sim = begun();
  expect(sim.askNow("cancel", { by } as never)).toEqual({ outcome: "unknown" });
  news(sim, "founder_ended");
  expect(sim.askNow("cancel", { by } as never)).toEqual({ outcome: "unknown" });
  news(sim, "founder_erased");
  expect(sim.state).toBeNull();
});

test("it outlives its founder's record until it is over", () => {
  const sim = begun();
  news(sim, "joined", "a");
  news(sim, "founder_erased");
  expect(statusOf(stateOf(sim))).toBe("dissolving");
  news(sim, "left", "a");
  expect(sim.state).toBeNull();
});

test("news of members in any order end in a dissolved swarm with all of them", () => {
  const ids = ["a", "b", "c", "d"];
  const order = fc.shuffledSubarray(["end", ...ids, ...ids], { minLength: 9, maxLength: 9 });
  fc.assert(
    fc.property(order, (sequence) => {
      const sim = begun();
      const joined = new Set<string>();
      let wasDissolved = false;
      for (const one of sequence) {
        if (one === "end") news(sim, "founder_ended");
        else news(sim, joined.has(one) ? "left" : "joined", one);
        joined.add(one);
        const is = statusOf(stateOf(sim)) === "dissolved";
        expect(is || !wasDissolved).toBeTrue();
        wasDissolved = is;
      }
      expect(wasDissolved).toBeTrue();
      expect(
        stateOf(sim)
          .members.map(({ id, ended }) => [id, ended])
          .sort(),
      ).toEqual(ids.map((id) => [id, true]));
    }),
  );
});
