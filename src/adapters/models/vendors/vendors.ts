/**
 * The real vendors, through the AI SDK's provider packages. One attempt is one streaming request, collected
 * into one reply; the stream is what makes a cut connection visible. The SDK neither retries nor runs tools
 * here. Each package is loaded when a provider of its type is first asked.
 */
import { APICallError, InvalidResponseDataError } from "@ai-sdk/provider";
import { storableText } from "../../../../actors/kernel/text.ts";
import { UnreadableBody } from "../../../lib/answer-body.ts";
import type { Secret } from "../../../lib/secret.ts";
import { type Attempt, AttemptError, type AttemptReply, type Provider } from "../attempt.ts";
import type { ModelErrorClass, ToolCall } from "../call.ts";
import type { VendorProviderConfig } from "../config.ts";
import { distinctIds, toolArguments } from "../model-text.ts";
import { namesOf, toPrompt, toTools, type VendorCall, type VendorModel } from "./conversation.ts";
import { keyHeaderOf } from "./endpoint.ts";
import { classOfStatus, classOfWord, failure, retryAfterMs } from "./failures.ts";
import { ResponseFormats, responseFormat } from "./response-format.ts";
import type { ToolNames } from "./tool-names.ts";
import { AnsweredWhole, ConnectionFailure, transport } from "./transport.ts";

type VendorPart =
  Awaited<ReturnType<VendorModel["doStream"]>>["stream"] extends ReadableStream<infer Part> ? Part : never;

export interface VendorOptions {
  /** Unix milliseconds, for `Retry-After` dates. */
  now(): number;
}

/** A provider that asks a vendor over HTTP. */
export function createVendor(config: VendorProviderConfig, options: VendorOptions): Provider {
  let factory: Promise<Factory> | null = null;
  const omittedHeader = config.apiKey === null ? keyHeaderOf(config.type) : null;
  const secret = config.apiKey;
  const formats = new ResponseFormats(config.type);
  return {
    name: config.name,
    async attempt(attempt) {
      if (!secret && config.vendorEndpoint && config.type !== "ollama") {
        throw new AttemptError("authentication", `provider ${config.name} has no api_key`);
      }
      return formats.within(attempt, once);
    },
  };

  async function once(attempt: Attempt): Promise<AttemptReply> {
    try {
      factory ??= load(config, transport({ omittedHeader }));
      const { model } = attempt.served;
      return await ask((await factory)(model), attempt, secret).catch(async (error: unknown) => {
        const cause = innermost(error);
        if (!(cause instanceof AnsweredWhole)) throw error;
        const reading = Object.assign(async () => cause.response, { preconnect: () => {} });
        return await readWhole((await load(config, reading))(model), attempt, secret);
      });
    } catch (error) {
      throw toAttemptError(error, secret, options.now());
    }
  }
}

type Factory = (model: string) => VendorModel;

/** Keys and addresses are always given: the SDK would else read the environment by itself. */
async function load(config: VendorProviderConfig, fetch: typeof globalThis.fetch): Promise<Factory> {
  const settings = { apiKey: config.apiKey?.reveal() ?? "", baseURL: config.endpoint, fetch };
  switch (config.type) {
    case "openai": {
      const { createOpenAI } = await import("@ai-sdk/openai");
      return createOpenAI(settings).chat;
    }
    case "anthropic": {
      const { createAnthropic } = await import("@ai-sdk/anthropic");
      return createAnthropic(settings).messages;
    }
    case "google": {
      const { createGoogleGenerativeAI } = await import("@ai-sdk/google");
      return createGoogleGenerativeAI(settings).chat;
    }
    case "ollama":
    case "openai-compatible": {
      const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
      const more = { name: "compatible", includeUsage: true, supportsStructuredOutputs: true };
      return createOpenAICompatible({ ...settings, ...more }).chatModel;
    }
  }
}

/** What the SDK is asked for an attempt. @throws AttemptError for a conversation without a message */
function requestOf({ call, served, signal }: Attempt): { readonly request: VendorCall; readonly names: ToolNames } {
  const names = namesOf(call.tools, call.messages);
  const prompt = toPrompt(call.messages, names);
  if (!prompt.some((message) => message.role !== "system")) {
    throw new AttemptError("invalid_input", "the conversation holds no message for the model");
  }
  const request: VendorCall = {
    prompt,
    maxOutputTokens: served.maxOutputTokens,
    temperature: call.temperature ?? served.temperature,
    abortSignal: signal,
    ...responseFormat(call),
    ...(call.tools.length > 0 ? { tools: toTools(call.tools, names), toolChoice: { type: "auto" } } : {}),
  };
  return { request, names };
}

async function ask(model: VendorModel, attempt: Attempt, secret: Secret | null): Promise<AttemptReply> {
  const { request, names } = requestOf(attempt);
  const { stream } = await model.doStream(request);
  let content = "";
  let heard = false;
  let finish: Extract<VendorPart, { type: "finish" }> | null = null;
  const calls: ToolCall[] = [];
  for await (const part of stream) {
    switch (part.type) {
      case "stream-start":
        break;
      case "text-delta":
        heard = true;
        content += part.delta;
        break;
      case "tool-call":
        heard = true;
        calls.push(toolCallOf(part, names));
        break;
      case "error":
        // So a provider of the SDK says that the stream ended before the reply did.
        if (InvalidResponseDataError.isInstance(part.error)) throw unfinished(heard);
        throw streamError(part.error, secret);
      case "finish":
        finish = part;
        break;
      default:
        heard = true;
    }
  }
  if (finish === null) throw unfinished(heard);
  return replyOf({ content, calls, finish, streamed: true }, secret, () => unfinished(heard));
}

