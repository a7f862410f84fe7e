/** One connection to a tool server, by the official client, over any transport. */
import { Client, ProtocolError, SdkError, SdkErrorCode, type Tool, type Transport } from "@modelcontextprotocol/client";
import {
  type Bounded,
  bounds,
  type JsonObject,
  type ListedTool,
  ListSieve,
} from "../../../actors/tool-server/listing.ts";
import { isTooDeep, ownErrors } from "./messages.ts";

/** What a call came to. Everything but `result` is no answer of the tool. */
export type CallEnd =
  | { readonly kind: "result"; readonly result: { readonly [member: string]: unknown } }
  /** The server answered with an error of the protocol. */
  | { readonly kind: "error"; readonly code: number; readonly message: string }
  | { readonly kind: "too_large" | "timeout" | "lost"; readonly message: string };

export interface CallOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface McpConnection {
  /** As negotiated; null: the server named none. */
  readonly protocolVersion: string | null;
  /** What of all pages is within the bounds; no page is read behind them. @throws what went wrong */
  list(timeoutMs: number): Promise<Bounded>;
  /** @throws the signal's reason once that aborts; the server is told */
  call(tool: ListedTool, args: Readonly<Record<string, unknown>>, options: CallOptions): Promise<CallEnd>;
  /** Resolves once it has ended. */
  readonly closed: Promise<void>;
  /** Whether it has ended: known before any call of it fails. */
  isClosed(): boolean;
  close(): Promise<void>;
}

export interface ConnectOptions {
  /** `legacy`: the program does not stand the question which revision it speaks. */
  readonly era: "auto" | "legacy";
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Told each time that the server says its tools have changed. */
  readonly changed: () => void;
}

/** A server that does not answer the question for its revision is one of before, ms. */
const probeMs = 3_000;

/** @throws what went wrong; the transport is closed then */
export async function connectServer(transport: Transport, options: ConnectOptions): Promise<McpConnection> {
  const client = new Client(
    { name: "svc", version: "1" },
    {
      // Sampling, elicitation and roots are not offered.
      capabilities: {},
      versionNegotiation: { mode: options.era, probe: { timeoutMs: Math.min(probeMs, options.timeoutMs) } },
      inputRequired: { autoFulfill: false },
      listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => options.changed() } },
      // Results pass through; a schema from outside is never compiled here.
      jsonSchemaValidator: {
        getValidator: () => (data) => ({ valid: true, data: data as never, errorMessage: undefined }),
      },
    },
  );
  let isClosed = false;
  let ended: () => void;
  const closed = new Promise<void>((resolve) => {
    ended = resolve;
  });
  client.onclose = () => {
    isClosed = true;
    ended();
  };
  // Single requests tell of their own failures.
  client.onerror = () => {};
  try {
    await client.connect(transport, { timeout: options.timeoutMs, signal: options.signal });
  } catch (error) {
    await client.close().catch(() => {});
    throw error;
  }
  return {
    protocolVersion: client.getNegotiatedProtocolVersion() ?? null,
    closed,
    isClosed: () => isClosed,
    close: () => client.close(),

    async list(timeoutMs) {
      const until = performance.now() + timeoutMs;
      const sieve = new ListSieve(Buffer.byteLength);
      const cut = (why: string): Bounded => {
        const { tools, warnings } = sieve.done();
        return { tools, warnings: [...warnings, `The list has ${why}: what comes behind is left out`] };
      };
      let cursor: string | undefined;
      let bytes = 0;
      for (let page = 0; page < bounds.pages; page += 1) {
        const left = Math.max(1, until - performance.now());
        // Page by page: the library's own list reads them all before it gives any.
        const params = cursor === undefined ? {} : { cursor };
        const answer = await client.request({ method: "tools/list", params }, { timeout: left, maxTotalTimeout: left });
        for (const tool of answer.tools) sieve.take(listed(tool));
        const { nextCursor } = answer;
        if (sieve.isFull || nextCursor === undefined || nextCursor === cursor) return sieve.done();
        // Of a last page it does not matter.
        bytes += Buffer.byteLength(JSON.stringify(answer));
        if (bytes > bounds.readBytes) return cut(`more than ${bounds.readBytes} bytes`);
        cursor = nextCursor;
      }
      return cut(`more than ${bounds.pages} pages`);
    },

    async call(tool, args, { timeoutMs, signal }) {
      signal.throwIfAborted();
      try {
        const result = await client.callTool(
          { name: tool.name, arguments: { ...args } },
          { timeout: timeoutMs, maxTotalTimeout: timeoutMs, signal, toolDefinition: definitionOf(tool) },
        );
        // What reads it further, and what stores it, goes down into it.
        if (isTooDeep(result)) return { kind: "error", code: 0, message: "The answer has too many levels" };
        return { kind: "result", result };
      } catch (error) {
        signal.throwIfAborted();
        return endOf(error, timeoutMs);
      }
    },
  };
}

function endOf(error: unknown, timeoutMs: number): CallEnd {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof ProtocolError) {
    if (error.code === ownErrors.tooLarge) return { kind: "too_large", message };
    if (error.code === ownErrors.lost) return { kind: "lost", message };
    return { kind: "error", code: error.code, message };
  }
  if (error instanceof SdkError) {
    if (error.code === SdkErrorCode.RequestTimeout) {
      return { kind: "timeout", message: `No answer within ${timeoutMs / 1_000} s` };
    }
    if (error.code === SdkErrorCode.InvalidResult || error.code === SdkErrorCode.UnsupportedResultType) {
      return { kind: "error", code: 0, message };
    }
  }
  return { kind: "lost", message };
}

/** Hints that are absent mean the careful thing, as the protocol has it. */
function listed({ name, description = "", inputSchema, outputSchema, annotations = {} }: Tool): ListedTool {
  const { readOnlyHint = false, destructiveHint = true, idempotentHint = false, openWorldHint = true } = annotations;
  return {
    name,
    description,
    inputSchema: jsonObject(inputSchema),
    outputSchema: outputSchema === undefined ? null : jsonObject(outputSchema),
    annotations: { readOnlyHint, destructiveHint: !readOnlyHint && destructiveHint, idempotentHint, openWorldHint },
  };
}

// It came as JSON.
const jsonObject = (schema: object): JsonObject => schema as JsonObject;

/** What the client mirrors headers by. */
function definitionOf({ name, inputSchema }: ListedTool): Tool {
  return { name, inputSchema: { ...inputSchema, type: "object" } as Tool["inputSchema"] };
}
