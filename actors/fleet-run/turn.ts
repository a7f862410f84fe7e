/** One turn of a run under construction: the next state, what is told of it, and the work that it asks for. */

import type { Asked, Decided } from "../approval/people.ts";
import { type AuditedBy, auditEntry } from "../kernel/audit.ts";
import { schedule } from "../kernel/effect.ts";
import type { Json } from "../kernel/json.ts";
import type { ReplyTo } from "../kernel/message.ts";
import { type Context, type Turn, TurnEffects } from "../kernel/turn.ts";
import { atOnce, go, offer, stop } from "./activities.ts";
import { type RunEvent, runEvents } from "./events.ts";
import { type FleetRunMessages, fleetRunProtocol, senderMessages } from "./messages.ts";
import { type FleetRunState, isOver, resolvedOf, shownReason, standingOf } from "./state.ts";
import { isInFlight, marks, placesOf, remarked, summaryOf, underWay } from "./targets.ts";
import type { EndReason, PauseReason, TerminalStatus } from "./words.ts";

export type State = FleetRunState | null;
export type Result<Reply = never> = Turn<FleetRunState, Reply, FleetRunMessages>;

/** How long an approved run waits for its call to go on: behind other calls, or for a place among those that run. */
const claimMs = 3600_000;
/** How long what failed, and a host that holds too many commands, is left alone, ms. */
const againAfterMs = 3000;

export const timersOf = ({ status, started_at, policy, wake_at, again_at, claim }: FleetRunState) => {
  const left = status === "complete" || status === "halted" || status === "cancelled";
  if (left) return [];
  const { run_deadline_secs } = policy;
  const isAtWork = status === "running" || status === "paused";
  return [
    ...(isAtWork && started_at !== null && run_deadline_secs !== null
      ? [schedule("deadline", started_at + run_deadline_secs * 1000, "deadline", {})]
      : []),
    ...(wake_at === null ? [] : [schedule("wake", wake_at, "wake", {})]),
    ...(again_at === null ? [] : [schedule("again", again_at, "again", {})]),
    ...(claim?.until == null ? [] : [schedule("unclaimed", claim.until, "unclaimed", {})]),
  ];
};

export class RunTurn extends TurnEffects<FleetRunMessages> {
  private next: FleetRunState;

  constructor(state: FleetRunState, context: Context) {
    super(fleetRunProtocol, context);
    this.next = state;
  }

  get state(): FleetRunState {
    return this.next;
  }
  get now(): number {
    return this.context.now;
  }

  change(members: Partial<FleetRunState>): void {
    this.next = { ...this.next, ...members };
  }

  /** Gives hosts, whose places ascend, another mark. */
  mark(places: readonly number[], mark: string): void {
    this.change({ targets: remarked(this.next.targets, places, mark) });
  }

  tellEvent(event: RunEvent): void {
    this.append(runEvents, event);
  }

  /** Whether it is approved and waits for its call. */
  get isUnclaimed(): boolean {
    return this.next.claim !== undefined && this.next.claim.until !== null;
  }
  awaitCall(): void {
    const until = this.now + claimMs;
    this.change({ claim: { until } });
    this.schedule("unclaimed", until, "unclaimed", {});
  }
  /** Nothing waits for its call any more. */
  claimed(): void {
    if (!this.isUnclaimed) return;
    this.change({ claim: { until: null } });
    this.cancelTimer("unclaimed");
  }

  /** Tells how the run stands. */
  tellStatus(): void {
    const { status, pause_reasons, approval_id, wave, waves } = this.next;
    const reason = shownReason(this.next);
    this.tellEvent({ type: "status", status, reason, pause_reasons: [...pause_reasons], approval_id, wave, waves });
  }

  tellStarted(): void {
    const { status, resolution, started_at, skipped } = this.next;
    const totals = { targets_resolved: resolvedOf(this.next), targets_skipped: skipped };
    this.tellEvent({ type: "started", status, resolution, ...totals, started_at });
  }

