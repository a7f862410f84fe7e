/** Whatever the definition, whatever is delivered, in whatever order and however often: the rules of a run hold. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Json } from "../../../actors/kernel/json.ts";
import type { Transition } from "../../../actors/workflow/definition/parts.ts";
import type { State } from "../../../actors/workflow/definition.ts";
import {
  agent,
  containerRun,
  definitionOf,
  human,
  noop,
  parallelAgents,
  parallelContainers,
  runId,
  subworkflow,
  system,
  ways,
  writes,
} from "./fixture.ts";
import { RunStory } from "./scenario.ts";

const names = ["A", "B", "C", "D", "constructor"] as const;
const conditions = [
  "always",
  "on_success",
  "on_failure",
  "on_timeout",
  "approved",
  "rejected",
  "exit_code_zero",
  "exit_code_non_zero",
] as const;

const transitions: fc.Arbitrary<Transition[]> = fc
  .array(
    fc.record({
      condition: fc.constantFrom(...conditions),
      target: fc.constantFrom(...names),
      feedback: fc.constantFrom(undefined, "from {{state.name}}", "{{state.feedback}}!"),
    }),
    { maxLength: 3 },
  )
  .map((list) =>
    list.flatMap(({ condition, target, feedback }) =>
      ways(feedback === undefined ? [condition, target] : [condition, target, feedback]),
    ),
  );

const state: fc.Arbitrary<State> = fc
  .tuple(
    fc.constantFrom(
      "noop",
      "write",
      "refused",
      "human",
      "blank",
      "command",
      "agent",
      "agents",
      "container",
      "containers",
      "sub",
      "free",
    ),
    transitions,
    fc.integer({ min: 1, max: 4 }),
    fc.constantFrom("completed" as const, "failed" as const),
    fc.constantFrom(null, 1_000, 60_000),
  )
  .map(([kind, list, max_state_visits, outcome, timeout_ms]) => {
    const change = { max_state_visits, outcome, transitions: list };
    switch (kind) {
      case "noop":
        return { ...noop(), ...change };
      case "write":
        return { ...writes({ counter: "{{state.visit}}{{counter}}" }), ...change };
      case "refused":
        return { ...writes({ execution: "x" }), ...change };
      case "human":
        return { ...human(list), ...change };
      case "blank":
        return { ...human(list, { prompt: "{{nothing}}" }), ...change };
      case "agents":
        return { ...parallelAgents(list), ...change, timeout_ms } as State;
      case "container":
        return { ...containerRun(list), ...change };
      case "containers":
        return { ...parallelContainers(list), ...change };
      case "sub":
        return { ...subworkflow(list), ...change, timeout_ms } as State;
      case "free":
        return { ...subworkflow(list, { mode: "fire_and_forget", result_key: null }), ...change } as State;
      case "command":
        return { ...system("true {{input.x}}", list), ...change };
      default:
        return { ...agent(list), ...change, timeout_ms } as State;
    }
  });

const definition = fc
  .tuple(fc.tuple(state, state, state, state, state), fc.integer({ min: 1, max: 12 }))
  .map(([states, max_total_transitions]) =>
    definitionOf(Object.fromEntries(names.map((name, at) => [name, states[at] as State])), { max_total_transitions }),
  );

const acts = [
  "start",
  "itself",
  "itself",
  "itself",
  "itself",
  "repeat",
  "approve",
  "reject",
  "time_out_approval",
  "old_decision",
  "command_ok",
  "command_bad",
  "command_broken",
  "agent_started",
  "agent_refused",
  "agent_ended",
  "agent_failed",
  "run_started",
  "run_refused",
  "run_ended",
  "run_failed",
  "old_outcome",
  "timer",
  "timer_early",
  "pause",
  "resume",
  "resume",
  "cancel",
  "erase",
] as const;
type Act = (typeof acts)[number];
const rare = new Set<Act>(["cancel", "erase", "timer_early", "old_outcome"]);
const act = fc.oneof(...acts.map((one) => ({ weight: rare.has(one) ? 1 : 8, arbitrary: fc.constant(one) })));

const agentId = "0190f3c2-6d1e-7a55-9c1f-2f6d0c5b8e33";

/** One message to the run, if there is an occasion for it. */
class Play {
  private last: { type: string; body: Json } | null = null;
  private erased = false;

  constructor(readonly story: RunStory) {}

  step(what: Act): void {
    const { story } = this;
    const { sim } = story;
    if (what === "start" && !this.erased) sim.askNow("start", story.startBody());
    if (sim.state === null) return;
    switch (what) {
      case "itself":
        story.hearItself();
        break;
      case "repeat":
        this.repeat();
        break;
      case "approve":
        this.decide("approved", {});
        break;
      case "reject":
        this.decide("rejected", {});
        break;
      case "time_out_approval":
        this.decide("timed_out", { timeout: true, error: "human_input_timeout", response: "", decided_by: null });
        break;
      case "old_decision":
        this.decideOld();
        break;
      case "command_ok":
        this.command(0);
        break;
      case "command_bad":
        this.command(3);
        break;
      case "command_broken":
        this.end("workflow.command", (id) => ({ id, ok: false, code: "unknown_activity", message: "x" }));
        break;
      case "agent_started":
        this.end("workflow.agent", (id) => ({ id, ok: true, value: { agent_id: agentId } }));
        break;
      case "agent_refused":
        this.end("workflow.agent", (id) => ({ id, ok: false, code: "agent_not_found", message: "x" }));
        break;
      case "agent_ended":
        this.child("completed", "done", null);
        break;
      case "agent_failed":
        this.child("failed", null, "iteration_failed");
        break;
      case "run_started":
        this.end("workflow.start", (id) => ({ id, ok: true, value: { workflow_id: agentId, workflow_name: "inner" } }));
        break;
      case "run_refused":
        this.end("workflow.start", (id) => ({ id, ok: false, code: "workflow_not_found", message: "x" }));
        break;
      case "run_ended":
        this.inner("completed");
        break;
      case "run_failed":
        this.inner("failed");
        break;
      case "old_outcome":
        this.oldOutcome();
        break;
      case "timer":
        sim.fireNext();
        break;
      case "timer_early":
        sim.tell("state_overdue", { entry: story.state.transition_count });
        break;
      case "erase":
        sim.askNow("erase", {});
        this.erased = true;
        break;
      case "cancel":
        sim.askNow("cancel", { reason: "enough" });
        break;
      case "pause":
      case "resume":
        sim.askNow(what, {});
        break;
      default:
    }
  }

