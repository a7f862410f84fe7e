/**
 * The life of a tool call, made outside of an agent's loop, that waits for people.
 *
 *   ─open─▶ waiting ─┬─ approved ─▶ asked by the next, or running ─▶ answered
 *                    ├─ rejected, timed out ─▶ answered (a failure)
 *                    └─ withdraw ─▶ withdrawn (no result)
 *
 * A call whose run on a host asks people itself waits with the run, and joins it once it may begin.
 * Each question, its decision and the call's next step are one commit. What it came to is kept for a day.
 */
import { type ApprovalDecided, approvalProtocol, ownerOf } from "../approval/messages.ts";
import { type Asked, type Decided, decidedOf } from "../approval/people.ts";
import type { Remember } from "../approval/tool-call.ts";
import { executionProtocol, type OutsideNews } from "../execution/messages.ts";
import { fleetRunProtocol } from "../fleet-run/messages.ts";
import { defineActor } from "../kernel/actor.ts";
import { defineLog, schedule } from "../kernel/effect.ts";
import { AnyJson } from "../kernel/json.ts";
import type { BodyOf } from "../kernel/message.ts";
import { type Context, type Turn, TurnEffects } from "../kernel/turn.ts";
import { askedAnew, sourceOf } from "../policy/security/asked.ts";
import type { AskedApproval } from "../policy/security/clearance.ts";
import { type InvocationFact, invocationFact } from "../tool/invocation.ts";
import { callFailure, notMade } from "./failures.ts";
import {
  type CallOutcome,
  callerMessages,
  type HeldCall,
  type KeptCall,
  type Opened,
  runCall,
  showCall,
  type ToolCallMessages,
  toolCallProtocol,
} from "./messages.ts";
import { failsExecution, questionOf } from "./question.ts";
import { newCall, openedOf, ToolCallState } from "./state.ts";

/** One entry once the call has ended: who waits for it is told. */
const endedLog = defineLog("events", AnyJson);

/** How long what a call came to is kept after its end. */
const keptMs = 24 * 3600_000;

type Result<Reply = never> = Turn<ToolCallState, Reply, ToolCallMessages>;

const timersOf = ({ ended_at }: ToolCallState) =>
  ended_at === null ? [] : [schedule("erase", ended_at + keptMs, "erase", {})];

export const toolCall = defineActor({
  ...toolCallProtocol,
  state: ToolCallState,
  timers: timersOf,
  receive: {
    open(state, { call, shown, asked }, context): Result<Opened | null> {
      const [first] = asked;
      if (state !== null || first === undefined) return { state, reply: openedOf(state), effects: [] };
      const turn = new CallTurn(newCall(call, shown, asked), context);
      turn.ask(first);
      return { ...turn.turn(), reply: openedOf(turn.state) };
    },

    hold(state, { call, shown, held }, context): Result<Opened | null> {
      if (state !== null) return { state, reply: openedOf(state), effects: [] };
      const turn = new CallTurn(newCall(call, shown, []), context);
      turn.hold(held);
      return { ...turn.turn(), reply: openedOf(turn.state) };
    },

    approval_decided(state, decision, context) {
      if (state?.status !== "waiting" || state.approval_id !== decision.approval_id) return { state, effects: [] };
      const turn = new CallTurn(state, context);
      if (state.run?.is_open === true) turn.runDecided(decision);
      else turn.decided(decision);
      return turn.turn();
    },

    ran(state, outcome, context) {
      if (state?.status !== "running") return { state, effects: [] };
      const turn = new CallTurn(state, context);
      const ran = outcome.ok ? outcome.value : notMade(state.call.tool, outcome);
      if (ran.outcome === "held") turn.hold(ran.held);
      else turn.ran(ran);
      return turn.turn();
    },

    seen(state, outcome, context) {
      if (state?.status !== "waiting" || outcome.id !== showId(context.key, state)) return { state, effects: [] };
      const turn = new CallTurn(state, context);
      turn.seen(outcome);
      return turn.turn();
    },

    withdraw(state, { reason }, context) {
      const isMade = state?.status === "running" && state.call.run !== undefined;
      if (state === null || (state.status !== "waiting" && !isMade)) return { state, effects: [] };
      const turn = new CallTurn(state, context);
      if (isMade) turn.giveUp();
      else if (state.run?.is_open === true) turn.tell(fleetRunProtocol, state.run.id, "cancel", { by: null, reason });
      else turn.tell(approvalProtocol, state.approval_id, "withdraw", { reason }, { coCommit: true });
      turn.withdrawn(isMade);
      return turn.turn();
    },

    erase: () => ({ state: null, effects: [] }),
  },
});

const maxReason = 16_384;
/** One for each edit; calls of earlier versions counted by who had agreed. */
const showId = (key: string, { edits, agreed }: ToolCallState): string =>
  edits === undefined ? `show:${key}:${agreed}` : `show:${key}:edit:${edits}`;

class CallTurn extends TurnEffects<ToolCallMessages> {
  /** The workflow run that it was made for fails of it. */
  private failsRun = false;

