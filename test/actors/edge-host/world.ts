/** An edge host with a daemon and a run in memory: frames and reports that a cut link loses, a journal that is restored. */
import { expect } from "bun:test";
import type { CommandEnded, CommandFact, FrameFact } from "../../../actors/edge-host/command.ts";
import { edgeHost } from "../../../actors/edge-host/host.ts";
import type { HelloAsked, HelloReply, Offer, Report } from "../../../actors/edge-host/messages.ts";
import { type HostState, isInFlight } from "../../../actors/edge-host/state.ts";
import type { ActorDefinition } from "../../../actors/kernel/actor.ts";
import type { Json } from "../../../actors/kernel/json.ts";
import { Simulation } from "../simulate.ts";

const node = "n1";
export const second = 1000;

export const idOf = (index: number, attempt = 1): string =>
  `00000000-0000-8000-8000-${String(index * 10 + attempt).padStart(12, "0")}`;
const runOf = (index: number): string => `00000000-0000-7000-9000-${String(index % 3).padStart(12, "0")}`;

const offerOf = (index: number, changes: Partial<Offer> = {}): Offer => ({
  command_id: idOf(index, changes.attempt ?? 1),
  run_id: runOf(index),
  idx: index,
  attempt: 1,
  tool: "cmd.run",
  held: false,
  timeout_ms: 60_000,
  max_output_bytes: 1_048_576,
  grace_ms: 120_000,
  queue_until: null,
  turn_at: 0,
  ...changes,
});

const capabilities = { os: "linux", arch: "x86_64", local_tools: ["shell"], mount_points: [], labels: {} };

export const helloOf = (link: number, changes: Partial<HelloAsked> = {}): HelloAsked => ({
  link_id: `link-${link}`,
  node,
  live_nodes: [node, "n2"],
  dead_nodes: [],
  journal_id: "journal-1",
  journal_seq: 0,
  boot_id: "boot-1",
  agent_version: "1.0.0",
  outdated: false,
  slots: 2,
  capabilities,
  commands: [],
  ...changes,
});

export const resultOf = (id: string, status: "ok" | "err" | "cancelled" | "refused" | "lost" = "ok"): Report => ({
  type: "result",
  command_id: id,
  status,
  result: {
    ...{ exit_code: status === "ok" ? 0 : null, duration_ms: 5, started_at: 1_000 },
    ...{ stdout_tail: "out", stderr_tail: "", stdout_bytes: 3, stderr_bytes: 0, truncated: false, structured: null },
    ...{ error_kind: status === "ok" ? null : "internal", error_message: null },
  },
});

/** The host's actor with what it told and put on record, typed. */
export class Host {
  readonly sim = new Simulation(edgeHost as unknown as ActorDefinition, "00000000-0000-7000-8000-00000000aaaa");
  private read = 0;

  get state(): HostState {
    return this.sim.state as unknown as HostState;
  }
  ask<T>(type: string, body: object): T {
    return this.sim.askNow(type, body as Json) as T;
  }
  tell(type: string, body: object = {}): void {
    this.sim.tell(type, body as Json);
  }
  wait(ms: number): void {
    this.sim.now += ms;
  }
  offer(index: number, changes: Partial<Offer> = {}): void {
    this.ask("offer", offerOf(index, { turn_at: this.sim.now, ...changes }));
  }
  hello(link: number, changes: Partial<HelloAsked> = {}): Extract<HelloReply, { outcome: "welcome" }> {
    const reply = this.ask<HelloReply>("hello", helloOf(link, changes));
    if (reply.outcome !== "welcome") throw new Error(reply.outcome);
    return reply;
  }
  /** The runs want what they were told is ready. */
  go(): void {
    if (this.sim.state === null) return;
    for (const { command_id, asked } of this.state.commands) if (asked) this.ask("go", { command_id });
  }
  report(...reports: readonly Report[]): void {
    this.ask("reports", { epoch: this.state.epoch, reports });
  }
  /** Frames made since the last call, but those that were voided. */
  frames(): Exclude<FrameFact, { kind: "void" }>[] {
    const facts = this.sim.facts.slice(this.read).filter(({ name }) => name === "edge_frame");
    this.read = this.sim.facts.length;
    return facts
      .map(({ fact }) => fact as unknown as FrameFact)
      .flatMap((frame) => (frame.kind === "void" ? [] : [frame]));
  }
  get ended(): CommandEnded[] {
    return this.toldAs("command_ended") as unknown as CommandEnded[];
  }
  get ready(): { idx: number; attempt: number }[] {
    return this.toldAs("command_ready") as unknown as { idx: number; attempt: number }[];
  }
  /** What was put on record of a command. */
  recordOf(id: string): CommandFact[] {
    const facts = this.sim.facts
      .filter(({ name }) => name === "edge_command")
      .map(({ fact }) => fact as never as CommandFact);
    return facts.filter((fact) => fact.id === id);
  }
  statusOf(index: number): string {
    const command = this.state.commands.find(({ idx }) => idx === index);
    return command?.status ?? this.ended.find(({ idx }) => idx === index)?.status ?? "unknown";
  }
  private toldAs(type: string): Json[] {
    return this.sim.told.flatMap((one) =>
      one.effect === "tell" && one.message.type === type ? [one.message.body] : [],
    );
  }
}

