/** The blackboard of any visit, restored from a run's logs, is the one that the run had then. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Json } from "../../../../../actors/kernel/json.ts";
import type { State } from "../../../../../actors/workflow/definition.ts";
import { systemKeys } from "../../../../../actors/workflow/run/blackboard/variables.ts";
import type { StoredEvent } from "../../../../../actors/workflow/run/record/events.ts";
import type { StoredWrites } from "../../../../../actors/workflow/run/record/writes.ts";
import { type Restored, Restoring } from "../../../../../actors/workflow/run/start/restoring.ts";
import { definitionOf, human, noop, subworkflow, ways, writes } from "../../fixture.ts";
import { RunStory } from "../../scenario.ts";

async function restored(story: RunStory, target: { state: string; visit: number }): Promise<Restored> {
  const restoring = new Restoring(target);
  const waiting = [...(story.sim.log("writes") as unknown as StoredWrites[])];
  const upTo = async (entry: number) => {
    const later = waiting.findIndex((one) => one.entry > entry);
    return waiting.splice(0, later < 0 ? waiting.length : later);
  };
  for (const event of story.events) {
    await restoring.event(event, upTo);
    if (restoring.restored !== null) return restoring.restored;
  }
  return restoring.end();
}

/** What a run is begun with anew: the keys of the system are made then. */
const withoutSystem = (blackboard: { readonly [key: string]: Json }) =>
  Object.fromEntries(Object.entries(blackboard).filter(([key]) => key === "human" || !systemKeys.includes(key)));

const feedback = "told {{state.visit}}";
const states: Record<string, State> = {
  A: { ...writes({ a: "{{a}}{{state.visit}}", shared: "A" }, ["always", "ASK", feedback]), max_state_visits: 9 },
  ASK: { ...human(ways(["rejected", "SUB"], ["approved", "A"])), max_state_visits: 9 },
  SUB: { ...subworkflow(ways(["on_success", "ASK", feedback], ["on_failure", "B"])), max_state_visits: 9 } as State,
  B: { ...noop(["always", "A"]), max_state_visits: 9 },
};
const undecided = { feedback: null, response: null, decision: null, approver: null };
const acts = fc.constantFrom("approved", "rejected", "well", "badly");

function step(story: RunStory, act: string): void {
  const { current } = story.state;
  if (current?.work.of === "human") story.decide(act === "rejected" ? "rejected" : "approved", { feedback: act });
  else if (current?.work.of === "subworkflow") {
    const status = act === "badly" ? "failed" : "completed";
    const end = { workflow_id: "w", status, iterations: 1, final_state: "X", output: act, final_output: null };
    story.tell("run_ended", {
      ...end,
      child_execution_id: current.work.child,
      blackboard: { of: act },
      error: null,
      error_code: null,
    });
  }
}

test("every visit of a run of any length", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(acts, { maxLength: 12 }), fc.constantFrom(null, "resumed"), async (list, kind) => {
      const blackboard = { old: 1, a: "r", human: { feedback: "earlier" } };
      const resume = kind === null ? null : { blackboard, outputs: [], state: "A" };
      const story = new RunStory(definitionOf(states, { context: { c: [1] }, max_total_transitions: 40 }), {
        overrides: { given: true, a: "s" },
        resume: resume as Json,
      });
      const seen = new Map<string, { blackboard: Record<string, Json>; feedback: Json }>();
      const look = () => {
        const { current } = story.state;
        const [name, before] = [current?.name ?? "", story.sim.state];
        if (current === null || seen.has(`${name} ${current.visit}`) || before === null) return;
        // An `update_blackboard` has written already when its entry is over.
        if (name === "A") return;
        const { feedback } = story.blackboard.state as { feedback: Json };
        seen.set(`${name} ${current.visit}`, { blackboard: withoutSystem(story.blackboard), feedback });
      };
      story.enter();
      look();
      for (const act of [...list, null]) {
        while (story.hearItself()) look();
        if (act !== null) step(story, act);
        look();
      }
      for (const [visit, { blackboard, feedback }] of seen) {
        const [state = "", count] = visit.split(" ");
        const found = await restored(story, { state, visit: Number(count) });
        if (found === "not_recorded") throw new Error(visit);
        // A start makes the key where no blackboard brings it.
        expect(withoutSystem({ human: undecided, ...found.blackboard })).toEqual(blackboard);
        expect((found.blackboard.state as { feedback?: Json } | undefined)?.feedback ?? null).toEqual(feedback);
      }
    }),
    { numRuns: 60 },
  );
});

test("results of the same value are held once, and small states write nothing beside their results", () => {
  const story = new RunStory(definitionOf({ SUB: states.SUB as State, B: noop(), ASK: noop() })).start();
  step(story, "well");
  expect(story.sim.log("writes")).toMatchObject([
    { results: ["inner"], values: {} },
    { values: { state: { name: "ASK" } } },
  ]);
});

test("a log whose beginning is gone restores nothing", async () => {
  const restoring = new Restoring({ state: "A", visit: 1 });
  const [, entered] = new RunStory(definitionOf(states)).start().events as StoredEvent[];
  await restoring.event(entered as StoredEvent, async () => []);
  expect(restoring.end()).toBe("not_recorded");
});
