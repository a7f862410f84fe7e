/**
 * The life of a tool call, made outside of an agent's loop, that waits for people.
 *
 *   ─open─▶ waiting ─┬─ approved ─▶ asked by the next, or running ─▶ answered
 *                    ├─ rejected, timed out ─▶ answered (a failure)
 *                    └─ withdraw ─▶ withdrawn (no result)
 *
 * Each question, its decision and the call's next step are one commit. What it came to is kept for a day.
 */
import { type Static, Type } from "@sinclair/typebox";
import { type ApprovalDecided, approvalProtocol, type Notify, type Open, ownerOf } from "../approval/messages.ts";
import { askedCall, CallArguments, promptOf } from "../approval/tool-call.ts";
import { defineActor } from "../kernel/actor.ts";
import { defineLog, schedule } from "../kernel/effect.ts";
import { AnyJson, JsonObject } from "../kernel/json.ts";
import type { BodyOf } from "../kernel/message.ts";
import { Milliseconds, Nullable, Text } from "../kernel/schema.ts";
import { iso } from "../kernel/time.ts";
import { type Context, type Turn, TurnEffects } from "../kernel/turn.ts";
import { AskedApproval } from "../policy/security/clearance.ts";
import { type InvocationFact, invocationFact } from "../tool/invocation.ts";
import {
  CallOutcome,
  KeptCall,
  type Opened,
  runCall,
  showCall,
  type ToolCallMessages,
  toolCallProtocol,
} from "./messages.ts";

const Status = Type.Union(
  (["waiting", "running", "answered", "withdrawn"] as const).map((status) => Type.Literal(status)),
);

export const ToolCallState = Type.Object({
  call: KeptCall,
  /** As people see them; those of an edit once there is one. */
  shown: CallArguments,
  asked: Type.Array(AskedApproval),
  /** How many of them have agreed. */
  agreed: Type.Integer(),
  /** That is open, or was the last. */
  approval_id: Text,
  /** All that agreed, and the open one. */
  approvals: Type.Array(Text),
  expires_at: Milliseconds,
  status: Status,
  edited: Nullable(JsonObject),
  outcome: Nullable(CallOutcome),
  ended_at: Nullable(Milliseconds),
});
export type ToolCallState = Static<typeof ToolCallState>;

/** One entry once the call has ended: who waits for it is told. */
const endedLog = defineLog("events", AnyJson);

/** How long what a call came to is kept after its end. */
const keptMs = 24 * 3600_000;

type State = ToolCallState | null;
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
      const turn = new CallTurn(
        {
          ...{ call, shown, asked, agreed: 0, approval_id: "", approvals: [], expires_at: 0 },
          ...{ status: "waiting", edited: null, outcome: null, ended_at: null },
        },
        context,
      );
      turn.ask(first);
      return { ...turn.turn(), reply: openedOf(turn.state) };
    },

    approval_decided(state, decision, context) {
      if (state?.status !== "waiting" || state.approval_id !== decision.approval_id) return { state, effects: [] };
      const turn = new CallTurn(state, context);
      turn.decided(decision);
      return turn.turn();
    },

    ran(state, outcome, context) {
      if (state?.status !== "running") return { state, effects: [] };
      const turn = new CallTurn(state, context);
      turn.ran(
        outcome.ok
          ? outcome.value
          : failed(state.call.tool, outcome.code === "process_died" ? "interrupted" : outcome.code, outcome.message),
      );
      return turn.turn();
    },

    seen(state, outcome, context) {
      const next = state?.asked[state.agreed];
      if (state?.status !== "waiting" || next === undefined) return { state, effects: [] };
      const turn = new CallTurn(state, context);
      turn.seen(next, outcome);
      return turn.turn();
    },

    withdraw(state, { reason }, context) {
      if (state?.status !== "waiting") return { state, effects: [] };
      const turn = new CallTurn(state, context);
      turn.tell(approvalProtocol, state.approval_id, "withdraw", { reason }, { coCommit: true });
      turn.withdrawn();
      return turn.turn();
    },

    erase: () => ({ state: null, effects: [] }),
  },
});

const openedOf = (state: State): Opened | null =>
  state?.status === "waiting" ? { approval_id: state.approval_id, expires_at: iso(state.expires_at) } : null;

/** What callers are told of a call that was not made, or failed. */
const failed = (tool: string, code: string, message: string): CallOutcome => ({
  outcome: "failed",
  result: { status: "error", isError: true, tool, error: message, code, message },
});

const maxReason = 16_384;

class CallTurn extends TurnEffects<ToolCallMessages> {
  constructor(
    readonly state: ToolCallState,
    context: Context,
  ) {
    super(toolCallProtocol, context);
    this.state = { ...state };
  }