/** Reads a reply that came in one piece where a stream was asked for: it is a reply all the same. */
async function readWhole(model: VendorModel, attempt: Attempt, secret: Secret | null): Promise<AttemptReply> {
  const { request, names } = requestOf(attempt);
  const { content: parts, ...finish } = await model.doGenerate(request);
  const content = parts.map((part) => (part.type === "text" ? part.text : "")).join("");
  const calls = parts.flatMap((part) => (part.type === "tool-call" ? [toolCallOf(part, names)] : []));
  return replyOf({ content, calls, finish, streamed: false }, secret, noReply);
}

type VendorToolCall = Extract<VendorPart, { type: "tool-call" }>;

function toolCallOf({ toolCallId, toolName, input }: VendorToolCall, names: ToolNames): ToolCall {
  return { id: toolCallId, name: storableText(names.fromVendor(toolName)), ...toolArguments(input) };
}

interface VendorReply extends Pick<AttemptReply, "content" | "streamed"> {
  readonly calls: readonly ToolCall[];
  readonly finish: Pick<Extract<VendorPart, { type: "finish" }>, "finishReason" | "usage">;
}

/** @param incomplete what it is when the vendor gave no reason for its end @throws AttemptError */
function replyOf(
  { content, calls, finish, streamed }: VendorReply,
  secret: Secret | null,
  incomplete: () => AttemptError,
): AttemptReply {
  const { finishReason, usage } = finish;
  if (finishReason === undefined || finishReason.raw === undefined) throw incomplete();
  if (finishReason.unified === "error") {
    throw failure("provider", `the model stopped with ${finishReason.raw}`, secret);
  }
  const input = usage.inputTokens.total;
  const output = usage.outputTokens.total;
  return {
    content,
    toolCalls: distinctIds(calls),
    finishReason: calls.length > 0 ? "tool_calls" : plainReason(finishReason.unified),
    truncated: finishReason.unified === "length",
    streamed,
    // The SDK turns a missing count into 0 for some vendors; a conversation never has 0 tokens.
    usage: { ...(input ? { input_tokens: input } : {}), ...(output ? { output_tokens: output } : {}) },
  };
}

function unfinished(heard: boolean): AttemptError {
  if (heard) return new AttemptError("network", "the connection ended in the middle of the reply");
  return noReply();
}

function noReply(): AttemptError {
  return new AttemptError("provider", "the answer was no model reply");
}

function plainReason(unified: string): "stop" | "length" | "content_filter" {
  if (unified === "length") return "length";
  return unified === "content-filter" ? "content_filter" : "stop";
}

/** An error sent inside the stream: an exception of the SDK's reader, or the vendor's own error object. */
function streamError(error: unknown, secret: Secret | null): Error {
  if (error instanceof ConnectionFailure || error instanceof UnreadableBody) return error;
  if (APICallError.isInstance(error)) return error;
  if (error instanceof Error) return noReply();
  const { type, code, message } = asRecord(error);
  const word = [type, code].filter((value) => typeof value === "string").join(" ");
  const errorClass = typeof code === "number" ? classOfStatus(code) : classOfWord(word);
  return failure(
    errorClass,
    typeof message === "string" ? message : `the vendor reported ${word || "an error"}`,
    secret,
  );
}

function toAttemptError(error: unknown, secret: Secret | null, now: number): AttemptError {
  if (error instanceof AttemptError) return error;
  const cause = innermost(error);
  if (cause instanceof ConnectionFailure) return new AttemptError("network", `no answer: ${cause.message}`);
  if (cause instanceof UnreadableBody) return new AttemptError("provider", cause.message);
  if (!APICallError.isInstance(error)) return failure("provider", `the call failed: ${messageOf(error)}`, secret);
  const status = error.statusCode;
  if (status === undefined) return failure("network", error.message, secret);
  if (status >= 200 && status < 300) return noReply();
  const errorClass = classOfVendorError(status, error.responseBody ?? "");
  if (errorClass === "authentication") {
    return new AttemptError("authentication", `the vendor refused the credentials (${status})`);
  }
  const wait = retryAfterMs(error.responseHeaders?.["retry-after"], now);
  return failure(errorClass, `${status}: ${error.message || "no message"}`, secret, wait);
}

/** An error as the first event of a stream comes under status 500, with its type at the top of the body. */
function classOfVendorError(status: number, body: string): ModelErrorClass {
  if (status !== 500) return classOfStatus(status, body);
  try {
    const { type } = asRecord(JSON.parse(body));
    return typeof type === "string" ? classOfWord(type) : "provider";
  } catch {
    return "provider";
  }
}

function innermost(error: unknown): unknown {
  let inner = error;
  for (let depth = 0; depth < 5 && inner instanceof Error && inner.cause !== undefined; depth++) inner = inner.cause;
  return inner;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : "unknown failure";
}

function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? Object.fromEntries(Object.entries(value)) : {};
}
