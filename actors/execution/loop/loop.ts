/**
 * The inner loop of one sandbox instance: the model speaks, its tool calls are run, until it has
 * nothing more to call.
 *
 *   generating ──text──▶ ended            running_tools ──cmd.run──▶ awaiting_result
 *       │ ▲                                     │  ▲                        │
 *       │ └──────────── all answered ───────────┘  └──── dispatch_result ───┘
 *       └──tool calls──▶ running_tools
 *
 * A request that waits at the gateway is answered when the loop has something for the bootstrap: a dispatch,
 * the final text, or an error. Files beside: `gateway.ts` takes the bootstrap's messages,
 * `tool-calls.ts` runs the calls.
 */

import { Value } from "@sinclair/typebox/value";
import type { ApprovalDecided } from "../../approval/messages.ts";
import {
  type CallCleared,
  type CallGathered,
  type ModelAnswer,
  ModelFailure,
  type ModelOutcome,
  modelCall,
  type ToolOutcome,
} from "../activities.ts";
import type { Ended } from "../children.ts";
import type { DispatchResult, Final, Generate } from "../messages.ts";
import { loopLog } from "../messages.ts";
import type { Loop, LoopPhase, PendingCall } from "../state.ts";
import { trimText } from "../trim.ts";
import type { ExecutionTurn } from "../turn.ts";
import { modelCallId } from "../usage.ts";
import { openingMessages } from "./conversation.ts";
import { answer, awaitAnswer, storedAnswer } from "./loop-answer.ts";
import { commandRefused, type NoPlace } from "./no-place.ts";
import { answerHeldBack, heldBackRefusal, noteRateWarnings } from "./own-limits.ts";
import { budgetRefusal, type Refusal, refusals, TOKEN_BUDGET, upstreamRefusal } from "./refusal.ts";
import {
  advanceCalls,
  clearedAgain,
  commandEnded,
  interruptCalls,
  judgesSaid,
  readCalls,
  type TimeUp,
  takeCalls,
  toolEnded,
} from "./tool-calls.ts";
import { callBefore, toolJudgeEnded, toolJudgesOverdue } from "./tool-judges.ts";
import { keepClocks } from "./waiting/clocks.ts";
import { type Decided, decided, gathered, noteUnused } from "./waiting/waiting.ts";

/** Longest prompt and response kept with an `llm_interaction`. */
const keptTextBytes = 1_048_576;
const keptMessageBytes = 4096;

export function isActive(loop: Loop): boolean {
  return loop.phase === "generating" || loop.phase === "running_tools" || loop.phase === "awaiting_result";
}

/** Begins the exchange of a `generate`; another one under way is superseded. */
export function openLoop(turn: ExecutionTurn, message: Generate): void {
  const { iteration } = turn;
  closeLoop(turn, "superseded", refusals.loopNotActive);
  const loop: Loop = {
    id: turn.context.newId(),
    phase: "generating",
    body_hash: message.body_hash,
    idempotency_key: message.idempotency_key,
    alias: message.model_alias,
    ended_at: null,
    from: iteration.logged + 1,
    reply: null,
    rounds: 0,
    last_call: false,
    model_calls: 0,
    model_call: null,
    asked_at: null,
    executed: 0,
    usage: { input_tokens: 0, output_tokens: 0 },
    calls: [],
    answering: null,
    waiters: [],
  };
  iteration.loop = loop;
  for (const opening of openingMessages(message)) turn.record({ entry: "message", message: opening });
  awaitAnswer(turn, loop);
  callModel(turn, loop);
}