  constructor(
    readonly state: ToolCallState,
    context: Context,
  ) {
    super(toolCallProtocol, context);
    this.state = { ...state };
  }

  /** Opens the question that is next in turn. */
  ask(ask: AskedApproval): void {
    const { now, key } = this.context;
    const id = this.context.newIdBeside(approvalProtocol);
    const body = questionOf(this.state, key, ask, now);
    this.tell(approvalProtocol, id, "open", body, { coCommit: true });
    this.state.approval_id = id;
    this.state.approvals = [...this.state.approvals, id];
    this.state.expires_at = now + body.timeout_ms;
    this.note({ outcome: "waiting", approval_id: id });
    this.tellExecution("waiting");
    this.tellRun({ asked: { approval_id: id, prompt: body.prompt, expires_at: this.state.expires_at } });
  }

  /** Waits with the run that the call has begun. */
  hold({ fleet_command_id, approval_id, expires_at }: HeldCall): void {
    const { state } = this;
    state.status = "waiting";
    state.run = { id: fleet_command_id, is_open: true };
    state.approval_id = approval_id;
    state.approvals = [...state.approvals, approval_id];
    state.expires_at = expires_at;
    this.tell(approvalProtocol, approval_id, "watch", { owner: ownerOf(toolCallProtocol, this.context.key) });
    this.note({ outcome: "waiting", approval_id });
    this.tellExecution("waiting");
    this.tellRun({ asked: { approval_id, prompt: `May ${state.call.tool} run on its host?`, expires_at } });
  }

  /** People have decided about the run; one that they approve goes on, and the call joins it. */
  runDecided(decision: ApprovalDecided): void {
    const { status, reason } = decision;
    const { run, call } = this.state;
    this.tellRun({ decided: decidedOf(decision) });
    if (run !== undefined) this.state.run = { ...run, is_open: false };
    if (status === "approved") {
      this.tellExecution("approved");
      this.run();
    } else if (status === "withdrawn") {
      this.tellExecution("rejected", { code: "cancelled" });
      this.refuse(callFailure(call.tool, "cancelled", `The run of ${call.tool} was cancelled before it began`));
    } else if (status === "timed_out") this.overdue("approval_timed_out");
    else this.rejected(reason);
  }

  decided(decision: ApprovalDecided): void {
    const { status, arguments: edit, arguments_sha256: sha256 = "", reason, remember = "none" } = decision;
    const { state } = this;
    this.tellRun({ decided: decidedOf(decision) });
    const ask = state.asked[state.agreed];
    if (status === "approved") {
      state.given = [...givenOf(state), state.approval_id];
      state.agreed += 1;
      this.tellExecution("approved", this.granted(ask, remember, edit === undefined ? state.shown.sha256 : sha256));
      if (edit === undefined) this.goOn();
      else this.edited(ask, edit);
    } else if (status === "withdrawn") this.withdrawn();
    else if (status === "timed_out") {
      const fails = ask !== undefined && failsExecution(state.call, ask.approval);
      if (fails) this.overdue("tool_approval_timed_out", { fails: true });
      else this.overdue("approval_timed_out");
    } else this.rejected(reason);
  }

  private overdue(code: string, more: Partial<OutsideNews> = {}): void {
    const { tool } = this.state.call;
    this.tellExecution("rejected", { code, ...more });
    this.failsRun = more.fails === true;
    this.refuse(callFailure(tool, code, `No person approved the call of ${tool} in time`));
  }

  private rejected(reason: string | null | undefined): void {
    const { tool } = this.state.call;
    const said = (reason ?? "").slice(0, maxReason).toWellFormed();
    const refused = callFailure(tool, "rejected_by_person", `A person rejected the call of ${tool}: ${said}`);
    this.tellExecution("rejected", { code: "rejected_by_person" });
    this.refuse({ ...refused, result: { ...refused.result, reason: said } });
  }
  /**
   * An approver has changed the arguments: who agreed before has agreed to others. Whom the changed ones concern, and what
   * of them people may see, is not known here.
   */
  private edited(by: AskedApproval | undefined, edit: KeptCall["arguments"]): void {
    const { state } = this;
    state.edited = edit;
    state.edits = (state.edits ?? 0) + 1;
    state.asked = by === undefined ? [] : [by];
    state.agreed = state.asked.length;
    this.perform(showCall, {}, { id: showId(this.context.key, state), then: "seen" });
  }

  /** Who is not asked again from now on: an execution remembers it itself, of other callers the call does. */
  private granted(ask: AskedApproval | undefined, remember: Remember, sha256: string): Partial<OutsideNews> {
    if (ask === undefined || remember === "none") return {};
    const grant = { from: sourceOf(ask), sha256: remember === "tool" ? null : sha256 };
    if (this.state.call.execution !== null) return { grant };
    this.state.grants = [...(this.state.grants ?? []), { tool: this.state.call.tool, ...grant }];
    return {};
  }