  private tell(type: string, body: Json): void {
    this.last = { type, body };
    this.story.sim.tell(type, body);
  }

  /** The same message once more changes nothing at all. */
  private repeat(): void {
    const { sim } = this.story;
    if (this.last === null) return;
    const before = JSON.stringify([sim.state, sim.log(), sim.told, sim.performed.length]);
    sim.tell(this.last.type, this.last.body);
    expect(JSON.stringify([sim.state, sim.log(), sim.told, sim.performed.length])).toBe(before);
  }

  private decide(decision: string, change: Record<string, Json>): void {
    const work = this.story.state.current?.work;
    if (work?.of !== "human") return;
    this.tell("approval_decided", this.decision(work.approval_id, decision, change));
  }

  private decision(approval_id: string, decision: string, change: Record<string, Json>): Json {
    const failed = decision !== "approved";
    return {
      approval_id,
      status: decision,
      via: "approve",
      decided_at: "2031-05-02T06:00:00.000Z",
      result: { status: failed ? "failed" : "success", decision, response: decision, approval_id, ...change },
    };
  }

  private decideOld(): void {
    const current = this.story.state.current?.work;
    const old = this.story.toldOf("open").find(({ key }) => current?.of !== "human" || key !== current.approval_id);
    if (old !== undefined) this.unheard("approval_decided", this.decision(old.key, "approved", {}));
  }

  /** News that nobody waits for: the run stays as it is. */
  private unheard(type: string, body: Json): void {
    const { sim } = this.story;
    const before = JSON.stringify([sim.state, sim.log()]);
    sim.tell(type, body);
    expect(JSON.stringify([sim.state, sim.log()])).toBe(before);
  }

  private command(exit_code: number): void {
    const value = {
      status: exit_code === 0 ? "success" : "failed",
      exit_code,
      stdout: "out",
      stderr: "",
      duration_ms: 5,
      timed_out: false,
      truncated: false,
      attempts: 1,
      error: null,
      warnings: [],
    };
    this.end("workflow.command", (id) => ({ id, ok: true, value }));
  }

  private end(activity: string, outcomeOf: (id: string) => Json): void {
    const [work] = this.story.sim.underWay(activity);
    if (work === undefined) return;
    this.story.sim.activities.delete(work.id);
    // Only its first outcome is heard; a start may be heard before or after its end.
    if (activity !== "workflow.command") this.story.sim.tell(work.then, outcomeOf(work.id));
    else this.tell(work.then, outcomeOf(work.id));
  }

  private child(status: string, output: string | null, error_code: string | null): void {
    const work = this.story.state.current?.work;
    const child = work !== undefined && "children" in work ? work.children.at(-1) : undefined;
    if (child === undefined) return;
    this.tell("child_ended", { child_execution_id: child.id, agent_id: agentId, status, output, error_code });
  }

  private inner(status: string): void {
    const work = this.story.state.current?.work;
    if (work?.of !== "subworkflow") return;
    this.tell("run_ended", {
      child_execution_id: work.child,
      workflow_id: agentId,
      status,
      iterations: 1,
      final_state: "X",
      output: { status: "success" },
      final_output: null,
      blackboard: {},
      error: status === "failed" ? "It broke" : null,
      error_code: status === "failed" ? "broke" : null,
    });
  }

  private oldOutcome(): void {
    const { sim, state } = this.story;
    const gone = sim.performed.find(({ id }) => !sim.activities.has(id) && id !== workId(state.current?.work));
    if (gone?.then !== "command_ended") return;
    this.unheard(gone.then, { id: gone.id, ok: false, code: "late", message: "late" });
  }
}

function workId(work: unknown): string | undefined {
  return (work as { activity?: string } | undefined)?.activity;
}

test("a run keeps its rules in any sequence of messages", () => {
  fc.assert(
    fc.property(definition, fc.array(act, { maxLength: 60 }), (sample, list) => {
      const story = new RunStory(sample);
      const play = new Play(story);
      play.step("start");
      for (const what of list) {
        play.step(what);
        story.check();
      }
    }),
    { numRuns: 400 },
  );
});

test("nothing comes after the end", () => {
  fc.assert(
    fc.property(
      definition,
      fc.array(act, { maxLength: 30 }),
      fc.array(act, { maxLength: 20 }),
      (sample, list, more) => {
        const story = new RunStory(sample);
        const play = new Play(story);
        play.step("start");
        for (const what of list) play.step(what === "erase" ? "itself" : what);
        story.ask("cancel", { reason: null });
        const [state, log] = [JSON.stringify(story.state), story.types.length];
        for (const what of more) {
          if (what === "erase") continue;
          play.step(what);
          expect(JSON.stringify(story.state)).toBe(state);
          expect(story.types.length).toBe(log);
        }
        expect(story.sim.key).toBe(runId);
      },
    ),
    { numRuns: 200 },
  );
});