  /** Opens the question that is next in turn. */
  ask({ from, approval }: AskedApproval): void {
    const { call, shown } = this.state;
    const { now, key } = this.context;
    const id = this.context.newIdBeside(approvalProtocol);
    const timeout_ms = approval.timeout_seconds * 1000;
    const tool_call = askedCall({
      tool: call.tool,
      arguments: shown,
      editable: approval.editable,
      // Without a session there is nothing that could remember.
      remember: "none",
      model_reason: null,
      agent_name: call.execution?.agent_name ?? null,
      iteration_number: call.execution?.iteration ?? null,
      invocation_id: key,
      security_context: from === "manifest" ? null : from.context,
      capability_index: from === "manifest" ? null : from.capability_index,
    });
    const body: Open & { readonly arguments: CallArguments } = {
      owner: ownerOf(toolCallProtocol, key),
      kind: "tool_call",
      execution_id: call.execution?.id ?? key,
      root_execution_id: call.execution?.id ?? key,
      workflow_id: null,
      workflow_name: null,
      state_name: null,
      visit: null,
      prompt: promptOf(tool_call),
      asked_at: now,
      timeout_ms,
      default_response: null,
      // An execution that waits by itself is failed by its own loop; here there is a caller who hears of it.
      reject_on_timeout: true,
      approvers: approval.approvers,
      required_role: null,
      quorum: approval.quorum,
      forbid_initiator: approval.forbid_initiator,
      allow_agents: false,
      initiator: initiatorOf(call),
      notify: mailsTo(approval.approvers),
      remind_after_ms: null,
      escalate: null,
      tool_call,
      arguments: shown,
    };
    this.tell(approvalProtocol, id, "open", body, { coCommit: true });
    this.state.approval_id = id;
    this.state.approvals = [...this.state.approvals, id];
    this.state.expires_at = now + timeout_ms;
    this.note({ outcome: "waiting", approval_id: id });
  }

  decided({ status, arguments: edit, reason }: ApprovalDecided): void {
    const { state } = this;
    const { tool } = state.call;
    if (status === "approved") {
      state.agreed += 1;
      if (edit !== undefined) state.edited = edit;
      const next = state.asked[state.agreed];
      if (next === undefined) this.run();
      else if (edit === undefined) this.ask(next);
      // What the next one is shown may not hold values of secrets, and what does is not known here.
      else this.perform(showCall, {}, { id: `show:${this.context.key}:${state.agreed}`, then: "seen" });
    } else if (status === "withdrawn") this.withdrawn();
    else if (status === "timed_out") {
      this.refuse(failed(tool, "approval_timed_out", `No person approved the call of ${tool} in time`));
    } else {
      const said = (reason ?? "").slice(0, maxReason).toWellFormed();
      const refused = failed(tool, "rejected_by_person", `A person rejected the call of ${tool}: ${said}`);
      this.refuse({ ...refused, result: { ...refused.result, reason: said } });
    }
  }

  /** The edited arguments are known as the next one may see them. */
  seen(next: AskedApproval, outcome: BodyOf<ToolCallMessages["seen"]>): void {
    if (!outcome.ok) {
      this.refuse(failed(this.state.call.tool, outcome.code, outcome.message));
      return;
    }
    this.state.shown = outcome.value;
    this.ask(next);
  }

  ran(outcome: CallOutcome): void {
    this.tellExecuted(outcome.outcome !== "withdrawn");
    if (outcome.outcome === "withdrawn") this.note({ outcome: "withdrawn" });
    this.end(outcome, outcome.outcome === "withdrawn" ? "withdrawn" : "answered");
  }

  withdrawn(): void {
    this.note({ outcome: "withdrawn" });
    this.tellExecuted(false);
    const { tool } = this.state.call;
    this.end({ outcome: "withdrawn", result: failed(tool, "withdrawn", "The call was withdrawn").result }, "withdrawn");
  }

  private run(): void {
    this.state.status = "running";
    this.note({ outcome: "running" });
    this.perform(runCall, {}, { id: `run:${this.context.key}`, then: "ran" });
  }

  private refuse(outcome: CallOutcome): void {
    this.note({ outcome: "failed", code: String(outcome.result.code) });
    this.tellExecuted(false);
    this.end(outcome, "answered");
  }

  /** Its approvers hear whether the call was made. */
  private tellExecuted(executed: boolean): void {
    const { approvals, agreed } = this.state;
    for (const id of approvals.slice(0, agreed)) {
      this.tell(approvalProtocol, id, "executed", { executed }, { coCommit: true });
    }
  }

  private end(outcome: CallOutcome, status: ToolCallState["status"]): void {
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

function initiatorOf({ starter }: KeptCall): Open["initiator"] {
  if (starter === null) return { kind: "unknown", sub: "", email: null };
  return { kind: starter.kind, sub: starter.sub, email: null, realm: starter.realm };
}

/** Each address among the approvers gets a mail with a link of its own. */
function mailsTo(approvers: readonly string[]): Notify[] {
  const to = approvers.flatMap((one) => (one.startsWith("email:") ? [one.slice("email:".length)] : []));
  return to.length === 0 ? [] : [{ type: "email", to }];
}
