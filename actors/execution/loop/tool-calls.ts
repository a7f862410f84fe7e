/**
 * The tool calls of one model reply: read, refused or run, each answered by exactly one tool message.
 *
 * Order is kept. Neighbours that only look run side by side; every other call runs alone.
 */

import { CMD_RUN, findTool, type ToolEntry } from "../../tool/catalog.ts";
import type { CallCleared, ModelAnswer, ToolAnswer, ToolCall, ToolOutcome } from "../activities.ts";
import { callClear, toolCall } from "../activities.ts";
import { noteCommandRest } from "../console.ts";
import type { Dispatch, DispatchResult } from "../messages.ts";
import type { Loop, PendingCall } from "../state.ts";
import { trimOutput, trimText } from "../trim.ts";
import type { ExecutionTurn } from "../turn.ts";
import {
  answerCall,
  answerEnded,
  discourage,
  failure,
  isTimeUp,
  keptArguments,
  misused,
  noteCompleted,
  noteViolation,
  type Result,
  shownArguments,
  startedNow,
} from "./call-answers.ts";
import { allowedBy, type DispatchCommand, readCommand, within } from "./command.ts";
import { entryOf } from "./judged-calls.ts";
import { storedAnswer } from "./loop-answer.ts";
import { noteOnRecord } from "./on-record.ts";
import { refuseHeldCall } from "./own-limits.ts";
import { type Clearance, dismissToolJudges, seekClearance } from "./tool-judges.ts";
import { inputOf } from "./tool-work.ts";
import { heldByRun } from "./waiting/held-runs.ts";
import { cancelRun } from "./waiting/run-of-call.ts";
import { isApproved, isUnderWay, isWaiting, needsPeople, placesOf, wasAsked } from "./waiting/wait-state.ts";
import { dropWait, seekApproval, tellExecuted, unasked } from "./waiting/waiting.ts";

/** Answered dispatches kept for telling repeats: more than a loop can make in its rounds, usually. */
const keptDispatches = 512;
const maxReasonBytes = 1024;
/** Changes of policy bind within 5 s, and a call is cleared by rules that are up to 3 s old. */
const clearedForMs = 2_000;

/** The model's calls under catalogue names, with ids that are unique within the reply. */
export function readCalls(tools: readonly ToolEntry[], calls: readonly ToolCall[]): ToolCall[] {
  const taken = new Set<string>();
  return calls.map((call, index) => {
    let id = call.id;
    for (let number = index + 1; id === "" || taken.has(id); number++) id = `call_${number}`;
    taken.add(id);
    return { ...call, id, name: findTool(tools, call.name)?.name ?? call.name };
  });
}

/** Stores the model's message and queues its calls; those that cannot be run are answered at once. */
export function takeCalls(
  turn: ExecutionTurn,
  loop: Loop,
  content: string,
  calls: readonly ToolCall[],
  { held_calls: held = [], clearances }: Pick<ModelAnswer, "held_calls" | "clearances">,
): void {
  const seq = turn.record({
    entry: "message",
    message: { role: "assistant", content, tool_calls: [...calls] },
  });
  loop.phase = "running_tools";
  loop.calls = [];
  for (const [index, call] of calls.entries()) {
    const known = entryOf(turn, loop, call, clearances?.[index]);
    if (known === null) continue;
    const { entry, clearance } = known;
    const isDispatched = entry.name === CMD_RUN && clearance?.on_host !== true;
    const command = isDispatched ? readCommand(call.arguments) : null;
    if (command !== null && "issues" in command) {
      const judged = clearance ?? undefined;
      misused(turn, loop, call, `${entry.name}: the arguments do not fit`, command.issues, judged);
      continue;
    }
    const hold = held.find(({ place }) => place === index);
    if (hold !== undefined) {
      refuseHeldCall(turn, loop, call, entry.name, hold);
      continue;
    }
    loop.calls.push({
      call_id: call.id,
      tool: entry.name,
      read_only: entry.read_only && command === null,
      started_at: null,
      activity: `tool:${loop.id}:${seq}:${index}`,
      seq,
      shown_arguments: keptArguments(call.arguments),
      command,
      dispatch_id: null,
      watched: false,
      live: null,
      unjudged: entry.skip_judge === true,
      judges_passed: 0,
      panel: null,
      ...(clearance === null ? {} : { clearance, cleared_at: turn.context.now }),
      ...(clearance === null || clearance.approvals.length === 0 ? {} : { wait: { ...unasked, given: [] } }),
    });
  }
}

