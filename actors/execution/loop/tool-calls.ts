/**
 * The tool calls of one model reply: read, refused or run, each answered by exactly one tool message.
 *
 * Order is kept. Neighbours that only look run side by side; every other call runs alone.
 */

import type { Json } from "../../kernel/json.ts";
import { CMD_RUN, findTool, type ToolEntry } from "../../tool/catalog.ts";
import type { ToolAnswer, ToolCall, ToolCallInput, ToolOutcome } from "../activities.ts";
import { toolCall } from "../activities.ts";
import type { CallStatus } from "../events.ts";
import type { Life } from "../life.ts";
import type { Dispatch, DispatchResult } from "../messages.ts";
import { loopLog } from "../messages.ts";
import type { Loop, PendingCall } from "../state.ts";
import { trimOutput, trimText } from "../trim.ts";
import { readCommand, within } from "./command.ts";
import { storedAnswer } from "./loop-answer.ts";
import { type Clearance, dismissToolJudges, seekClearance } from "./tool-judges.ts";

type Result = { readonly [member: string]: Json };

/** Longest result kept for the record, and all of an iteration's together: a record has to fit into one answer. */
const keptResultBytes = 1_048_576;
const keptPerIteration = 4_194_304;
/** What is kept of a result when the iteration has used up its share. */
const alwaysKeptBytes = 2048;
/** Answered dispatches kept for telling repeats: more than a loop can make in its rounds, usually. */
const keptDispatches = 512;
const maxReasonBytes = 1024;

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
export function takeCalls(life: Life, loop: Loop, content: string, calls: readonly ToolCall[]): void {
  const seq = life.record({
    entry: "message",
    message: { role: "assistant", content, tool_calls: [...calls] },
  });
  loop.phase = "running_tools";
  loop.calls = [];
  for (const [index, call] of calls.entries()) {
    const entry = findTool(life.state.tools, call.name);
    if (entry === undefined) {
      refuseUnlisted(life, loop, call);
      continue;
    }
    if (call.malformed !== undefined) {
      misused(life, loop, call, `${entry.name}: the arguments must be one JSON object`, []);
      continue;
    }
    const command = entry.name === CMD_RUN ? readCommand(call.arguments) : null;
    if (command !== null && "issues" in command) {
      misused(life, loop, call, `${entry.name}: the arguments do not fit`, command.issues);
      continue;
    }
    loop.calls.push({
      call_id: call.id,
      tool: entry.name,
      read_only: entry.read_only && command === null,
      started_at: null,
      activity: `tool:${loop.id}:${seq}:${index}`,
      seq,
      command,
      dispatch_id: null,
      watched: false,
      unjudged: entry.skip_judge === true,
      judges_passed: 0,
      panel: null,
    });
  }
}

/** Starts every call that may start now. */
export function advanceCalls(life: Life, loop: Loop): "busy" | "all answered" {
  const running = loop.calls.filter(isUnderWay);
  if (running.some(({ read_only }) => !read_only)) return "busy";
  let free = life.state.header.bounds.tool_parallelism - running.length;
  let alone = running.length === 0;
  for (const call of loop.calls) {
    if (isUnderWay(call)) continue;
    if (!call.read_only) {
      if (alone) begin(life, loop, call);
      break;
    }
    if (free <= 0) break;
    begin(life, loop, call);
    free -= 1;
    alone = false;
  }
  return loop.calls.length === 0 ? "all answered" : "busy";
}

/** A call keeps its place while its judges are asked. */
const isUnderWay = ({ started_at, panel }: PendingCall): boolean => started_at !== null || panel !== null;

function begin(life: Life, loop: Loop, call: PendingCall): void {
  judgesSaid(life, loop, call, seekClearance(life, call));
}

