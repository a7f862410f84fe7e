/**
 * Tool calls that wait for people: asked about, decided, given up.
 *
 *   its place comes ─▶ gathered ─▶ waiting ─┬─ approved ─▶ asked by the next, or runs when its place comes again
 *                                           ├─ rejected, timed out ─▶ answered; the model goes on
 *                                           └─ loop over ─▶ withdrawn
 *
 * What people are shown is read by an activity, since the state does not hold arguments. Then the approval, its event and
 * the call's state are one commit, as are a decision and the call's next step.
 */
import { type ApprovalDecided, approvalProtocol, type Open, ownerOf } from "../../../approval/messages.ts";
import { mailsTo } from "../../../approval/notifications.ts";
import { askedCall, type CallArguments, promptOf } from "../../../approval/tool-call.ts";
import { askedAnew, isGranted, sourceOf } from "../../../policy/security/asked.ts";
import type { AskedApproval } from "../../../policy/security/clearance.ts";
import type { InvocationOutcome } from "../../../tool/invocation.ts";
import { type CallGathered, callGather, type ToolAnswer } from "../../activities.ts";
import { executionProtocol } from "../../messages.ts";
import type { CallWait, Loop, PendingCall } from "../../state.ts";
import { trimText } from "../../trim.ts";
import type { ExecutionTurn } from "../../turn.ts";
import {
  answerCall,
  answerEnded,
  discourage,
  failure,
  keptArguments,
  noteViolation,
  startedNow,
} from "../call-answers.ts";
import { readCommand } from "../command.ts";
import { noteOnRecord } from "../on-record.ts";
import { inputOf } from "../tool-work.ts";
import { cancelRun } from "./run-of-call.ts";
import { maxWaiting, nextAsk, remember, waitsOf } from "./wait-state.ts";

/** Changes of the arguments of one call; after so many, people can only agree or refuse. */
const maxEdits = 8;
const maxReasonBytes = 16_384;
/** Seconds a model is told to wait while too many calls wait. */
const fullRetrySeconds = 60;

/** A call that no person has been asked about yet. */
export const unasked: CallWait = { agreed: 0, activity: null, approval: null, given: [], sha256: null, edited: null };

/** Begins to ask the next person about a call whose place has come. */
export function seekApproval(turn: ExecutionTurn, loop: Loop, call: PendingCall): void {
  const ask = nextAsk(call);
  const isStale = call.wait?.stale === true;
  if (call.wait === undefined || (ask === null && !isStale)) return;
  if (ask !== null && !isStale && remembers(turn, call, ask, null)) {
    call.wait.agreed += 1;
    seekApproval(turn, loop, call);
    return;
  }
  // One about which people have begun to agree keeps its place.
  if (call.wait.given.length === 0 && waitsOf(loop) >= maxWaiting) {
    refuseFull(turn, loop, call, "execution");
    return;
  }
  const { edits = 0, agreed } = call.wait;
  call.wait.activity = `ask:${call.activity}:${edits === 0 ? "" : `${edits}:`}${agreed}${isStale ? ":anew" : ""}`;
  const work = inputOf(turn, call);
  const { log, seq, call_id, edited } = work;
  const input = { log, seq, call_id, ...(edited === undefined ? {} : { edited }), work };
  turn.perform(callGather, input, { id: call.wait.activity, then: "call_gathered" });
}