/**
 * Starts every call that may start now. Calls that wait for people keep their place: later ones that only look run beside
 * them, later ones that change something run after them. Those may be asked about meanwhile, since that changes nothing.
 */
export function advanceCalls(turn: ExecutionTurn, loop: Loop): "busy" | "all answered" {
  const running = loop.calls.filter(isUnderWay);
  if (running.some(({ read_only }) => !read_only)) return "busy";
  let free = turn.state.header.bounds.tool_parallelism - running.length;
  let alone = running.length === 0;
  let waits = false;
  for (const call of loop.calls.filter((one) => !isUnderWay(one))) {
    const isOpen = isWaiting(call);
    waits ||= isOpen;
    if (isOpen) continue;
    if (!mayBegin(call, { free, alone, waits })) break;
    begin(turn, loop, call);
    if (!loop.calls.includes(call)) continue;
    if (!call.read_only) break;
    if (!isUnderWay(call)) continue;
    free -= 1;
    alone = false;
  }
  return loop.calls.length === 0 ? "all answered" : "busy";
}

/** @param now how many more may look, whether nothing runs, whether a call before it waits */
function mayBegin(call: PendingCall, now: { free: number; alone: boolean; waits: boolean }): boolean {
  if (call.read_only) return now.free > 0;
  return now.alone && (!now.waits || needsPeople(call));
}

function begin(turn: ExecutionTurn, loop: Loop, call: PendingCall): void {
  judgesSaid(turn, loop, call, seekClearance(turn, call));
}

/** What comes after the judges: people, and then the call itself. */
function proceed(turn: ExecutionTurn, loop: Loop, call: PendingCall): void {
  if (needsPeople(call)) seekApproval(turn, loop, call);
  if (needsPeople(call) || !loop.calls.includes(call) || isUnderWay(call)) return;
  // Nothing but its own place keeps it: what must be alone is not started beside one that waits.
  if (!call.read_only && loop.calls.some((other) => other !== call && isWaiting(other))) return;
  if (isJudgedAnew(turn, call)) clearAgain(turn, call);
  else start(turn, loop, call);
}

/** Of an approved tool of the service its own activity asks policy again. */
function isJudgedAnew(turn: ExecutionTurn, call: PendingCall): boolean {
  if (call.command === null) return !isApproved(call) && wasHeldUp(turn, call);
  return isApproved(call) || wasHeldUp(turn, call) || call.clearance?.directory_bound === true;
}

/** Others before it, or its judges, took their time. */
function wasHeldUp({ context }: ExecutionTurn, { clearance, cleared_at = 0 }: PendingCall): boolean {
  return clearance !== undefined && context.now - cleared_at > clearedForMs;
}

/**
 * It was cleared, and perhaps approved, some time ago, or calls before it may have put a link where it is to run: whether it
 * may still run, and whether people are to be asked first, is for today's policy to say.
 */
function clearAgain(turn: ExecutionTurn, call: PendingCall): void {
  call.wait ??= { ...unasked, given: [] };
  call.wait.activity = `clear:${call.activity}:${call.wait.agreed}`;
  turn.perform(callClear, inputOf(turn, call), { id: call.wait.activity, then: "call_cleared" });
}

/** Today's policy has judged a call that was cleared before. */
export function clearedAgain(turn: ExecutionTurn, loop: Loop, call: PendingCall, outcome: CallCleared): void {
  if (call.wait === undefined) return;
  call.wait.activity = null;
  if (outcome.ok && outcome.value.status === "cleared") {
    const { max_timeout_secs, approvals = [] } = outcome.value;
    if (call.command !== null) {
      const most = max_timeout_secs ?? call.command.timeout_secs;
      call.command.timeout_secs = Math.min(call.command.timeout_secs, most);
    }
    call.cleared_at = turn.context.now;
    // Of those whom policy asks only now, none has been heard.
    if (!wasAsked(call)) call.wait.asks = approvals;
    if (needsPeople(call)) proceed(turn, loop, call);
    else start(turn, loop, call);
    return;
  }
  const ended: ToolAnswer =
    outcome.ok && outcome.value.status !== "cleared"
      ? outcome.value
      : {
          status: "failed",
          code: outcome.ok ? "internal_error" : outcome.code,
          message: outcome.ok ? "" : outcome.message,
        };
  tellExecuted(turn, call, false);
  answerEnded(turn, loop, startedNow(turn, call.call_id, call.tool, call.shown_arguments), ended, {});
}

