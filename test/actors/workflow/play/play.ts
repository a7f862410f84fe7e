/** Plays a run: one message after the other, each where there is an occasion for it, and what must hold meanwhile. */
import { expect } from "bun:test";
import fc from "fast-check";
import type { Json } from "../../../../actors/kernel/json.ts";
import { type Place, placesOf } from "../../../../actors/workflow/run/moving/places.ts";
import { bufferedMs } from "../../../../actors/workflow/run/signals/signals.ts";
import type { Work } from "../../../../actors/workflow/run/work.ts";
import { decided } from "../fixture.ts";
import type { RunStory } from "../scenario.ts";

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
  "signal",
  "other_signal",
  "response",
  "stimulus",
  "stimulus_found",
  "too_many_waits",
  "timer",
  "timer_early",
  "pause",
  "resume",
  "resume",
  "cancel",
  "erase",
] as const;
export type Act = (typeof acts)[number];
const rare = new Set<Act>(["cancel", "erase", "timer_early", "old_outcome"]);
/** What is done, and to which of several that it fits. */
export const act = fc.tuple(
  fc.oneof(...acts.map((one) => ({ weight: rare.has(one) ? 1 : 8, arbitrary: fc.constant(one) }))),
  fc.nat({ max: 5 }),
);

const agentId = "0190f3c2-6d1e-7a55-9c1f-2f6d0c5b8e33";

/** One message to the run, if there is an occasion for it. */
export class Play {
  private last: { type: string; body: Json } | null = null;
  private erased = false;
  private pick = 0;
  private count = 0;
  /** Signals that were accepted, by what they carry, and when. */
  private readonly signals = new Map<string, number>();
  /** Children that are over, by what the run was told. */
  private readonly over = new Set<string>();

  constructor(readonly story: RunStory) {}

  step(what: Act, pick = 0): void {
    const { story } = this;
    const { sim } = story;
    this.pick = pick;
    if (what === "start" && !this.erased) sim.askNow("start", story.startBody());
    if (sim.state === null) return;
    this.take(what);
    this.checkSignals();
  }