/** What people are to be shown is known. */
export function gathered(turn: ExecutionTurn, loop: Loop, call: PendingCall, outcome: CallGathered): void {
  const { wait } = call;
  if (wait === undefined) return;
  wait.activity = null;
  if (!outcome.ok) {
    const message = `It could not be asked whether ${call.tool} may run: ${outcome.message}`;
    tellExecuted(turn, call, false);
    const begun = startedNow(turn, call.call_id, call.tool, call.shown_arguments);
    answerCall(turn, loop, begun, "failed", failure(call.tool, outcome.code, message), { error: message });
    return;
  }
  const { arguments: given, full, judged } = outcome.value;
  wait.sha256 = given.sha256;
  if (wait.stale === true) {
    if (judged?.status !== "cleared") {
      refuseEdited(turn, loop, call, judged ?? unjudged);
      return;
    }
    Object.assign(wait, askedAnew(wait.asks?.[0], judged.approvals), { stale: false });
  }
  const ask = nextAsk(call);
  if (ask === null) return;
  if (full !== null && wait.given.length === 0) refuseFull(turn, loop, call, full);
  else if (remembers(turn, call, ask, given.sha256)) wait.agreed += 1;
  else open(turn, call, wait, ask, outcome.value);
}

/** Of an answer that says nothing of them, although they were changed: nothing is run that was not judged. */
const unjudged: ToolAnswer = { status: "failed", code: "internal_error", message: "The changed call was not judged" };

/** What policy says of the changed arguments today, it did not say when they were changed. */
function refuseEdited(turn: ExecutionTurn, loop: Loop, call: PendingCall, judged: ToolAnswer): void {
  tellExecuted(turn, call, false);
  answerEnded(turn, loop, startedNow(turn, call.call_id, call.tool, call.shown_arguments), judged, {});
}

function open(
  turn: ExecutionTurn,
  call: PendingCall,
  wait: CallWait,
  { from, approval }: AskedApproval,
  { arguments: given, model_reason, mails, initiator_email = null }: Extract<CallGathered, { ok: true }>["value"],
): void {
  const { header } = turn.state;
  const { now } = turn.context;
  const id = turn.context.newIdBeside(approvalProtocol);
  const tool_call = askedCall({
    tool: call.tool,
    arguments: given,
    editable: approval.editable && (wait.edits ?? 0) < maxEdits,
    remember: approval.remember ?? "none",
    model_reason,
    agent_name: header.agent_name,
    iteration_number: turn.iteration.number,
    invocation_id: call.clearance?.invocation_id ?? call.activity,
    security_context: from === "manifest" ? null : from.context,
    capability_index: from === "manifest" ? null : from.capability_index,
  });
  const timeout_ms = approval.timeout_seconds * 1000;
  const body: Open & { readonly arguments: CallArguments } = {
    owner: ownerOf(executionProtocol, turn.executionId),
    kind: "tool_call",
    execution_id: turn.executionId,
    root_execution_id: header.hierarchy.path[0] ?? turn.executionId,
    workflow_id: null,
    workflow_name: null,
    state_name: null,
    visit: null,
    prompt: promptOf(tool_call),
    asked_at: now,
    timeout_ms,
    default_response: null,
    reject_on_timeout: approval.on_timeout === "reject",
    approvers: approval.approvers,
    required_role: null,
    quorum: approval.quorum,
    forbid_initiator: approval.forbid_initiator,
    allow_agents: false,
    initiator: initiatorOf(turn, initiator_email),
    notify: mails ? mailsTo(approval.approvers) : [],
    remind_after_ms: null,
    escalate: null,
    tool_call,
    arguments: given,
  };
  turn.tell(approvalProtocol, id, "open", body, { coCommit: true });
  wait.approval = { id, expires_at: now + timeout_ms, on_timeout: approval.on_timeout };
  note(turn, "tool_call_waiting", call, id, null);
}

function initiatorOf({ state: { header } }: ExecutionTurn, email: string | null): Open["initiator"] {
  const { starter, initiating_user_sub } = header;
  if (starter === undefined) return { kind: "unknown", sub: initiating_user_sub ?? "", email };
  return { kind: starter.kind, sub: starter.sub, email, realm: starter.realm };
}

/** What a decision means for the loop. */
export type Decided =
  /** The call goes on, or has its answer. */
  | "settled"
  /** No person decided in time, and that fails the execution. */
  | "fails";

