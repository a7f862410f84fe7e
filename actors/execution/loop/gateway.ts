/**
 * The two messages a bootstrap asks with. Either may come twice: a repeat joins the work in progress, or
 * gets the stored reply again, and never changes a loop.
 */

import type { BodyOf } from "../../kernel/message.ts";
import type { Context } from "../../kernel/turn.ts";
import type { DispatchResult, ExecutionMessages, GatewayAnswer, Generate } from "../messages.ts";
import { loopLog } from "../messages.ts";
import type { ExecutionState, Iteration, Loop } from "../state.ts";
import type { Result } from "../turn.ts";
import { ExecutionTurn, unchanged } from "../turn.ts";
import { callModel, isActive, onDispatchRefused, onDispatchResult, openLoop } from "./loop.ts";
import { awaitAnswer } from "./loop-answer.ts";
import { refusals } from "./refusal.ts";
import { type TimeUp, watchCommand } from "./tool-calls.ts";

type State = ExecutionState | null;

/** Conversation one iteration may bring in all: every `generate` is stored, and code in an agent may send any number. */
const heardPerIteration = 64 * 1024 * 1024;

/** How long a finished `generate` can be replayed. */
const finishedReplayMs = 300_000;

export function generate(state: State, message: Generate, context: Context): Result<GatewayAnswer> {
  if (state === null) return unchanged(null, refusals.executionNotFound);
  const { iteration, header } = state;
  const { loop } = iteration;
  const ours = speaksFor(iteration, message.instance_id);
  const repeated = ours && loop !== null && isRepeat(message, loop.body_hash, loop.idempotency_key);
  if (repeated && loop.reply !== null && isReplayable(loop, context.now)) {
    return unchanged(state, replay(iteration, loop.from, loop.reply));
  }
  if (state.status !== "running") return unchanged(state, refusals.executionNotRunning);
  if (!ours) return unchanged(state, refusals.formerInstance);
  if (message.agent_id !== "" && message.agent_id !== header.agent_id) {
    return unchanged(state, refusals.agentMismatch);
  }
  if (message.iteration_number !== iteration.number || iteration.phase !== "running") {
    return unchanged(state, refusals.iterationNotCurrent);
  }
  const turn = new ExecutionTurn(state, context);
  if (repeated && isActive(loop)) {
    joinLoop(turn);
    return turn.turn();
  }
  turn.iteration.heard += lengthOf(message);
  if (turn.iteration.heard > heardPerIteration) return unchanged(state, refusals.conversationTooLarge);
  openLoop(turn, message);
  return turn.turn();
}

/** @param onTimeUp ends what the command's cutting off says has no time left */
export function dispatchResult(
  state: State,
  message: DispatchResult,
  context: Context,
  onTimeUp: (turn: ExecutionTurn, of: NonNullable<TimeUp>) => void,
): Result<GatewayAnswer> {
  if (state === null) return unchanged(null, refusals.executionNotFound);
  const { iteration } = state;
  const ours = speaksFor(iteration, message.instance_id);
  const sent = ours ? iteration.dispatches.find(({ id }) => id === message.dispatch_id) : undefined;
  const answered = sent !== undefined && sent.result !== null;
  const repeated = answered && isRepeat(message, sent.result, sent.key);
  if (repeated && sent.reply !== null) return unchanged(state, replay(iteration, sent.from, sent.reply));
  if (state.status !== "running") return unchanged(state, refusals.executionNotRunning);
  if (!ours) return unchanged(state, refusals.formerInstance);
  if (sent === undefined) return unchanged(state, refusals.dispatchNotFound);
  if (answered && !repeated) return unchanged(state, refusals.dispatchResultConflict);
  const current = iteration.loop?.id === sent.loop ? iteration.loop : null;
  if (current?.phase === "expired") return unchanged(state, refusals.dispatchExpired);
  if (current === null || !isActive(current)) return unchanged(state, refusals.loopNotActive);

  const turn = new ExecutionTurn(state, context);
  if (repeated) joinLoop(turn);
  else {
    const timeUp = takeResult(turn, message);
    if (timeUp !== null) onTimeUp(turn, timeUp);
  }
  return turn.turn();
}

/** A dispatch was not handed out. One that was answered meanwhile, or that a repeat of the message took, stays as it is. */
export function dispatchRefused(
  state: State,
  { instance_id, dispatch_id, ...refused }: BodyOf<ExecutionMessages["dispatch_refused"]>,
  context: Context,
): Result<GatewayAnswer> {
  if (state === null) return unchanged(null, refusals.executionNotFound);
  if (state.status !== "running") return unchanged(state, refusals.executionNotRunning);
  if (!speaksFor(state.iteration, instance_id)) return unchanged(state, refusals.formerInstance);
  const turn = new ExecutionTurn(state, context);
  const { loop, dispatches } = turn.iteration;
  const sent = dispatches.find(({ id }) => id === dispatch_id);
  if (loop === null || sent?.loop !== loop.id || !isActive(loop)) return unchanged(state, refusals.loopNotActive);
  const call = loop.calls.find((one) => one.dispatch_id === dispatch_id);
  if (call === undefined || sent.result !== null) joinLoop(turn);
  else {
    // No result of it is taken any more.
    sent.result = "";
    onDispatchRefused(turn, loop, call, refused);
  }
  return turn.turn();
}

/** A dispatch is only now handed out, or waits on: what its command may take counts from now. */
export function dispatchDelayed(
  state: State,
  { instance_id, dispatch_id }: BodyOf<ExecutionMessages["dispatch_delayed"]>,
  context: Context,
): Result<never> {
  if (state?.status !== "running" || !speaksFor(state.iteration, instance_id)) return unchanged(state);
  const turn = new ExecutionTurn(state, context);
  const call = turn.iteration.loop?.calls.find((one) => one.dispatch_id === dispatch_id);
  if (call === undefined) return unchanged(state);
  watchCommand(turn, call);
  return turn.turn();
}

function lengthOf({ prompt, messages }: Generate): number {
  return messages.reduce((sum, message) => sum + JSON.stringify(message).length, prompt.length);
}

function takeResult(turn: ExecutionTurn, message: DispatchResult): TimeUp {
  const { loop, dispatches } = turn.iteration;
  const call = loop?.calls.find(({ dispatch_id }) => dispatch_id === message.dispatch_id);
  const sent = dispatches.find(({ id }) => id === message.dispatch_id);
  if (loop === null || call === undefined || sent === undefined) return null;
  sent.result = message.body_hash;
  sent.key = message.idempotency_key;
  return onDispatchResult(turn, loop, call, message);
}

/** Waits for the answer to come, and sets the loop going again if a model error had stopped it. */
function joinLoop(turn: ExecutionTurn): void {
  const { loop } = turn.iteration;
  if (loop === null) return;
  awaitAnswer(turn, loop);
  if (loop.phase === "generating") callModel(turn, loop);
}

function speaksFor(iteration: Iteration, instanceId: string | null): boolean {
  return instanceId === null || instanceId === iteration.instance_id;
}

function isRepeat(
  message: { body_hash: string; idempotency_key: string | null },
  hash: string | null,
  key: string | null,
): boolean {
  return message.body_hash === hash || (key !== null && message.idempotency_key === key);
}

function isReplayable(loop: Loop, now: number): boolean {
  if (isActive(loop)) return true;
  return loop.phase === "ended" && loop.ended_at !== null && now - loop.ended_at <= finishedReplayMs;
}

function replay(iteration: Iteration, from: number, seq: number): GatewayAnswer {
  return { status: "replay", log: loopLog(iteration.instance_id).name, from, seq };
}
