/** A fleet run with its hosts: commands that are handed over, held, started and ended as a test wants it. */
import { readPolicy } from "../../../actors/edge/policy.ts";
import type { CommandEnd } from "../../../actors/edge-host/command.ts";
import type { RunEvent } from "../../../actors/fleet-run/events.ts";
import { fleetRun } from "../../../actors/fleet-run/fleet-run.ts";
import type { FleetRunState } from "../../../actors/fleet-run/state.ts";
import { summaryOf } from "../../../actors/fleet-run/targets.ts";
import type { ActorDefinition } from "../../../actors/kernel/actor.ts";
import type { Json } from "../../../actors/kernel/json.ts";
import { Simulation } from "../simulate.ts";

const by = {
  actor: { kind: "tenant_user", realm: "acme", user_id: "ann", role: "admin", key_id: null, name: null },
  ip: null,
  user_agent: null,
  request_id: null,
};

/** A command that was handed over and has not ended. */
export interface Live {
  readonly idx: number;
  readonly attempt: number;
  /** Waits at its host for the run's word. */
  held: boolean;
}

export interface StoryOptions {
  readonly policy?: object;
  readonly eligible: number;
  readonly queued?: number;
  readonly skipped?: number;
  readonly gate?: boolean;
  /** It is a tool call on one host. */
  readonly ofCall?: boolean;
  readonly holds?: readonly string[];
  /** Who waits for its end. */
  readonly sender?: { readonly kind: string; readonly key: string; readonly invocation_id: string };
}

export class RunStory {
  readonly sim = new Simulation(fleetRun as unknown as ActorDefinition);
  readonly live = new Map<number, Live>();
  /** Places in the order in which their commands began, by attempt. */
  readonly begun: (readonly [idx: number, attempt: number])[] = [];
  /** The most that were in flight at once. */
  most = 0;

  constructor({
    policy = {},
    eligible,
    queued = 0,
    skipped = 0,
    gate = false,
    holds = [],
    ofCall = false,
    sender,
  }: StoryOptions) {
    this.sim.askNow("start", {
      ...{ tool: "cmd.run", args: "{}", security_context_name: null, policy: readPolicy(policy), by },
      requested_by: { sub: "ann", tenant_id: "acme", entry: "api", execution_id: null },
      ...(ofCall ? { of_call: true } : {}),
      ...(sender === undefined ? {} : { sender: { ...sender } }),
      ...{ retry_of: null, approval_id: null, resolution: { eligible, queued, skipped }, holds, trace: null },
      gate: gate
        ? { prompt: "?", forbid_initiator: true, initiator: { kind: "tenant_user", sub: "ann", email: null } }
        : null,
    } as unknown as Json);
  }

  get state(): FleetRunState {
    return this.sim.state as unknown as FleetRunState;
  }
  get events(): readonly RunEvent[] {
    return this.sim.log() as unknown as readonly RunEvent[];
  }
  get last(): Extract<RunEvent, { type: "ended" }> | null {
    const last = this.events.at(-1);
    return last?.type === "ended" ? last : null;
  }
  get summary() {
    return summaryOf(this.state.targets);
  }
  /** Places of waves as they began. */
  get waves(): number[][] {
    return this.events.flatMap((event) => (event.type === "status" ? [[event.wave, event.waves]] : []));
  }

  /** Places in the order in which their commands were to be handed over. */
  handed(attempt: number): number[] {
    return this.sim.performed.flatMap(({ activity, input }) => {
      const of = input as { attempt: number; indices: number[] };
      return activity === "edge.offer" && of.attempt === attempt ? of.indices : [];
    });
  }

  /** Does the work that is asked for, until none is. @param full places whose hosts take no more */
  work(full: ReadonlySet<number> = new Set()): this {
    for (let [next] = this.sim.activities.values(); next !== undefined; [next] = this.sim.activities.values())
      this.doing(next.id, full);
    return this;
  }

  /** One piece of work. */
  doing(id: string, full: ReadonlySet<number> = new Set()): void {
    const { activity, input } = this.sim.activities.get(id) ?? { activity: "", input: null };
    const given = input as { attempt: number; indices: number[]; held: boolean; kind: string };
    if (activity === "edge.offer") {
      for (const idx of given.indices.filter((place) => !full.has(place))) this.#hold(idx, given.attempt, given.held);
      this.sim.succeed(id, { full: given.indices.filter((place) => full.has(place)) });
    } else if (activity === "edge.go") {
      for (const idx of given.indices) this.#start(idx);
      this.sim.succeed(id, { waiting: [] });
    } else if (activity === "edge.stop") {
      this.sim.succeed(id, { unknown: given.indices.filter((idx) => !this.live.has(idx)) });
      for (const idx of given.indices) {
        const command = this.live.get(idx);
        if (command?.held) this.end(idx, "not_started");
        else if (command !== undefined && given.kind === "cancel") this.end(idx, "cancelled");
      }
    }
  }

  #hold(idx: number, attempt: number, held: boolean): void {
    if (this.live.has(idx)) return;
    this.live.set(idx, { idx, attempt, held: true });
    if (!held) this.#start(idx);
  }
  #start(idx: number): void {
    const command = this.live.get(idx);
    if (command === undefined || !command.held) return;
    command.held = false;
    this.begun.push([idx, command.attempt]);
    this.most = Math.max(this.most, [...this.live.values()].filter(({ held }) => !held).length);
  }

  end(idx: number, status: CommandEnd): this {
    const command = this.live.get(idx);
    if (command === undefined) throw new Error(`no command of ${idx} is under way`);
    this.live.delete(idx);
    this.sim.tell("command_ended", {
      ...{ idx, attempt: command.attempt, command_id: `c${idx}-${command.attempt}`, status },
      ...{ error_kind: null, exit_code: null, duration_ms: 1, reason: null },
    });
    return this;
  }
  ready(idx: number): this {
    this.sim.tell("command_ready", { idx, attempt: this.live.get(idx)?.attempt ?? 1 });
    return this;
  }
  /** Ends commands in the order in which they began, as long as there are any, with the work in between. */
  endAll(status: (idx: number, attempt: number) => CommandEnd = () => "ok"): this {
    for (this.work(); ; this.work()) {
      const next = [...this.live.values()].find(({ held }) => !held);
      if (next === undefined) return this;
      this.end(next.idx, status(next.idx, next.attempt));
    }
  }
  decide(status: string): this {
    const approval_id = this.state.approval_id ?? "";
    const at = { via: "approve", decided_at: new Date(this.sim.now).toISOString(), result: {} };
    this.sim.tell("approval_decided", { approval_id, status, ...at });
    return this;
  }
  /** The target as it is once people have approved. */
  resolved(eligible: number, queued = 0, holds: readonly string[] = []): this {
    const [work] = this.sim.underWay("edge.resolve");
    this.sim.succeed(work?.id ?? "", { eligible, queued, skipped: 0, holds: [...holds] });
    return this;
  }
  act = (type: "pause" | "resume" | "cancel", reason: string | null = null): string =>
    this.sim.ask(type, { by: null, reason });
  answer = (call: string) => this.sim.answers.get(call) as { [member: string]: Json } | undefined;
}