/** Runs a call that its judges have cleared, and answers one they refuse (2009). */
export function judgesSaid(turn: ExecutionTurn, loop: Loop, call: PendingCall, clearance: Clearance): void {
  if (clearance.is === "cleared") proceed(turn, loop, call);
  if (clearance.is !== "refused") return;
  const code = "judge_rejected";
  const { judge, score, reason } = clearance;
  const message = `${call.tool} was rejected by ${judge}: ${trimText(reason, maxReasonBytes)}`;
  noteViolation(turn, call.tool, code, { code, error_code: 2009, attempted: call.tool, judge, score, reason });
  const refused = startedNow(turn, call.call_id, call.tool, call.shown_arguments);
  const result = { ...failure(call.tool, code, discourage(message)), error_code: 2009 };
  answerCall(turn, loop, refused, "refused", result, { error: message, violation: code });
}

function start(turn: ExecutionTurn, loop: Loop, call: PendingCall): void {
  call.started_at = turn.context.now;
  if (call.begun !== true) {
    loop.executed += 1;
    turn.state.usage.tool_calls += 1;
    turn.emit("tool_call_started", {
      iteration_number: turn.iteration.number,
      tool_name: call.tool,
      call_id: call.call_id,
      started_at: turn.at,
      _dispatched: call.command !== null,
      _arguments: shownArguments(call.shown_arguments),
    });
  }
  const isEdited = (call.wait?.edited ?? null) !== null;
  noteOnRecord(turn, call, {
    outcome: "running",
    ...(isEdited ? { edited_arguments: call.shown_arguments } : {}),
  });
  if (call.command !== null) {
    tellExecuted(turn, call, true);
    dispatch(turn, loop, call, call.command);
    return;
  }
  turn.perform(toolCall, inputOf(turn, call), { id: call.activity, then: "tool_outcome" });
}

/** The model reads that a person changed its arguments. */
const editedBy = ({ wait }: PendingCall): Result => ((wait?.edited ?? null) === null ? {} : { edited: true });

/** Sends a command to the bootstrap: the answer to the waiting gateway request. */
function dispatch(
  turn: ExecutionTurn,
  loop: Loop,
  call: PendingCall,
  wanted: NonNullable<PendingCall["command"]>,
): void {
  const { iteration } = turn;
  const { at, of } = endOf(turn);
  const command = within(allowedBy(call.clearance, wanted), at - turn.context.now, of);
  const reply: Dispatch = {
    type: "dispatch",
    dispatch_id: turn.context.newId(),
    action: "exec",
    command: command.command,
    args: command.args,
    cwd: command.cwd,
    env_additions: command.env_additions,
    timeout_secs: command.timeout_secs,
    max_output_bytes: command.max_output_bytes,
    iteration_number: iteration.number,
  };
  loop.phase = "awaiting_result";
  call.command = command;
  call.dispatch_id = reply.dispatch_id;
  const seq = turn.record({ entry: "dispatch", dispatch: reply });
  const sent = { id: reply.dispatch_id, loop: loop.id, from: loop.from, result: null, key: null, reply: null };
  iteration.dispatches = [...iteration.dispatches, sent].slice(-keptDispatches);
  storedAnswer(turn, loop, seq, { status: "reply", reply, ...placesOf(call) });
  watchCommand(turn, call);
}

/** When the time of a command ends at the latest, and whose time that is. */
function endOf({ state, iteration }: ExecutionTurn): { readonly at: number; readonly of: "execution" | "iteration" } {
  const execution = state.deadline_at ?? Number.MAX_SAFE_INTEGER;
  const ofIteration = iteration.deadline_at ?? Number.MAX_SAFE_INTEGER;
  return execution <= ofIteration ? { at: execution, of: "execution" } : { at: ofIteration, of: "iteration" };
}

/** A command has its own time from now on, and some more until the bootstrap's silence counts as its loss. */
export function watchCommand(turn: ExecutionTurn, call: PendingCall): void {
  const { dispatch_id, command } = call;
  if (dispatch_id === null || command === null) return;
  const overdueAt = turn.context.now + command.timeout_secs * 1000 + turn.state.header.bounds.dispatch_grace_ms;
  // When the iteration ends sooner, its own timer does the work.
  const isWatched = overdueAt < endOf(turn).at;
  if (call.watched) turn.cancelTimer(dispatchTimer(dispatch_id));
  if (isWatched) watchDispatch(turn, dispatch_id, overdueAt);
  call.watched = isWatched;
}

