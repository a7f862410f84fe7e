/** Which runs go on in another version of their workflow, and how. */
import { describe, expect, test } from "bun:test";
import type { Json } from "../../../../../actors/kernel/json.ts";
import type { Definition, State } from "../../../../../actors/workflow/definition.ts";
import { runElement } from "../../../../../actors/workflow/run/record/record.ts";
import { definitionOf, human, noop, runId, system, ways } from "../../fixture.ts";
import { RunStory } from "../../scenario.ts";

const ask = human(ways(["approved", "OLD"]));
const states: Record<string, State> = { ASK: ask, OLD: noop() };
const next = (change: Record<string, State | null>, more: Partial<Definition> = {}) => {
  const all = Object.entries({ ...states, NEW: noop(), ...change });
  const kept = Object.fromEntries(all.flatMap(([name, state]) => (state === null ? [] : [[name, state]])));
  return definitionOf(kept, { version: "2.0.0", ...more });
};
const by = {
  actor: { kind: "user", realm: null, user_id: "ada", role: null, key_id: null, name: null },
  ip: null,
  user_agent: null,
  request_id: null,
};
const target = "0190f3c2-6d1e-7a55-9c1f-2f6d0c5b8e99";
const migrate = (story: RunStory, definition: Definition) =>
  story.ask("migrate", {
    to: { workflow_id: target, version: definition.version, definition: definition as unknown as Json, ceilings: [] },
    by,
  });

test("a run that waits goes on in the new version, once, on record", () => {
  const story = new RunStory(definitionOf(states, { context: { c: 1 } })).start();
  const definition = next({ ASK: human(ways(["approved", "NEW"])) }, { context: { c: 2 } });
  expect(migrate(story, definition)).toEqual({ outcome: "migrated" });
  const length = story.events.length;
  expect(migrate(story, definition)).toEqual({ outcome: "migrated" });
  expect(story.events).toHaveLength(length);
  expect(story.event("WorkflowExecutionMigrated").details).toEqual({ from_version: "1.2.0", to_version: "2.0.0" });
  expect(story.state.header).toMatchObject({ workflow_id: target, workflow_version: "2.0.0" });
  expect(story.blackboard).toMatchObject({ c: 1, workflow: { version: "2.0.0", context: { c: 2 } } });
  expect(story.sim.facts).toMatchObject([
    { name: "audit", fact: { action: "execution.migrated", target: { id: runId }, details: { to_version: "2.0.0" } } },
  ]);
  story.decide("approved");
  expect([story.state.status, story.state.current_state]).toEqual(["completed", "NEW"]);
});

test("the security context shown is that of the version, else that of the start", () => {
  const story = new RunStory(definitionOf(states, { security_context: "old" }), {
    header: { security_context: "mine" },
  });
  const shown = () => runElement({ execution_id: runId, tenant_id: "north" }, story.state).security_context;
  story.start();
  expect(shown()).toBe("old");
  migrate(story, next({}, { security_context: "new" }));
  expect(shown()).toBe("new");
  migrate(story, next({}, { version: "3.0.0" }));
  expect(shown()).toBe("mine");
});

describe("refused", () => {
  const waiting = () => new RunStory(definitionOf(states)).start();
  const undone = () => {
    const PAY = { ...noop(["always", "ASK"]), compensate: "OLD" } as State;
    return new RunStory(definitionOf({ PAY, ...states })).start();
  };
  const shared = { name: "data", storage_class: "persistent", size_limit_bytes: null } as const;
  const rows: [string, () => RunStory, Definition, string][] = [
    ["at work", () => new RunStory(definitionOf({ RUN: system("true", []) })).start(), next({}), "not_waiting"],
    ["over", () => waiting().decide("rejected"), next({}), "not_waiting"],
    [
      "between two states",
      () => {
        const story = waiting();
        story.ask("pause");
        return story.decide("approved");
      },
      next({}),
      "not_waiting",
    ],
    [
      "undoing what it did",
      () => {
        const PAY = { ...noop(["always", "ASK"]), compensate: "UNDO" } as State;
        return new RunStory(definitionOf({ PAY, ...states, UNDO: human([]) })).start().decide("rejected");
      },
      next({}),
      "not_waiting",
    ],
    ["its state is gone", waiting, next({ ASK: null }), "state_missing"],
    ["what it did would be undone by no state", undone, next({ OLD: null }), "state_missing"],
    ["what it did is unknown", undone, next({}), "state_missing"],
    ["its state is of another kind", waiting, next({ ASK: noop() }), "state_changed"],
    ["it would ask something else", waiting, next({ ASK: human([], { prompt: "Stop?" }) }), "state_changed"],
    ["its approvers are others", waiting, next({ ASK: human([], { approvers: ["user:bob"] }) }), "state_changed"],
    [
      "its volumes are others",
      waiting,
      next({}, { storage: { workspace: null, shared_volumes: [shared] } }),
      "state_changed",
    ],
  ];
  for (const [name, begin, definition, code] of rows) {
    test(name, () => {
      const story = begin();
      const before = JSON.stringify([story.state, story.events]);
      expect(migrate(story, definition)).toMatchObject({ outcome: "refused", code });
      expect(JSON.stringify([story.state, story.events])).toBe(before);
    });
  }

  test("a run that there is not", () => {
    expect(migrate(new RunStory(definitionOf(states)), next({}))).toEqual({ outcome: "unknown" });
  });
});
