/** Types of a model call: one call, one reply, failures by what a caller may do about them. */

export interface ToolCall {
  readonly id: string;
  /** The dotted name of a tool of the call; what the model wrote when it named none of them. */
  readonly name: string;
  readonly arguments: Record<string, unknown>;
  /**
   * What the model wrote, cut to 1 KiB, when its arguments were not a JSON object; `arguments` is empty
   * then. Such a call is answered with a failure that tells the model so, never run.
   */
  readonly malformed?: string;
}

export type ModelMessage =
  | { readonly role: "system" | "user"; readonly content: string }
  | { readonly role: "assistant"; readonly content: string; readonly tool_calls?: readonly ToolCall[] }
  | { readonly role: "tool"; readonly content: string; readonly tool_call_id: string };

export interface ToolDescription {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments object. */
  readonly inputSchema: Record<string, unknown>;
}

export interface ModelCall {
  readonly alias: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ToolDescription[];
  /** Falls back to the alias's, then 0.4. */
  readonly temperature?: number;
  /** What the answer without tool calls is to conform to: a JSON Schema of an object. A vendor that can is told so. */
  readonly responseSchema?: Readonly<Record<string, unknown>>;
  /** Total budget of the call with its retries and its fallback, in milliseconds. */
  readonly budgetMs: number;
  readonly signal: AbortSignal;
  /** Known to the scripted provider and to logs; never sent to a vendor. */
  readonly agentName: string;
  readonly iteration: number;
}

export interface ModelUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
}

/** A model that was asked and failed, while another answered. */
export interface FailedModel {
  readonly provider: string;
  readonly model: string;
  readonly errorClass: ModelErrorClass;
  /** Safe to tell: without keys and addresses. */
  readonly message: string;
}

export interface ModelReply {
  readonly provider: string;
  readonly model: string;
  readonly content: string;
  readonly toolCalls: readonly ToolCall[];
  readonly finishReason: "stop" | "length" | "content_filter" | "tool_calls";
  /** Whether the reply ended at the largest length, tool calls or not. */
  readonly truncated: boolean;
  /** False where the vendor answered in one piece although a stream was asked for. */
  readonly streamed: boolean;
  /** The model that should have answered and did not; null when it is the one that did. */
  readonly insteadOf: FailedModel | null;
  readonly usage: ModelUsage;
  readonly attempts: number;
  readonly elapsedMs: number;
  readonly costUsd: number;
}

export type ModelErrorClass =
  | "authentication"
  | "model_not_found"
  | "invalid_input"
  | "rate_limit"
  | "service_unavailable"
  | "network"
  | "provider"
  | "timeout";

/** Retries and fallback are behind us when this is thrown. */
export class ModelError extends Error {
  override readonly name = "ModelError";
  constructor(
    readonly errorClass: ModelErrorClass,
    message: string,
    readonly facts: {
      readonly provider: string;
      readonly model: string;
      readonly attempts: number;
      readonly elapsedMs: number;
      readonly fallbackAttempted: boolean;
      readonly retryAfterSeconds?: number;
    },
  ) {
    super(message);
  }
}

export interface ModelAlias {
  readonly alias: string;
  readonly capabilities: readonly string[];
  readonly context_window: number | null;
  readonly max_output_tokens: number;
}

/** An alias and the model that is asked first under it. */
export interface ServedAlias {
  readonly alias: string;
  readonly provider: string;
  readonly model: string;
}

export interface ProviderProbe {
  /** As the configuration names it. */
  readonly provider: string;
  /**
   * `scripted`: nothing is asked, it stands in for models; `answers`; `refused`: it does not take the key; `no_key`: the
   * key cannot be had; `away`: it does not answer in time, or fails.
   */
  readonly outcome: "scripted" | "answers" | "refused" | "no_key" | "away";
}

export interface Models {
  /** Every alias that some enabled provider serves. */
  aliases(): readonly ModelAlias[];
  /** Whether a call under this alias could be served at all. */
  serves(alias: string): boolean;
  /** What answers each alias first, by name; customary aliases for a provider that serves them all. */
  served(): readonly ServedAlias[];
  /** One line for the start banner: where the alias `default` points. */
  describeDefault(): string;
  /** Whether the providers can be reached with the keys that are there; it costs nothing. Never rejects. */
  probe(signal: AbortSignal): Promise<readonly ProviderProbe[]>;
  /** @throws ModelError, or the reason of `call.signal` when that aborts. */
  generate(call: ModelCall): Promise<ModelReply>;
}