/** Runs a call that its judges have cleared, and answers one they refuse (2009). */
export function judgesSaid(life: Life, loop: Loop, call: PendingCall, clearance: Clearance): void {
  if (clearance.is === "cleared") start(life, loop, call);
  if (clearance.is !== "refused") return;
  const code = "judge_rejected";
  const { judge, score, reason } = clearance;
  const message = `${call.tool} was rejected by ${judge}: ${trimText(reason, maxReasonBytes)}`;
  noteViolation(life, call.tool, code, { code, error_code: 2009, attempted: call.tool, judge, score, reason });
  const refused = startedNow(life, call.call_id, call.tool);
  const result = { ...failure(call.tool, code, discourage(message)), error_code: 2009 };
  answerCall(life, loop, refused, "refused", result, message);
}

function start(life: Life, loop: Loop, call: PendingCall): void {
  call.started_at = life.context.now;
  loop.executed += 1;
  life.state.usage.tool_calls += 1;
  life.emit("tool_call_started", {
    iteration_number: life.iteration.number,
    tool_name: call.tool,
    call_id: call.call_id,
    started_at: life.at,
    _dispatched: call.command !== null,
  });
  if (call.command !== null) {
    dispatch(life, loop, call, call.command);
    return;
  }
  const input: ToolCallInput = {
    execution_id: life.executionId,
    iteration: life.iteration.number,
    instance_id: life.iteration.instance_id,
    log: loopLog(life.iteration.instance_id).name,
    seq: call.seq,
    call_id: call.call_id,
    tool: call.tool,
    repeatable: call.read_only,
  };
  life.perform(toolCall, input, { id: call.activity, then: "tool_outcome" });
}

/** Sends a command to the bootstrap: the answer to the waiting gateway request. */
function dispatch(life: Life, loop: Loop, call: PendingCall, wanted: NonNullable<PendingCall["command"]>): void {
  const { now } = life.context;
  const { iteration, state } = life;
  const endsAt = Math.min(
    state.deadline_at ?? Number.MAX_SAFE_INTEGER,
    iteration.deadline_at ?? Number.MAX_SAFE_INTEGER,
  );
  const command = within(wanted, endsAt - now);
  const reply: Dispatch = {
    type: "dispatch",
    dispatch_id: life.context.newId(),
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
  const seq = life.record({ entry: "dispatch", dispatch: reply });
  const sent = { id: reply.dispatch_id, loop: loop.id, from: loop.from, result: null, key: null, reply: null };
  iteration.dispatches = [...iteration.dispatches, sent].slice(-keptDispatches);
  storedAnswer(life, loop, seq, { status: "reply", reply });
  const overdueAt = now + command.timeout_secs * 1000 + state.header.bounds.dispatch_grace_ms;
  // When the iteration ends sooner, its own timer does the work.
  if (overdueAt < endsAt) {
    call.watched = true;
    life.schedule(dispatchTimer(reply.dispatch_id), overdueAt, "dispatch_lost", { dispatch_id: reply.dispatch_id });
  }
}

const dispatchTimer = (dispatchId: string): string => `dispatch:${dispatchId}`;

/** Answers the call of a command that the bootstrap has run. */
export function commandEnded(life: Life, loop: Loop, call: PendingCall, result: DispatchResult): void {
  const { max_output_bytes = 1_048_576, dropped_env = [], notice = null } = call.command ?? {};
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
  };
  const whole: Result = {
    ...facts,
    duration_ms: result.duration_ms,
    truncated,
    timed_out,
    stdout_bytes: result.stdout_bytes ?? output.stdout_bytes,
    stderr_bytes: result.stderr_bytes ?? output.stderr_bytes,
  };
  if (call.watched) life.cancelTimer(dispatchTimer(result.dispatch_id));
  const error = ran ? null : timed_out ? "The command timed out" : "The command could not be run";
  answerCall(life, loop, call, ran ? "succeeded" : "failed", facts, error, whole);
}

