/** How each vendor writes a reply and an error, as the bytes of a stream and as one document. */

export interface VendorReply {
  readonly text?: string;
  readonly toolCalls?: readonly {
    readonly id?: string;
    /** As on the wire, so without dots. */
    readonly name: string;
    /** A string goes out as it is: that is how a test sends arguments that are no JSON. */
    readonly arguments?: Record<string, unknown> | string;
  }[];
  readonly finish?: "stop" | "length" | "content_filter";
  /** null: the vendor does not count. */
  readonly usage?: { readonly input: number; readonly output: number } | null;
}

export type Frames = readonly string[];
type Request = Record<string, unknown>;

interface WireFormat {
  frames(reply: VendorReply, request: Request): Frames;
  whole(reply: VendorReply, request: Request): unknown;
  error(status: number, message: string): unknown;
  streamError(error: { type: string; message: string }): string;
}

/** Pieces of at most `size` characters; one empty piece for an empty text. */
function pieces(text: string, size: number): string[] {
  return text.match(new RegExp(`[\\s\\S]{1,${size}}`, "g")) ?? [""];
}

const written = (value: Record<string, unknown> | string | undefined) =>
  typeof value === "string" ? value : JSON.stringify(value ?? {});
const usageOf = (reply: VendorReply) => (reply.usage === undefined ? { input: 11, output: 7 } : reply.usage);
const data = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const event = (value: { type: string }) => `event: ${value.type}\n${data(value)}`;

const openai: WireFormat = {
  frames(reply, request) {
    const base = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: request.model };
    const chunk = (delta: unknown, finish: string | null = null) =>
      data({ ...base, choices: [{ index: 0, delta, finish_reason: finish }] });
    const frames = [chunk({ role: "assistant", content: "" })];
    for (const content of pieces(reply.text ?? "", 7)) frames.push(chunk({ content }));
    const calls = reply.toolCalls ?? [];
    calls.forEach((call, index) => {
      const id = call.id ?? `call_${index}`;
      frames.push(
        chunk({ tool_calls: [{ index, id, type: "function", function: { name: call.name, arguments: "" } }] }),
      );
      for (const part of pieces(written(call.arguments), 5)) {
        frames.push(chunk({ tool_calls: [{ index, function: { arguments: part } }] }));
      }
    });
    frames.push(chunk({}, calls.length > 0 ? "tool_calls" : (reply.finish ?? "stop")));
    const usage = usageOf(reply);
    if (usage) frames.push(data({ ...base, choices: [], usage: openaiUsage(usage) }));
    return [...frames, "data: [DONE]\n\n"];
  },
  whole(reply, request) {
    const usage = usageOf(reply);
    const calls = reply.toolCalls?.map((call, index) => ({
      id: call.id ?? `call_${index}`,
      type: "function",
      function: { name: call.name, arguments: written(call.arguments) },
    }));
    const message = { role: "assistant", content: reply.text ?? null, ...(calls ? { tool_calls: calls } : {}) };
    const finish = calls ? "tool_calls" : (reply.finish ?? "stop");
    return {
      id: "chatcmpl-1",
      object: "chat.completion",
      created: 1,
      model: request.model,
      choices: [{ index: 0, message, finish_reason: finish }],
      ...(usage ? { usage: openaiUsage(usage) } : {}),
    };
  },
  error: (status, message) => ({
    error: { message, type: status >= 500 ? "server_error" : "invalid_request_error", param: null, code: null },
  }),
  streamError: (error) => data({ error: { ...error, param: null, code: null } }),
};

function openaiUsage({ input, output }: { input: number; output: number }) {
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
}

const anthropicStops = { stop: "end_turn", length: "max_tokens", content_filter: "refusal" } as const;