  /** Who sent the run on its way hears that it is there, and what people do about it. */
  tellSender(news: { readonly asked?: Asked; readonly decided?: Decided }): void {
    const { sender } = this.next;
    if (sender === undefined) return;
    const { kind, key, invocation_id } = sender;
    const body = { fleet_command_id: this.context.key, invocation_id, asked: null, decided: null, ...news };
    this.tell({ kind, messages: senderMessages }, key, "fleet_waiting", body);
  }

  private tellSenderEnd(): void {
    const { sender, status, reason, targets } = this.next;
    if (sender === undefined) return;
    const { kind, key, invocation_id } = sender;
    const body = { fleet_command_id: this.context.key, invocation_id, status, reason, summary: summaryOf(targets) };
    this.tell({ kind, messages: senderMessages }, key, "fleet_ended", body);
  }

  /** Puts what a caller did on record in the audit log of the tenant. */
  audit(action: string, by: AuditedBy | null, details: Record<string, Json> = {}): void {
    if (by === null) return;
    this.fact(auditEntry, {
      by,
      action: `edge.fleet_${action}`,
      target: { type: "fleet_run", id: this.context.key },
      details: { tool: this.next.tool, ...details },
    });
  }

  /** Hands commands over; where `held` they wait for the run's word. */
  offer(indices: readonly number[], held: boolean): void {
    const { policy, round, started_at, tool } = this.next;
    const ttl = round === 0 && held ? policy.offline_ttl_secs * 1000 : 0;
    for (const some of portions(indices)) {
      const id = this.newWork("offer");
      this.change({ handing: [...this.next.handing, { id, go: false, held, indices: some }] });
      const input = {
        attempt: round + 1,
        indices: some,
        held,
        queue_until: ttl > 0 ? (started_at ?? this.now) + ttl : null,
        turn_at: this.now,
        tool,
        timeout_ms: policy.per_target_deadline_secs * 1000,
        max_output_bytes: policy.max_output_bytes,
        grace_ms: policy.disconnect_grace_secs * 1000,
      };
      this.perform(offer, input, { id, then: "offered" });
    }
  }

  /** Lets commands start that their hosts hold. */
  go(indices: readonly number[]): void {
    for (const some of portions(indices)) {
      const id = this.newWork("go");
      this.change({ handing: [...this.next.handing, { id, go: true, held: false, indices: some }] });
      this.perform(go, { attempt: this.next.round + 1, indices: some }, { id, then: "gone" });
    }
  }

  /** Takes back what is under way, as far as it is not being handed over now: that is taken back once it has been. */
  stopAll(): void {
    const handed = new Set(this.next.handing.flatMap(({ indices }) => indices));
    this.stop(underWay(this.next.targets).filter((place) => !handed.has(place)));
  }

  stop(indices: readonly number[]): void {
    const { stopping, round } = this.next;
    if (stopping === null) return;
    for (const some of portions(indices)) {
      const id = this.newWork("stop");
      this.change({ stops: [...this.next.stops, { id, indices: some }] });
      this.perform(stop, { attempt: round + 1, indices: some, ...stopping }, { id, then: "stopped" });
    }
  }

  private newWork(kind: string): string {
    this.change({ works: this.next.works + 1 });
    return `${this.context.key}:${kind}:${this.next.works}`;
  }

  /** A piece of work that hands over or lets go has ended. @returns its places; null: it is none of today's */
  takeHanding(id: string): FleetRunState["handing"][number] | null {
    const work = this.next.handing.find((one) => one.id === id);
    if (work !== undefined) this.change({ handing: this.next.handing.filter((one) => one !== work) });
    return work ?? null;
  }

  tryAgainLater(): void {
    if (this.next.again_at !== null) return;
    this.change({ again_at: this.now + againAfterMs });
    this.schedule("again", this.now + againAfterMs, "again", {});
  }