/** Asks the model for its next reply, unless it is being asked already. */
export function callModel(turn: ExecutionTurn, loop: Loop): void {
  const { header, temperature } = turn.state;
  const { iteration } = turn;
  if (loop.model_call !== null) return;
  loop.phase = "generating";
  if (header.max_tokens !== null && tokensUsed(turn.state) >= header.max_tokens) {
    budgetSpent(turn, loop, header.max_tokens);
    return;
  }
  loop.asked_at ??= turn.context.now;
  const left = timeLeft(turn, loop);
  if (left <= 0) {
    failLoop(turn, loop, outOfTime(turn, turn.iteration.model_fault?.message));
    return;
  }
  loop.model_calls += 1;
  loop.model_call = modelCallId(loop.id, loop.model_calls);
  const input = {
    execution_id: turn.executionId,
    agent_name: header.agent_name,
    iteration: iteration.number,
    log: loopLog(iteration.instance_id).name,
    from: loop.from,
    upto: iteration.logged,
    has_files: header.inline !== true,
    ...(loop.last_call ? { last: true as const } : {}),
    alias: loop.alias,
    temperature,
    budget_ms: left,
    ...(header.counted_for === undefined ? {} : { counted_for: header.counted_for }),
    ...(isAnswerDescribed(turn.state) ? { answer_schema: true as const } : {}),
  };
  turn.perform(modelCall, input, { id: loop.model_call, then: "model_outcome" });
}

/** Several schemas may contradict each other for a vendor that enforces one of them. */
function isAnswerDescribed({ rules }: ExecutionTurn["state"]): boolean {
  const schemas = rules.filter(({ type }) => type === "json_schema");
  return schemas.length === 1 && schemas[0]?.answer === true;
}

/** What is left of the time that the model has for the reply it owes, ms; bootstraps that ask again begin no new one. */
function timeLeft(turn: ExecutionTurn, { asked_at }: Loop): number {
  const { now } = turn.context;
  return (asked_at ?? now) + turn.state.header.llm_timeout_ms - now;
}

/** Not to be asked again: another wait would be beyond what the agent allows. */
function outOfTime(turn: ExecutionTurn, last = "The model did not answer"): Refusal {
  const seconds = turn.state.header.llm_timeout_ms / 1000;
  return budgetRefusal("upstream_provider", `${last}; llm_timeout_seconds (${seconds} s) is used up`);
}

function tokensUsed({ usage }: ExecutionTurn["state"]): number {
  return usage.input_tokens + usage.output_tokens;
}

/** No call is made any more. What the agent has so far may still be its output; if it gives up, nothing helps. */
function budgetSpent(turn: ExecutionTurn, loop: Loop, maxTokens: number): void {
  const message = `The execution's budget of ${maxTokens} tokens is spent`;
  turn.iteration.model_fault = { error_class: TOKEN_BUDGET, message };
  failLoop(turn, loop, budgetRefusal("upstream_invalid_input", message));
}

/** The model has spoken, or could not. */
export function onModelOutcome(turn: ExecutionTurn, loop: Loop, outcome: ModelOutcome): void {
  loop.model_call = null;
  if (!outcome.ok) {
    const refusal = heldBackRefusal(outcome);
    if (refusal === null) modelFailed(turn, loop, outcome.message, failureOf(outcome));
    else answerHeldBack(turn, loop, refusal);
    return;
  }
  loop.asked_at = null;
  const said = outcome.value;
  for (const { code, message } of said.warnings ?? []) turn.warnOnce(code, message);
  noteRateWarnings(turn, said.rate_warnings);
  turn.iteration.model_fault = null;
  countUsage(turn, loop, said);
  const { tools, header } = turn.state;
  const mayCall = !loop.last_call && loop.rounds < header.bounds.max_rounds;
  // Calls beyond the rounds are dropped: they enter no conversation and need no tool messages.
  const calls = mayCall ? readCalls(tools, said.tool_calls) : [];
  noteInteraction(turn, { ...said, tool_calls: calls });
  if (calls.length > 0) {
    loop.rounds += 1;
    takeCalls(turn, loop, said.content, calls, said);
    advance(turn, loop);
    return;
  }
  if (loop.last_call) {
    if (said.content.trim() === "") {
      failLoop(turn, loop, refusals.toolRoundLimit);
      return;
    }
    endLoop(turn, loop, said, "round_limit");
    return;
  }
  if (said.tool_calls.length > 0) {
    loop.last_call = true;
    callModel(turn, loop);
    return;
  }
  endLoop(turn, loop, said, said.finish_reason === "tool_calls" ? "stop" : said.finish_reason);
}