const anthropic: WireFormat = {
  frames(reply, request) {
    const usage = usageOf(reply) ?? { input: 0, output: 0 };
    const message = {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: request.model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: usage.input, output_tokens: 0 },
    };
    const frames = [event({ type: "message_start", ...{ message } }), event({ type: "ping" })];
    let index = 0;
    const block = (start: unknown, deltas: readonly unknown[]) => {
      frames.push(event({ type: "content_block_start", ...{ index, content_block: start } }));
      for (const delta of deltas) frames.push(event({ type: "content_block_delta", ...{ index, delta } }));
      frames.push(event({ type: "content_block_stop", ...{ index } }));
      index++;
    };
    if (reply.text !== undefined) {
      block(
        { type: "text", text: "" },
        pieces(reply.text, 7).map((text) => ({ type: "text_delta", text })),
      );
    }
    for (const [number, call] of (reply.toolCalls ?? []).entries()) {
      const parts = pieces(written(call.arguments), 5).map((part) => ({
        type: "input_json_delta",
        partial_json: part,
      }));
      block({ type: "tool_use", id: call.id ?? `toolu_${number}`, name: call.name, input: {} }, parts);
    }
    const stop = reply.toolCalls ? "tool_use" : anthropicStops[reply.finish ?? "stop"];
    const delta = { stop_reason: stop, stop_sequence: null };
    frames.push(event({ type: "message_delta", ...{ delta, usage: { output_tokens: usage.output } } }));
    return [...frames, event({ type: "message_stop" })];
  },
  whole(reply, request) {
    const usage = usageOf(reply) ?? { input: 0, output: 0 };
    const calls = (reply.toolCalls ?? []).map((call, number) => ({
      type: "tool_use",
      id: call.id ?? `toolu_${number}`,
      name: call.name,
      input: typeof call.arguments === "string" ? JSON.parse(call.arguments) : (call.arguments ?? {}),
    }));
    return {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: request.model,
      content: [...(reply.text === undefined ? [] : [{ type: "text", text: reply.text }]), ...calls],
      stop_reason: reply.toolCalls ? "tool_use" : anthropicStops[reply.finish ?? "stop"],
      stop_sequence: null,
      usage: { input_tokens: usage.input, output_tokens: usage.output },
    };
  },
  error: (status, message) => ({ type: "error", error: { type: anthropicErrors[status] ?? "api_error", message } }),
  streamError: (error) => event({ type: "error", ...{ error } }),
};

const anthropicErrors: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  529: "overloaded_error",
};

const googleStops = { stop: "STOP", length: "MAX_TOKENS", content_filter: "SAFETY" } as const;

const google: WireFormat = {
  frames(reply) {
    const texts = pieces(reply.text ?? "", 7).filter((text) => text !== "");
    const calls = (reply.toolCalls ?? []).map((call) => ({
      functionCall: { name: call.name, args: call.arguments ?? {} },
    }));
    const frames = [...texts.map((text) => ({ text })), ...calls].map((part) =>
      data({ candidates: [{ content: { role: "model", parts: [part] }, index: 0 }] }),
    );
    return [...frames, data(googleEnd(reply, []))];
  },
  whole(reply) {
    const parts = [
      ...(reply.text === undefined ? [] : [{ text: reply.text }]),
      ...(reply.toolCalls ?? []).map((call) => ({ functionCall: { name: call.name, args: call.arguments ?? {} } })),
    ];
    return googleEnd(reply, parts);
  },
  error: (status, message) => ({ error: { code: status, message, status: googleStatuses[status] ?? "INTERNAL" } }),
  streamError: (error) => data({ error: { code: 503, message: error.message, status: "UNAVAILABLE" } }),
};

function googleEnd(reply: VendorReply, parts: readonly unknown[]) {
  const usage = usageOf(reply);
  const counts = usage && {
    promptTokenCount: usage.input,
    candidatesTokenCount: usage.output,
    totalTokenCount: usage.input + usage.output,
  };
  return {
    candidates: [{ content: { role: "model", parts }, finishReason: googleStops[reply.finish ?? "stop"], index: 0 }],
    ...(counts ? { usageMetadata: counts } : {}),
  };
}

const googleStatuses: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
  503: "UNAVAILABLE",
};

/** Every wire the vendor speaks; `openai` also serves openai-compatible and ollama providers. */
export const wires = { openai, anthropic, google } as const satisfies Record<string, WireFormat>;