  wakeAt(at: number): void {
    this.change({ wake_at: at });
    this.schedule("wake", at, "wake", {});
  }

  pause(reason: PauseReason): void {
    const { pause_reasons } = this.next;
    if (pause_reasons.includes(reason)) return;
    this.change({ status: "paused", pause_reasons: [...pause_reasons, reason] });
    this.tellStatus();
  }

  /** Takes reasons away; the run goes on once none is left. */
  unpause(...reasons: readonly PauseReason[]): void {
    const left = this.next.pause_reasons.filter((reason) => !reasons.includes(reason));
    if (left.length === this.next.pause_reasons.length) return;
    this.change({ status: left.length === 0 ? "running" : "paused", pause_reasons: left });
    this.tellStatus();
  }

  /** What was not sent ends; what was, ends by itself or is cancelled. */
  wind(to: "halting" | "cancelling", reason: EndReason, kind: "withdraw" | "cancel"): void {
    const { targets } = this.next;
    const unsent = [marks.unopened, marks.queued].flatMap((mark) => placesOf(targets, mark, targets.length));
    this.mark(
      unsent.sort((one, other) => one - other),
      "n",
    );
    this.change({
      status: to,
      reason: this.next.reason ?? reason,
      pause_reasons: [],
      stopping: { kind, reason: kind === "cancel" ? reason : "halted" },
      ...{ to_open: 0, full: [], wake_at: null, unstopped: [] },
    });
    this.cancelTimer("deadline");
    this.cancelTimer("wake");
    this.tellStatus();
    this.stopAll();
  }

  halt(reason: EndReason, message: string, kind: "withdraw" | "cancel" = "withdraw"): void {
    this.wind("halting", reason, kind);
    this.tellEvent({ type: "error", reason: "Halted", code: reason, message });
  }

  /** The last thing a run does. */
  end(status: TerminalStatus, reason: EndReason | null): void {
    const { targets, skipped } = this.next;
    this.mark(
      [...targets].flatMap((mark, place) => (isEnded(mark) ? [] : [place])),
      "n",
    );
    this.change({ status, reason, ended_at: this.now, pause_reasons: [], in_flight: 0, stopping: null, full: [] });
    const totals = { targets_resolved: resolvedOf(this.next), targets_skipped: skipped };
    this.tellEvent({ type: "ended", status, reason, ...totals, summary: summaryOf(this.next.targets) });
    for (const timer of ["deadline", "wake", "again"]) this.cancelTimer(timer);
    this.claimed();
    this.change({ wake_at: null, again_at: null, handing: [], stops: [], unstopped: [] });
    this.answerPauses();
    this.tellSenderEnd();
  }

  /** Those who asked for a pause hear of it once nothing is on its way to a host any more. */
  answerPauses(): void {
    const { pausing, handing } = this.next;
    if (pausing.length === 0 || handing.some(({ held }) => !held)) return;
    this.change({ pausing: [] });
    for (const to of pausing) this.reply("pause", to as ReplyTo, { done: true, ...standingOf(this.next) });
  }

  countInFlight(): void {
    let in_flight = 0;
    for (const mark of this.next.targets) if (isInFlight(mark)) in_flight += 1;
    this.change({ in_flight });
  }

  /** Closes the turn. */
  turn<Reply = never>(reply?: Reply): Result<Reply> {
    if (!isOver(this.next)) this.answerPauses();
    return { state: this.next, effects: this.effects, ...(reply === undefined ? {} : { reply }) };
  }
}

const openMarks: readonly string[] = Object.values(marks);
const isEnded = (mark: string): boolean => !openMarks.includes(mark);

function portions(indices: readonly number[]): number[][] {
  const all: number[][] = [];
  for (let from = 0; from < indices.length; from += atOnce) all.push(indices.slice(from, from + atOnce));
  return all;
}