/** A tool of ours has ended. */
export function onToolOutcome(turn: ExecutionTurn, loop: Loop, call: PendingCall, outcome: ToolOutcome): void {
  toolEnded(turn, loop, call, outcome);
  advance(turn, loop);
}

/** A judge of a tool call is over. */
export function onToolJudgeEnded(turn: ExecutionTurn, ended: Ended): void {
  const { loop } = turn.iteration;
  const call = callBefore(loop, ended.child.concern);
  if (loop === null || call === undefined) return;
  judgesSaid(turn, loop, call, toolJudgeEnded(turn, call, ended));
  advance(turn, loop);
}

/** The judges of a tool call took too long. */
export function onToolJudgesOverdue(turn: ExecutionTurn, panelId: string): void {
  const { loop } = turn.iteration;
  const call = callBefore(loop, panelId);
  if (loop === null || call === undefined) return;
  judgesSaid(turn, loop, call, toolJudgesOverdue(turn, call));
  advance(turn, loop);
}

/** What people are to be shown of a call is known. */
export function onCallGathered(turn: ExecutionTurn, outcome: CallGathered): void {
  const found = callOf(turn, outcome.id);
  if (found === null) return;
  gathered(turn, found.loop, found.call, outcome);
  advance(turn, found.loop);
}

/** A call that was held up, or a command that people have approved, was judged by today's policy. */
export function onCallCleared(turn: ExecutionTurn, outcome: CallCleared): void {
  const found = callOf(turn, outcome.id);
  if (found === null) return;
  clearedAgain(turn, found.loop, found.call, outcome);
  advance(turn, found.loop);
}

/** The call that an activity before its start is about. */
function callOf({ iteration: { loop } }: ExecutionTurn, activity: string): { loop: Loop; call: PendingCall } | null {
  const call = loop?.calls.find(({ wait }) => wait?.activity === activity);
  return loop === null || call === undefined ? null : { loop, call };
}

/** People have decided about a call that waits. */
export function onApprovalDecided(turn: ExecutionTurn, decision: ApprovalDecided): Decided {
  const { loop } = turn.iteration;
  const call = loop?.calls.find(({ wait }) => wait?.approval?.id === decision.approval_id);
  if (loop === null || call === undefined) {
    noteUnused(turn, decision);
    return "settled";
  }
  const means = decided(turn, loop, call, decision);
  if (means === "settled") advance(turn, loop);
  return means;
}

/**
 * The bootstrap has run the command of a dispatch; its sender waits for what comes next. A command that was cut off
 * because the time was up ends the loop's work: the model is not asked again.
 * @returns whose time was up
 */
export function onDispatchResult(turn: ExecutionTurn, loop: Loop, call: PendingCall, result: DispatchResult): TimeUp {
  loop.answering = result.dispatch_id;
  loop.phase = "running_tools";
  awaitAnswer(turn, loop);
  const timeUp = commandEnded(turn, loop, call, result);
  if (timeUp === null) advance(turn, loop);
  return timeUp;
}

/** The gateway had no place for the command of a dispatch: whose request was to get it waits for what comes next. */
export function onDispatchRefused(turn: ExecutionTurn, loop: Loop, call: PendingCall, refused: NoPlace): void {
  const { dispatches } = turn.iteration;
  const answered = dispatches.find(({ id }) => id === loop.answering);
  // What was stored for that request is its answer no more.
  if (answered === undefined) loop.reply = null;
  else answered.reply = null;
  loop.phase = "running_tools";
  awaitAnswer(turn, loop);
  commandRefused(turn, loop, call, refused);
  advance(turn, loop);
}

function advance(turn: ExecutionTurn, loop: Loop): void {
  const came = advanceCalls(turn, loop);
  keepClocks(turn);
  if (came === "all answered") callModel(turn, loop);
}