  /** The edited arguments are known as people may see them, and whom they concern. */
  seen(outcome: BodyOf<ToolCallMessages["seen"]>): void {
    const { state } = this;
    if (!outcome.ok) {
      this.refuse(callFailure(state.call.tool, outcome.code, outcome.message));
      return;
    }
    const { asked, refused, ...shown } = outcome.value;
    if (refused !== undefined) {
      this.refuse(refused);
      return;
    }
    state.shown = shown;
    if (asked !== undefined) {
      const { asks, agreed } = askedAnew(state.asked[0], asked);
      Object.assign(state, { asked: asks, agreed });
    }
    this.goOn();
  }

  /** Asks the next one, or runs the call where all have agreed. */
  private goOn(): void {
    const next = this.state.asked[this.state.agreed];
    if (next === undefined) this.run();
    else this.ask(next);
  }

  ran(outcome: CallOutcome): void {
    const { run } = this.state;
    // People have let the run begin, but its call is gone, or not allowed any more.
    if (run !== undefined && outcome.outcome !== "success") {
      this.tell(fleetRunProtocol, run.id, "cancel", { by: null, reason: "call_ended" });
    }
    this.tellExecuted(outcome.executed ?? outcome.outcome !== "withdrawn");
    if (outcome.outcome === "withdrawn") this.tellExecution("withdrawn");
    if (outcome.outcome === "withdrawn") this.note({ outcome: "withdrawn" });
    this.end(outcome, outcome.outcome === "withdrawn" ? "withdrawn" : "answered");
  }

  /** @param isMade it runs, and may have had its effect */
  withdrawn(isMade = false): void {
    this.note(isMade ? { outcome: "interrupted", code: "interrupted", ran: true } : { outcome: "withdrawn" });
    this.tellExecution("withdrawn");
    this.tellExecuted(isMade);
    const { tool } = this.state.call;
    this.end(
      { outcome: "withdrawn", result: callFailure(tool, "withdrawn", "The call was withdrawn").result },
      "withdrawn",
    );
  }

  /** It was approved and is being made, and its caller has gone. */
  giveUp(): void {
    const { run } = this.state;
    this.abandon(this.runId);
    if (run !== undefined) this.tell(fleetRunProtocol, run.id, "cancel", { by: null, reason: "call_ended" });
  }

  private run(): void {
    this.state.status = "running";
    this.note({ outcome: "running" });
    this.perform(runCall, {}, { id: this.runId, then: "ran" });
  }

  /** Of the work that makes the call; what joins a run is another piece of work than what began it. */
  private get runId(): string {
    return this.state.run === undefined ? `run:${this.context.key}` : `run:${this.context.key}:on`;
  }

  private refuse(outcome: CallOutcome): void {
    this.note({ outcome: "failed", code: String(outcome.result.code) });
    this.tellExecuted(false);
    this.end(outcome, "answered");
  }

  /** Its approvers hear whether the call was made. */
  private tellExecuted(executed: boolean): void {
    for (const id of givenOf(this.state)) {
      this.tell(approvalProtocol, id, "executed", { executed }, { coCommit: true });
    }
  }

  /** Its execution shows what becomes of the call; while there is none, no one does. */
  private tellExecution(news: OutsideNews["news"], more: Partial<OutsideNews> = {}): void {
    const { call, approval_id, expires_at } = this.state;
    if (call.execution === null) return;
    const body = {
      news,
      invocation_id: this.context.key,
      tool: call.tool,
      approval_id,
      expires_at,
      code: null,
      ...more,
    };
    this.tell(executionProtocol, call.execution.id, "asked_outside", body);
  }

  /** The workflow run that it was made for hears of people, in one commit with what they do. */
  private tellRun(news: { readonly asked?: Asked; readonly decided?: Decided }): void {
    const { run, tool } = this.state.call;
    if (run === undefined) return;
    const to = { kind: run.owner.kind, messages: callerMessages };
    const body = { invocation_id: this.context.key, tool, asked: null, decided: null, ...news };
    this.tell(to, run.owner.key, "tool_waiting", body, { coCommit: true });
  }

  private tellRunEnd(outcome: CallOutcome): void {
    const { run, tool } = this.state.call;
    if (run === undefined) return;
    const to = { kind: run.owner.kind, messages: callerMessages };
    const fails = this.failsRun ? ({ fails_run: true } as const) : {};
    const body = { invocation_id: this.context.key, tool, outcome, ...fails };
    this.tell(to, run.owner.key, "tool_ended", body, { coCommit: true });
  }

  private end(outcome: CallOutcome, status: ToolCallState["status"]): void {
    this.tellRunEnd(outcome);
    this.state.outcome = outcome;
    this.state.status = status;
    this.state.ended_at = this.context.now;
    this.append(endedLog, { ended: true });
    this.push(...timersOf(this.state));
  }

  private note(change: InvocationFact["change"]): void {
    this.fact(invocationFact, { id: this.context.key, change });
  }

  turn(): Result {
    return { state: this.state, effects: this.effects };
  }
}

/** The approvals that were given; of a call of an earlier version, which knew no edits by later ones, the first ones. */
const givenOf = ({ given, approvals, agreed }: ToolCallState): readonly string[] => given ?? approvals.slice(0, agreed);