/** Answers the call of a tool of ours. */
export function toolEnded(life: Life, loop: Loop, call: PendingCall, outcome: ToolOutcome): void {
  const { tool } = call;
  const ended: ToolAnswer = outcome.ok
    ? outcome.value
    : { status: "failed", code: outcome.code, message: outcome.message };
  if (ended.status === "succeeded") {
    answerCall(life, loop, call, "succeeded", ended.result, null);
    return;
  }
  const { code, message } = ended;
  if (ended.status === "failed") {
    const details = ended.details === undefined ? {} : { details: ended.details };
    answerCall(life, loop, call, "failed", { ...failure(tool, code, message), ...details }, message);
    return;
  }
  const { error_code, violation_type, attempted, retry_after_seconds } = ended;
  noteViolation(life, tool, violation_type, { code, error_code, attempted });
  const advice = retry_after_seconds === undefined ? {} : { retry_after_seconds };
  const result = { ...failure(tool, code, discourage(message)), error_code, ...advice };
  answerCall(life, loop, call, "refused", result, message);
}

/** Takes back what is under way, because its result will not be used. */
export function interruptCalls(life: Life, loop: Loop): void {
  for (const call of loop.calls) {
    dismissToolJudges(life, call);
    if (call.started_at === null) continue;
    if (call.dispatch_id === null) life.abandon(call.activity);
    else if (call.watched) life.cancelTimer(dispatchTimer(call.dispatch_id));
    const message = "The call was interrupted";
    noteCompleted(life, call, "failed", failure(call.tool, "interrupted", message), message);
  }
  loop.calls = [];
}

/** Not among the effective tools (2000). */
function refuseUnlisted(life: Life, loop: Loop, { id, name }: ToolCall): void {
  const code = "tool_not_allowed";
  const message = `${name} is not among this agent's tools`;
  const call = startedNow(life, id, name);
  noteViolation(life, name, code, { code, error_code: 2000, attempted: name });
  answerCall(life, loop, call, "refused", { ...failure(name, code, discourage(message)), error_code: 2000 }, message);
}

function misused(life: Life, loop: Loop, { id, name }: ToolCall, message: string, issues: readonly object[]): void {
  const call = startedNow(life, id, name);
  const result = { ...failure(name, "invalid_arguments", message), issues: issues as readonly Result[] };
  answerCall(life, loop, call, "failed", result, message);
}

const discourage = (message: string): string => `${message}. Do not repeat this call.`;

function failure(tool: string, code: string, message: string): Result {
  return { status: "error", isError: true, tool, error: message, code, message };
}

type EndedCall = Pick<PendingCall, "call_id" | "tool" | "started_at">;

/** A call that ends without having run. */
function startedNow(life: Life, callId: string, tool: string): EndedCall {
  life.emit("tool_call_started", {
    iteration_number: life.iteration.number,
    tool_name: tool,
    call_id: callId,
    started_at: life.at,
    _dispatched: false,
  });
  return { call_id: callId, tool, started_at: life.context.now };
}

function noteViolation(life: Life, tool: string, violationType: string, details: Result): void {
  life.emit("policy_violation", {
    iteration_number: life.iteration.number,
    tool_name: tool,
    violation_type: violationType,
    details,
    blocked_at: life.at,
  });
}

function answerCall(
  life: Life,
  loop: Loop,
  call: EndedCall,
  status: CallStatus,
  result: Result,
  error: string | null,
  kept: Result = result,
): void {
  const content = trimText(JSON.stringify(result), life.state.header.bounds.tool_message_bytes);
  life.record({ entry: "message", message: { role: "tool", tool_call_id: call.call_id, content } });
  noteCompleted(life, call, status, kept, error);
  loop.calls = loop.calls.filter(({ call_id }) => call_id !== call.call_id);
}

function noteCompleted(life: Life, call: EndedCall, status: CallStatus, result: Result, error: string | null): void {
  const text = JSON.stringify(result);
  const left = Math.max(alwaysKeptBytes, keptPerIteration - life.iteration.recorded);
  const room = Math.min(keptResultBytes, left);
  life.iteration.recorded += Math.min(text.length, room);
  life.emit("tool_call_completed", {
    iteration_number: life.iteration.number,
    tool_name: call.tool,
    call_id: call.call_id,
    status,
    duration_ms: life.context.now - (call.started_at ?? life.context.now),
    completed_at: life.at,
    _result: text.length > room ? { trimmed: trimText(text, room) } : result,
    _error: error,
  });
}