function modelFailed(turn: ExecutionTurn, loop: Loop, message: string, failure: ModelFailure): void {
  const { error_class, provider, model, attempts, elapsed_ms, fallback_attempted } = failure;
  turn.emit("llm_call_failed", {
    iteration_number: turn.iteration.number,
    provider,
    model,
    error_class,
    message,
    attempts,
    elapsed_ms,
    fallback_attempted,
    timestamp: turn.at,
  });
  const { refusal, retriable } = upstreamRefusal(failure, message);
  turn.iteration.model_fault = { error_class, message: trimText(message, keptMessageBytes) };
  const again = (refusal.retry_after ?? 0) * 1000;
  if (!retriable) failLoop(turn, loop, refusal);
  else if (timeLeft(turn, loop) <= again) failLoop(turn, loop, outOfTime(turn, message));
  else answer(turn, loop, refusal);
}

/** Failures that did not come from a provider (the activity itself broke) are told as the provider's. */
function failureOf(outcome: Extract<ModelOutcome, { ok: false }>): ModelFailure {
  if (Value.Check(ModelFailure, outcome.details)) return outcome.details;
  return {
    error_class: "provider",
    provider: "",
    model: "",
    attempts: 1,
    elapsed_ms: 0,
    fallback_attempted: false,
  };
}

function countUsage(turn: ExecutionTurn, loop: Loop, { usage, cost_usd }: ModelAnswer): void {
  const total = turn.state.usage;
  total.llm_calls += 1;
  total.input_tokens += usage.input_tokens;
  total.output_tokens += usage.output_tokens;
  total.cost_usd += cost_usd;
  loop.usage.input_tokens += usage.input_tokens;
  loop.usage.output_tokens += usage.output_tokens;
}

function noteInteraction(turn: ExecutionTurn, said: ModelAnswer): void {
  turn.emit("llm_interaction", {
    iteration_number: turn.iteration.number,
    provider: said.provider,
    model: said.model,
    input_tokens: said.usage.input_tokens,
    output_tokens: said.usage.output_tokens,
    prompt: trimText(said.prompt, keptTextBytes),
    response: trimText(said.content, keptTextBytes),
    timestamp: turn.at,
    _tool_calls: said.tool_calls,
  });
}

function endLoop(turn: ExecutionTurn, loop: Loop, said: ModelAnswer, reason: Final["finish_reason"]): void {
  const { input_tokens, output_tokens } = loop.usage;
  const final: Final = {
    type: "final",
    content: said.content,
    tool_calls_executed: loop.executed,
    finish_reason: reason,
    model: loop.alias,
    usage: { input_tokens, output_tokens, total_tokens: input_tokens + output_tokens },
  };
  turn.record({ entry: "message", message: { role: "assistant", content: said.content } });
  const seq = turn.record({ entry: "final", final });
  loop.phase = "ended";
  loop.ended_at = turn.context.now;
  storedAnswer(turn, loop, seq, {
    status: "final",
    final,
    log: loopLog(turn.iteration.instance_id).name,
    from: loop.from,
    seq,
  });
}

function failLoop(turn: ExecutionTurn, loop: Loop, refusal: Refusal): void {
  loop.phase = "failed";
  loop.ended_at = turn.context.now;
  answer(turn, loop, refusal);
}

/** Ends what is under way in the current loop; a loop that already ended stays as it is. */
export function closeLoop(
  turn: ExecutionTurn,
  phase: Extract<LoopPhase, "superseded" | "expired">,
  refusal: Refusal,
): void {
  const { loop } = turn.iteration;
  if (loop === null || !isActive(loop)) return;
  if (loop.model_call !== null) turn.abandon(loop.model_call);
  loop.model_call = null;
  interruptCalls(turn, loop);
  loop.phase = phase;
  loop.ended_at = turn.context.now;
  keepClocks(turn);
  answer(turn, loop, refusal);
}
