/** Tool calls of what a state started wait for people: its clock stands still meanwhile (docs/reference/executions.md). */
import { describe, expect, test } from "bun:test";
import { Cast } from "../cast.ts";
import { agent, subworkflow, ways } from "../fixture.ts";

const followed = ways(["on_success", "DONE"], ["on_failure", "SORRY"]);
const minute = 60_000;

function currentOf({ state: { current } }: Cast) {
  if (current === null) throw new Error("the run has ended");
  return current;
}

/** A run in an Agent state of ten minutes, whose agent has begun. */
function begun(): { readonly cast: Cast; readonly child: string; readonly due: number } {
  const cast = Cast.of(agent(followed, { timeout_ms: 10 * minute }), { input: { text: "write" } });
  const { only } = cast;
  cast.sim.succeed(`agent:${only.child_execution_id}`, { agent_id: "a" });
  return { cast, child: only.child_execution_id, due: currentOf(cast).deadline_at ?? 0 };
}

/** The agent's calls all wait, from now on for at most so long; null: they do no longer. */
function waits(cast: Cast, child: string, most_ms: number | null): void {
  const { now } = cast.sim;
  const waiting = { approval_id: "ap", tool: "cmd.run", expires_at: now + 60 * minute };
  const news = most_ms === null ? { waiting: null, since: null, most_ms: 0 } : { waiting, since: now, most_ms };
  cast.tell("child_waiting", { child_execution_id: child, ...news });
}

describe("the timeout of an Agent state", () => {
  test("stands still while the agent's calls wait, and goes on afterwards", () => {
    const { cast, child, due } = begun();
    cast.sim.now += minute;
    waits(cast, child, 7 * 24 * 60 * minute);
    cast.sim.now += 60 * minute;
    cast.sim.tell("state_overdue", { entry: currentOf(cast).entry });
    expect(cast.state.current_state).toBe("WORK");
    waits(cast, child, null);
    expect(currentOf(cast).deadline_at).toBe(due + 60 * minute);
    expect([...cast.sim.timers.values()].map(({ at }) => at)).toContain(due + 60 * minute);
    cast.sim.now = due + 60 * minute;
    cast.sim.tell("state_overdue", { entry: currentOf(cast).entry });
    cast.settle();
    expect(cast.way).toContain("SORRY");
  });

  test("stands still no longer than the agent's clocks may", () => {
    const { cast, child, due } = begun();
    waits(cast, child, 5 * minute);
    expect(currentOf(cast).deadline_at).toBe(due + 5 * minute);
    cast.sim.now += 60 * minute;
    waits(cast, child, null);
    expect(currentOf(cast).deadline_at).toBe(due + 5 * minute);
  });

  test("is not moved by an execution that is none of its own", () => {
    const { cast, due } = begun();
    waits(cast, "0f7a4f7e-6a0c-4a53-9a39-0e6f1d0b8a11", 5 * minute);
    expect(currentOf(cast).deadline_at).toBe(due);
  });
});

test("a run above hears of it in turn", () => {
  const cast = Cast.of(subworkflow(followed, { timeout_ms: 10 * minute }), {
    header: { parent: { execution_id: "above", state_name: "WORK", waits: true } } as never,
  });
  const start = cast.sim.performed.find(({ activity }) => activity === "workflow.start");
  if (start === undefined) throw new Error("no run was started");
  const { child_execution_id: child } = start.input as { child_execution_id: string };
  const due = currentOf(cast).deadline_at ?? 0;
  waits(cast, child, 5 * minute);
  expect(currentOf(cast).deadline_at).toBe(due + 5 * minute);
  const told = cast.sim.told.flatMap((effect) =>
    effect.effect === "tell" && effect.message.type === "child_waiting" ? [[effect.key, effect.message.body]] : [],
  );
  expect(told).toEqual([["above", expect.objectContaining({ most_ms: 5 * minute })]]);
});