/** People have decided about a call, or have not in time. */
export function decided(turn: ExecutionTurn, loop: Loop, call: PendingCall, decision: ApprovalDecided): Decided {
  const { wait } = call;
  if (wait?.approval == null) return "settled";
  const { on_timeout, run } = wait.approval;
  wait.approval = null;
  if (decision.status === "approved") {
    approve(turn, loop, call, wait, decision, run !== undefined);
    return "settled";
  }
  const timedOut = decision.status === "timed_out";
  if (decision.status === "withdrawn") {
    runWithdrawn(turn, loop, call, decision);
    return "settled";
  }
  if (timedOut && on_timeout === "fail") {
    note(turn, "tool_call_rejected", call, decision.approval_id, "tool_approval_timed_out");
    noteOnRecord(turn, call, { outcome: "failed", code: "tool_approval_timed_out" });
    dropCall(turn, loop, call, false);
    return "fails";
  }
  const code = timedOut ? "approval_timed_out" : "rejected_by_person";
  const reason = decision.reason ?? "";
  const message = timedOut
    ? `No person approved the call of ${call.tool} in time`
    : `A person rejected the call of ${call.tool}: ${trimText(reason, maxReasonBytes)}`;
  note(turn, "tool_call_rejected", call, decision.approval_id, code);
  tellExecuted(turn, call, false);
  const begun = startedNow(turn, call.call_id, call.tool, call.shown_arguments);
  const said = timedOut ? {} : { reason: trimText(reason, maxReasonBytes) };
  const result = { ...failure(call.tool, code, discourage(message)), ...said };
  answerCall(turn, loop, begun, "failed", result, { error: message });
  return "settled";
}

function approve(
  turn: ExecutionTurn,
  loop: Loop,
  call: PendingCall,
  wait: CallWait,
  { approval_id, arguments: edit, arguments_sha256, remember: granted = "none" }: ApprovalDecided,
  isOfRun: boolean,
): void {
  const ask = nextAsk(call);
  note(turn, "tool_call_approved", call, approval_id, null);
  wait.agreed += 1;
  // The run asked, and tells what became of it.
  if (isOfRun) return;
  wait.given.push(approval_id);
  if (edit !== undefined) {
    wait.edited = turn.record({ entry: "edit", call_id: call.call_id, arguments: edit });
    wait.sha256 = arguments_sha256 ?? null;
    wait.edits = (wait.edits ?? 0) + 1;
    wait.asks = ask === null ? [] : [ask];
    wait.agreed = wait.asks.length;
    wait.stale = true;
    call.shown_arguments = keptArguments(edit);
    if (call.command !== null) takeCommand(turn, loop, call, edit);
  }
  if (ask === null || granted === "none") return;
  const grant = { tool: call.tool, from: sourceOf(ask) };
  if (granted === "tool") remember(turn.state, { ...grant, sha256: null });
  else if (wait.sha256 !== null) remember(turn.state, { ...grant, sha256: wait.sha256 });
}

/** A command runs as it was changed. That it fits was checked when it was; if the rules differ since, it is not run. */
function takeCommand(turn: ExecutionTurn, loop: Loop, call: PendingCall, edit: CallArguments["given"]): void {
  const command = readCommand(edit);
  if (!("issues" in command)) {
    call.command = command;
    return;
  }
  const message = `${call.tool}: the arguments do not fit`;
  tellExecuted(turn, call, false);
  const begun = startedNow(turn, call.call_id, call.tool, call.shown_arguments);
  answerCall(turn, loop, begun, "failed", failure(call.tool, "invalid_arguments", message), { error: message });
}

function remembers(turn: ExecutionTurn, { tool }: PendingCall, ask: AskedApproval, sha256: string | null): boolean {
  return isGranted(turn.state.remembered ?? [], tool, ask, sha256);
}