/** @param at when the bootstrap's silence counts as its loss, Unix ms */
export function watchDispatch(turn: ExecutionTurn, dispatch_id: string, at: number): void {
  turn.schedule(dispatchTimer(dispatch_id), at, "dispatch_lost", { dispatch_id, due_at: at });
}

export const dispatchTimer = (dispatchId: string): string => `dispatch:${dispatchId}`;

/** Whose time was up when a command was cut off; null: the command came to its own end or to its own timeout. */
export type TimeUp = NonNullable<DispatchCommand["cut_by"]> | null;

/** Answers the call of a command that the bootstrap has run. */
export function commandEnded(turn: ExecutionTurn, loop: Loop, call: PendingCall, result: DispatchResult): TimeUp {
  const { max_output_bytes = 1_048_576, dropped_env = [], notice = null, cut_by = null } = call.command ?? {};
  noteCommandRest(turn, call, result);
  const output = trimOutput(result.stdout, result.stderr, max_output_bytes);
  const { timed_out = false, signal } = result;
  const truncated = result.truncated || output.truncated;
  const ran = result.exit_code >= 0 && !timed_out;
  const facts: Result = {
    exit_code: result.exit_code,
    stdout: output.stdout,
    stderr: output.stderr,
    ...(truncated ? { truncated } : {}),
    ...(timed_out ? { timed_out } : {}),
    ...(signal === undefined ? {} : { signal }),
    ...(dropped_env.length > 0 ? { dropped_env } : {}),
    ...(notice === null ? {} : { notice }),
    ...editedBy(call),
  };
  const whole: Result = {
    ...facts,
    duration_ms: result.duration_ms,
    truncated,
    timed_out,
    stdout_bytes: result.stdout_bytes ?? output.stdout_bytes,
    stderr_bytes: result.stderr_bytes ?? output.stderr_bytes,
  };
  if (call.watched) turn.cancelTimer(dispatchTimer(result.dispatch_id));
  const status = ran ? "succeeded" : timed_out ? "timed_out" : "failed";
  const exitCode = result.exit_code >= 0 ? result.exit_code : null;
  answerCall(turn, loop, call, status, facts, { error: ran ? null : whyNot(call, timed_out), kept: whole, exitCode });
  return timed_out ? cut_by : null;
}

/** Why a command came to no exit code of its own. */
function whyNot({ command }: PendingCall, isTimedOut: boolean): string {
  if (!isTimedOut) return "The command could not be run";
  const { timeout_secs = 0, cut_by } = command ?? {};
  const whose = cut_by === undefined ? "" : `: the time of the ${cut_by} was up`;
  return `The command timed out after ${timeout_secs} s${whose}`;
}

/** Answers the call of a tool of ours, or has it wait for the people whom its run on a host asks. */
export function toolEnded(turn: ExecutionTurn, loop: Loop, call: PendingCall, outcome: ToolOutcome): void {
  const ended = outcome.ok
    ? outcome.value
    : { status: "failed" as const, code: outcome.code, message: outcome.message };
  if (ended.status === "waiting") {
    heldByRun(turn, loop, call, ended);
    return;
  }
  // It may have been given up while the host is at work, or not be allowed any more what people have approved.
  if (ended.status !== "succeeded") cancelRun(turn, call, "call_ended");
  tellExecuted(turn, call, ended.status !== "refused");
  answerEnded(turn, loop, call, ended, editedBy(call));
}

/** Takes back what is under way, because its result will not be used. */
export function interruptCalls(turn: ExecutionTurn, loop: Loop): void {
  for (const call of loop.calls) {
    dismissToolJudges(turn, call);
    dropWait(turn, call, "loop_over");
    if (call.started_at === null) continue;
    cancelRun(turn, call, "loop_over");
    if (call.dispatch_id === null) turn.abandon(call.activity);
    else if (call.watched) turn.cancelTimer(dispatchTimer(call.dispatch_id));
    const isLate = isTimeUp(turn);
    const message = isLate ? "The call was cut off: its time was up" : "The call was interrupted";
    const result = failure(call.tool, isLate ? "timed_out" : "interrupted", message);
    const result_bytes = noteCompleted(turn, call, isLate ? "timed_out" : "failed", result, { error: message });
    const duration_ms = turn.context.now - call.started_at;
    const code = isLate ? "timed_out" : "interrupted";
    const outcome = isLate ? "failed" : "interrupted";
    noteOnRecord(turn, call, { outcome, code, duration_ms, result_bytes, ran: true });
  }
  loop.calls = [];
}
