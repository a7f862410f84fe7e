/**
 * What every provider speaks: one try of one call. Retries, timeouts and fallback are the business of
 * `retries.ts`; a provider only answers or fails with a class.
 */
import type { ModelCall, ModelErrorClass, ModelUsage, ToolCall } from "./call.ts";

/** One model of one provider under one alias. */
export interface ServedModel {
  readonly alias: string;
  /** What the vendor calls it. */
  readonly model: string;
  readonly capabilities: readonly string[];
  readonly contextWindow: number | null;
  readonly maxOutputTokens: number;
  readonly temperature: number;
  /** US dollars for 1000 tokens. */
  readonly cost: { readonly input: number; readonly output: number };
}

export interface Attempt {
  readonly call: ModelCall;
  readonly served: ServedModel;
  /** 1 for the first try of this call at this provider. */
  readonly number: number;
  /** Aborts at the caller's wish or when the time of this try is up. */
  readonly signal: AbortSignal;
}

export interface AttemptReply {
  readonly content: string;
  readonly toolCalls: readonly ToolCall[];
  readonly finishReason: "stop" | "length" | "content_filter" | "tool_calls";
  /** Whether the reply ended at the largest length, tool calls or not. */
  readonly truncated: boolean;
  /** False where the vendor answered in one piece although a stream was asked for. */
  readonly streamed: boolean;
  /** As far as the provider counted. */
  readonly usage: Partial<ModelUsage>;
}

/** A provider as the calls see it. */
export interface Provider {
  readonly name: string;
  /** @throws AttemptError; an error after `attempt.signal` aborted is ignored. */
  attempt(attempt: Attempt): Promise<AttemptReply>;
}

/** One try failed. */
export class AttemptError extends Error {
  override readonly name = "AttemptError";
  constructor(
    readonly errorClass: ModelErrorClass,
    message: string,
    /** How long the vendor asked us to wait. */
    readonly retryAfterMs?: number,
  ) {
    super(message);
  }
}