  private take(what: Act): void {
    const { story } = this;
    const { sim } = story;
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
        this.refused("workflow.agent", "agent_not_found");
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
        this.refused("workflow.start", "workflow_not_found");
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
      case "signal":
        this.signal("go");
        break;
      case "other_signal":
        this.signal("stop");
        break;
      case "response":
        sim.askNow("signal", { signal_name: null, payload: "yes", work_id: null });
        break;
      case "stimulus":
        this.stimulus();
        break;
      case "stimulus_found":
        this.end("workflow.stimulus.watch", (id) => ({
          id,
          ok: true,
          value: { stimulus: this.pick % 2 === 0 ? null : { stimulus_id: agentId, payload: { id: 1 } } },
        }));
        break;
      case "too_many_waits":
        this.end("workflow.stimulus.watch", (id) => ({ id, ok: false, code: "too_many_waits", message: "x" }));
        break;
      case "timer":
        sim.fireNext();
        break;
      case "timer_early":
        sim.tell(this.pick % 2 === 0 ? "state_overdue" : "retry_due", { entry: story.state.entries ?? 0 });
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

  /** One of the places where the run is at work on this. */
  private at<K extends Work["of"]>(...kinds: K[]): (Place & { work: Extract<Work, { of: K }> }) | null {
    const fit = placesOf(this.story.state.current).flatMap((place) =>
      kinds.some((kind) => kind === place.current.work.of)
        ? [{ ...place, work: place.current.work as Extract<Work, { of: K }> }]
        : [],
    );
    return fit[this.pick % Math.max(1, fit.length)] ?? null;
  }

  private tell(type: string, body: Json): void {
    this.last = { type, body };
    this.story.sim.tell(type, body);
  }

  /** The same message once more changes nothing at all. */
  private repeat(): void {
    const { last } = this;
    if (last !== null) this.unheard(last.type, last.body);
  }

  private decide(decision: string, change: Record<string, Json>): void {
    const work = this.at("human")?.work;
    if (work !== undefined) this.tell("approval_decided", this.decision(work.approval_id, decision, change));
  }

  private decision(approval_id: string, decision: string, change: Record<string, Json>): Json {
    return {
      approval_id,
      status: decision,
      via: "approve",
      decided_at: "2031-05-02T06:00:00.000Z",
      result: decided(decision, { approval_id, ...change }),
    };
  }

  private decideOld(): void {
    const open = placesOf(this.story.state.current).flatMap(({ current: { work } }) =>
      work.of === "human" ? [work.approval_id] : [],
    );
    const old = this.story.toldOf("open").find(({ key }) => !open.includes(key));
    if (old !== undefined) this.unheard("approval_decided", this.decision(old.key, "approved", {}));
  }

  /** News that nothing waits for: the run stays as it is, and asks for nothing. */
  private unheard(type: string, body: Json): void {
    const { sim } = this.story;
    const seen = () => JSON.stringify([sim.state, sim.log(), sim.told, sim.performed.length]);
    const before = seen();
    sim.tell(type, body);
    expect(seen()).toBe(before);
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
    const { sim } = this.story;
    const works = sim.underWay(activity);
    const work = works[this.pick % Math.max(1, works.length)];
    if (work === undefined) return;
    sim.activities.delete(work.id);
    // Of a command only the first outcome is heard; a start may be heard before or after its end.
    if (activity !== "workflow.command") sim.tell(work.then, outcomeOf(work.id));
    else this.tell(work.then, outcomeOf(work.id));
  }

  /** A start that never was: its child is over. */
  private refused(activity: string, code: string): void {
    this.end(activity, (id) => {
      const input = this.story.sim.performed.find((one) => one.id === id)?.input as { child_execution_id: string };
      this.over.add(input.child_execution_id);
      return { id, ok: false, code, message: "x" };
    });
  }

  private child(status: string, output: string | null, error_code: string | null): void {
    const child = this.at("agent", "parallel", "command")?.work.children.at(-1);
    if (child === undefined) return;
    this.over.add(child.id);
    this.tell("child_ended", { child_execution_id: child.id, agent_id: agentId, status, output, error_code });
  }

  private inner(status: string): void {
    const work = this.at("subworkflow")?.work;
    if (work === undefined) return;
    this.over.add(work.child);
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
    const { sim } = this.story;
    const gone = sim.performed.find(({ id, then }) => then === "command_ended" && !sim.activities.has(id));
    if (gone !== undefined) this.unheard(gone.then, { id: gone.id, ok: false, code: "late", message: "late" });
  }

  /** Twice under one id: the second is answered alike and does nothing. */
  private signal(signal_name: string): void {
    const { sim } = this.story;
    this.count += 1;
    const payload = `${signal_name} ${this.count}`;
    const asked = { signal_name, payload, work_id: payload };
    const answer = sim.askNow("signal", asked);
    const { outcome } = answer as { outcome: string };
    if (outcome === "taken" || outcome === "buffered") this.signals.set(payload, sim.now);
    const before = JSON.stringify([sim.state, sim.log()]);
    expect(sim.askNow("signal", asked)).toEqual(answer);
    expect(JSON.stringify([sim.state, sim.log()])).toBe(before);
  }

  /** Each signal that was accepted is in the buffer, or one Wait took it; what is older than a day may be forgotten. */
  private checkSignals(): void {
    const { sim, events } = this.story;
    if (sim.state === null) return;
    const held = (this.story.state.signals ?? []).map(({ payload }) => String(payload));
    const taken = events.flatMap(({ type, details }) => {
      const { by, payload = null } = (type === "WorkflowStateExited" ? details.output : {}) as Record<string, Json>;
      return by === "signal" ? [String(payload)] : [];
    });
    const all = [...held, ...taken];
    expect(new Set(all).size).toBe(all.length);
    for (const one of all) expect(this.signals.has(one)).toBe(true);
    for (const [one, at] of this.signals) if (sim.now - at < bufferedMs) expect(all).toContain(one);
  }

  private stimulus(): void {
    const place = this.at("wait");
    if (place === null) return;
    const { entry } = place.current;
    const body = { entry, stimulus_id: agentId, payload: { id: 1 } };
    const { taken } = this.story.sim.askNow("stimulus_arrived", body) as { taken: boolean };
    expect(taken).toBe(place.work.on === "stimulus");
    if (taken) expect(this.story.sim.askNow("stimulus_arrived", body)).toEqual({ taken: false });
  }

  /** Once it is over, nothing that it began is left: each is over, or was told to end. */
  checkLeft(): void {
    const { sim } = this.story;
    const left = [...sim.activities.values()].filter(({ activity, input }) => {
      const { child_execution_id: child = "" } = input as { child_execution_id?: string };
      return !lasting.has(activity) && !this.over.has(child);
    });
    expect(left.map(({ id }) => id)).toEqual([]);
    const cancelled = new Set(this.story.toldOf("cancel").map(({ key }) => key));
    const released = JSON.stringify(this.story.events.filter(({ type }) => type === "WorkflowStateExited"));
    for (const { activity, input } of sim.performed) {
      if (activity !== "workflow.agent" && activity !== "workflow.start") continue;
      const { child_execution_id: child, waits } = input as { child_execution_id: string; waits?: boolean };
      const isFree = waits === false && released.includes(child);
      expect([child, isFree || this.over.has(child) || cancelled.has(child)]).toEqual([child, true]);
    }
  }
}

/** Activities that outlive what they were begun for; the start of a run is undone by its cancellation. That of an agent
 * may still be under way when the agent's end is known. */
const lasting = new Set(["workflow.cleanup", "workflow.stimulus.note", "workflow.start"]);
