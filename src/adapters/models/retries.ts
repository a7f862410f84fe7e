/**
 * One call to a model with everything around it: the order of the candidates, repeats with backoff, the time
 * of each try and of the whole, the fallback, and what it cost.
 */
import { storableText } from "../../../actors/kernel/text.ts";
import { AttemptError, type AttemptReply } from "./attempt.ts";
import { type FailedModel, type ModelCall, ModelError, type ModelReply, type ModelUsage } from "./call.ts";
import type { SelectionConfig } from "./config.ts";
import { conversationBytes, toolCallBytes } from "./model-text.ts";
import type { Candidate, Latencies } from "./selection.ts";
import { isTerminal } from "./vendors/failures.ts";

/** Time and chance, so that tests do not wait. */
export interface Timing {
  /** Milliseconds that only go on. */
  now(): number;
  /** Resolves after `ms`; rejects with the signal's reason as soon as it aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** At least 0, below 1. */
  random(): number;
}

const longestPauseMs = 30_000;
const jitter = 0.25;

interface Progress {
  readonly started: number;
  readonly deadline: number;
  attempts: number;
  providersTried: number;
  last: AttemptError | null;
  /** The first of several that were asked. */
  first: FailedModel | null;
}

/**
 * Asks the candidates in their order until one answers.
 * @throws ModelError, or the reason of `call.signal` when the caller gave up
 */
export async function callModel(
  call: ModelCall,
  candidates: readonly Candidate[],
  selection: SelectionConfig,
  latencies: Latencies,
  timing: Timing,
): Promise<ModelReply> {
  const started = timing.now();
  const progress: Progress = {
    started,
    deadline: started + call.budgetMs,
    attempts: 0,
    providersTried: 0,
    last: null,
    first: null,
  };
  let asked: Candidate | undefined;
  for (const [index, candidate] of candidates.entries()) {
    if (index > 0 && timing.now() >= progress.deadline) break;
    asked = candidate;
    progress.providersTried++;
    const isLast = index === candidates.length - 1;
    const reply = await askOne(call, candidate, selection, latencies, timing, progress, isLast);
    if (reply) return reply;
    if (progress.last === null) continue;
    const { errorClass, message } = progress.last;
    progress.first ??= { provider: candidate.provider.name, model: candidate.served.model, errorClass, message };
    if (isTerminal(errorClass)) break;
  }
  const error = progress.last;
  const retryAfter = error?.retryAfterMs;
  throw new ModelError(error?.errorClass ?? "timeout", error?.message ?? "the time for this call is over", {
    provider: asked?.provider.name ?? "",
    model: asked?.served.model ?? "",
    attempts: progress.attempts,
    elapsedMs: timing.now() - started,
    fallbackAttempted: progress.providersTried > 1,
    ...(retryAfter === undefined ? {} : { retryAfterSeconds: Math.ceil(retryAfter / 1000) }),
  });
}

/** Less time than this is none: no vendor answers in it. */
const leastMs = 10;

/** All tries at one candidate; null when it did not answer. */
async function askOne(
  call: ModelCall,
  candidate: Candidate,
  selection: SelectionConfig,
  latencies: Latencies,
  timing: Timing,
  progress: Progress,
  isLast: boolean,
): Promise<ModelReply | null> {
  for (let number = 1; number <= selection.maxRetries + 1; number++) {
    const began = timing.now();
    const time = Math.min(selection.callTimeoutMs, progress.deadline - began);
    if (time < leastMs) return null;
    progress.attempts++;
    const outcome = await tryOnce(call, candidate, number, time);
    if (!(outcome instanceof AttemptError)) {
      const ended = timing.now();
      latencies.record(candidate, ended - began);
      return toReply(call, candidate, outcome, progress, ended - progress.started);
    }
    progress.last = outcome;
    if (isTerminal(outcome.errorClass) || number > selection.maxRetries) return null;
    const pause = pauseAfter(number, outcome, selection, timing);
    const left = progress.deadline - timing.now();
    if (pause >= left) return null;
    // The next candidate is better than a long wait, or than one more stall that would leave it no time.
    const stalled = timing.now() - began >= selection.callTimeoutMs;
    if (!isLast && (pause > longestPauseMs || (stalled && left < 2 * selection.callTimeoutMs))) return null;
    await timing.sleep(pause, call.signal);
  }
  return null;
}

/** Milliseconds before the next try: what the vendor asked for, else doubling with jitter up to 30 s. */
function pauseAfter(number: number, error: AttemptError, selection: SelectionConfig, timing: Timing): number {
  if (error.retryAfterMs !== undefined) return error.retryAfterMs;
  const doubled = selection.retryDelayMs * 2 ** (number - 1);
  return Math.min(longestPauseMs, Math.round(doubled * (1 + jitter * timing.random())));
}

/** One try within its time. Throws only when the caller gave up. */
async function tryOnce(
  call: ModelCall,
  candidate: Candidate,
  number: number,
  timeMs: number,
): Promise<AttemptReply | AttemptError> {
  call.signal.throwIfAborted();
  const stop = new AbortController();
  const seconds = Math.max(1, Math.round(timeMs / 1000));
  const timeUp = new AttemptError("timeout", `no complete reply within ${seconds} s`);
  let settle: (error: unknown) => void = () => {};
  const stopped = new Promise<never>((_, reject) => {
    settle = reject;
  });
  const giveUp = (why: unknown) => {
    settle(why);
    stop.abort(why);
  };
  const onAbort = () => giveUp(call.signal.reason);
  call.signal.addEventListener("abort", onAbort, { once: true });
  // A timer of a fraction fires early, and what it leaves would be taken for time to ask another.
  const timer = setTimeout(() => giveUp(timeUp), Math.ceil(timeMs));
  try {
    const { provider, served } = candidate;
    // The race frees us even if a provider does not heed its signal.
    return await Promise.race([provider.attempt({ call, served, number, signal: stop.signal }), stopped]);
  } catch (error) {
    call.signal.throwIfAborted();
    if (error instanceof AttemptError) return error;
    throw error;
  } finally {
    clearTimeout(timer);
    call.signal.removeEventListener("abort", onAbort);
    stopped.catch(() => {});
  }
}

function toReply(
  call: ModelCall,
  { provider, served }: Candidate,
  reply: AttemptReply,
  { attempts, first }: Progress,
  elapsedMs: number,
): ModelReply {
  const content = storableText(reply.content);
  const usage: ModelUsage = {
    input_tokens: reply.usage.input_tokens ?? Math.ceil(conversationBytes(call.messages) / 4),
    output_tokens:
      reply.usage.output_tokens ?? Math.ceil((Buffer.byteLength(content) + toolCallBytes(reply.toolCalls)) / 4),
  };
  return {
    provider: provider.name,
    model: served.model,
    content,
    toolCalls: reply.toolCalls,
    finishReason: reply.finishReason,
    truncated: reply.truncated,
    streamed: reply.streamed,
    insteadOf: first,
    usage,
    attempts,
    elapsedMs,
    costUsd: (usage.input_tokens * served.cost.input + usage.output_tokens * served.cost.output) / 1000,
  };
}