/** So many calls wait already that this one may not (2008). */
export function refuseFull(turn: ExecutionTurn, loop: Loop, call: PendingCall, of: "execution" | "tenant"): void {
  const code = "concurrency_exceeded";
  const message = `${call.tool} cannot wait for a person: as many calls of the ${of} wait as may`;
  const facts = { code, error_code: 2008, retry_after_seconds: fullRetrySeconds };
  noteViolation(turn, call.tool, "concurrent_exec_limit_exceeded", { ...facts, attempted: call.tool });
  const begun = startedNow(turn, call.call_id, call.tool, call.shown_arguments);
  const result = { ...failure(call.tool, code, discourage(message)), ...facts };
  answerCall(turn, loop, begun, "refused", result, { error: message, violation: "concurrent_exec_limit_exceeded" });
}

/** The call will not be run, or not to its end: what people are asked about it is taken back. */
export function dropWait(turn: ExecutionTurn, call: PendingCall, reason: string): void {
  const { wait } = call;
  if (wait === undefined) return;
  if (wait.activity !== null) turn.abandon(wait.activity);
  const { approval } = wait;
  if (approval?.run !== undefined) cancelRun(turn, call, reason);
  else if (approval !== null) turn.tell(approvalProtocol, approval.id, "withdraw", { reason }, { coCommit: true });
  const wasAsked = approval !== null || wait.given.length > 0;
  if (wasAsked && call.started_at === null) {
    note(turn, "tool_call_withdrawn", call, approval?.id ?? wait.given.at(-1) ?? null, reason);
  }
  tellExecuted(turn, call, call.started_at !== null);
  call.wait = { ...wait, activity: null, approval: null, given: [] };
}

/** Without a tool message: the loop ends with it. */
function dropCall(turn: ExecutionTurn, loop: Loop, call: PendingCall, executed: boolean): void {
  tellExecuted(turn, call, executed);
  loop.calls = loop.calls.filter(({ call_id }) => call_id !== call.call_id);
}

/** A decision that comes when its call is not waited for any more. */
export function noteUnused(turn: ExecutionTurn, { approval_id, status }: ApprovalDecided): void {
  if (status !== "approved") return;
  turn.tell(approvalProtocol, approval_id, "executed", { executed: false }, { coCommit: true });
}

/** The run of a call was cancelled while people were asked about it. */
function runWithdrawn(turn: ExecutionTurn, loop: Loop, call: PendingCall, { approval_id }: ApprovalDecided): void {
  const code = "cancelled";
  const message = `The run of ${call.tool} was cancelled before it began`;
  note(turn, "tool_call_rejected", call, approval_id, code);
  const begun = startedNow(turn, call.call_id, call.tool, call.shown_arguments);
  answerCall(turn, loop, begun, "failed", failure(call.tool, code, message), { error: message });
}

/** The approvals that were given hear, once, whether the call ran. */
export function tellExecuted(turn: ExecutionTurn, call: PendingCall, executed: boolean): void {
  for (const id of call.wait?.given ?? []) {
    turn.tell(approvalProtocol, id, "executed", { executed }, { coCommit: true });
  }
  if (call.wait !== undefined) call.wait = { ...call.wait, given: [] };
}

/** What the record says of a call after these; one that was rejected is answered, which ends its record. */
const outcomes = { tool_call_waiting: "waiting", tool_call_withdrawn: "withdrawn" } as const satisfies {
  readonly [event: string]: InvocationOutcome;
};

export function note(
  turn: ExecutionTurn,
  event: "tool_call_waiting" | "tool_call_approved" | "tool_call_rejected" | "tool_call_withdrawn",
  call: PendingCall,
  approval_id: string | null,
  code: string | null,
): void {
  const { tool, call_id } = call;
  const outcome = event in outcomes ? outcomes[event as keyof typeof outcomes] : undefined;
  if (outcome !== undefined) {
    const asked = approval_id === null ? {} : { approval_id };
    noteOnRecord(turn, call, { outcome, ...asked, ...(code === null ? {} : { code }) });
  }
  turn.emit(event, {
    iteration_number: turn.iteration.number,
    tool_name: tool,
    call_id,
    approval_id,
    code,
    at: turn.at,
  });
}