interface Journal {
  readonly id: string;
  seq: number;
  readonly started: Set<string>;
  readonly finished: Map<string, Report>;
}

const copied = (journal: Journal): Journal => ({
  ...journal,
  started: new Set(journal.started),
  finished: new Map(journal.finished),
});

/** A daemon that keeps the rules, on a link that does not. */
export class World extends Host {
  journal: Journal = { id: "journal-1", seq: 0, started: new Set(), finished: new Map() };
  private saved: Journal = copied(this.journal);
  private boot = 1;
  private links = 0;
  private journals = 1;
  private readonly running = new Set<string>();
  private unacked = new Map<string, Report>();
  /** Of the open link. */
  private down: Exclude<FrameFact, { kind: "void" }>[] = [];
  private up: Report[] = [];
  isOpen = false;
  slots = 2;
  readonly starts = new Map<string, number>();

  connect(keepsOpen: boolean): void {
    if (this.isOpen && !keepsOpen) this.cut();
    this.links += 1;
    this.down = [];
    this.up = [];
    const listed = [
      ...[...this.running].map((command_id) => ({ command_id, state: "running" as const })),
      ...[...this.unacked.keys()].map((command_id) => ({ command_id, state: "finished" as const })),
    ];
    const { id: journal_id, seq: journal_seq } = this.journal;
    this.hello(this.links, {
      journal_id,
      journal_seq,
      boot_id: `boot-${this.boot}`,
      slots: this.slots,
      commands: listed,
    });
    this.isOpen = true;
    this.up = [...this.unacked.values()];
    this.take();
  }
  /** What is on the way is lost. */
  cut(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.down = [];
    this.up = [];
    this.tell("link_closed", { epoch: this.state.epoch, longer: false });
  }
  /** The next frame reaches the daemon. */
  deliver(): void {
    this.take();
    const frame = this.down.shift();
    if (frame === undefined) return;
    const { command_id: id } = frame;
    if (frame.kind === "cancel") {
      if (!this.journal.finished.has(id)) this.finish(id, "cancelled");
      else this.up.push(this.journal.finished.get(id) as Report);
      return;
    }
    const done = this.journal.finished.get(id);
    if (done !== undefined) this.up.push(done);
    else if (this.running.has(id)) this.up.push({ type: "started", command_id: id });
    else if (this.journal.started.has(id)) this.finish(id, "lost");
    else if (this.sim.now > frame.not_after) this.finish(id, "refused");
    else {
      this.begin(id);
    }
  }
  private begin(id: string): void {
    const isFree = this.running.size < this.slots;
    // The service keeps to the slots: the daemon has to refuse for want of one only where it was silent for long.
    if (!isFree) {
      expect(this.state.strays.some(({ until }) => until <= this.sim.now)).toBe(true);
      this.finish(id, "refused");
    } else {
      this.journal.started.add(id);
      this.journal.seq += 1;
      this.running.add(id);
      this.starts.set(id, (this.starts.get(id) ?? 0) + 1);
      this.up.push({ type: "started", command_id: id });
    }
  }
  finishOne(): void {
    const [id] = this.running;
    if (id !== undefined) this.finish(id, "ok");
  }
  private finish(id: string, status: "ok" | "cancelled" | "lost" | "refused"): void {
    const result = resultOf(id, status);
    this.running.delete(id);
    this.journal.finished.set(id, result);
    this.journal.seq += 1;
    this.unacked.set(id, result);
    if (this.isOpen) this.up.push(result);
  }
  /** The next report reaches the service, which acknowledges it. */
  speak(): void {
    const report = this.up.shift();
    if (report === undefined || report.type === "capabilities") return;
    this.report(report);
    if (report.type === "result") this.unacked.delete(report.command_id);
  }
  /** Killed and started anew: what ran is lost. */
  restart(): void {
    this.cut();
    this.boot += 1;
    for (const id of [...this.running]) this.finish(id, "lost");
  }
  save(): void {
    this.saved = copied(this.journal);
  }
  /** The state directory is that of an earlier moment, as after a restored snapshot. */
  restore(): void {
    if (this.sim.state === null) return;
    // What was on disk at its last hello, and has not been heard of since, is beyond knowing.
    const { journal } = this.state;
    if (journal === null || this.saved.id !== journal.id) return;
    // So is what the records hide that the next start adds for commands that were cut off.
    const { seq, started, finished } = this.saved;
    const settled = [...started].filter((id) => !finished.has(id)).length;
    if (seq + settled >= journal.seq + journal.reported) return;
    this.restart();
    this.journal = copied(this.saved);
    this.running.clear();
    this.unacked = new Map();
    for (const id of this.journal.started) if (!this.journal.finished.has(id)) this.finish(id, "lost");
  }
  loseJournal(): void {
    if (this.sim.state === null) return;
    this.restart();
    this.journals += 1;
    this.journal = { id: `journal-${this.journals}`, seq: 0, started: new Set(), finished: new Map() };
    this.running.clear();
    this.unacked = new Map();
  }
  /** Frames made since go onto the link. */
  take(): void {
    if (this.sim.state === null) return;
    for (const frame of this.frames()) {
      expect(frame.epoch).toBe(this.state.epoch);
      if (this.isOpen) this.down.push(frame);
    }
    expect(this.state.commands.filter(isInFlight).length).toBeLessThanOrEqual(Math.max(2, this.slots));
  }
}
