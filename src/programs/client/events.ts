/** Streams of events that go on over broken connections, where they were. */
import { EventSourceParserStream } from "eventsource-parser/stream";
import type { Client } from "./client.ts";
import { ApiError, Unreachable } from "./errors.ts";

export interface StreamedEvent {
  /** Opaque; empty where the stream gives none. */
  readonly id: string;
  /** `message` where the stream names none. */
  readonly event: string;
  readonly data: unknown;
}

export interface FollowOptions {
  readonly signal: AbortSignal;
  /** The id of the last event that was read; null: from the stream's beginning or now, as the stream has it. */
  readonly after?: string | null;
  /** Told when the connection is lost and when it is back. */
  readonly connection?: (state: "open" | "lost") => void;
}

/** The service sends a comment every 15 s: a stream that is silent for longer than this is dead, ms. */
const silenceMs = 45_000;
const firstRetryMs = 250;
const longestRetryMs = 10_000;

/**
 * The events of a stream, each once, across restarts of the service. Ends when the service ends the stream (204 at a
 * new attempt), or with the signal. What could not be kept arrives as `event: gap`.
 * @throws ApiError for a stream that is refused
 */
export async function* follow(client: Client, path: string, options: FollowOptions): AsyncGenerator<StreamedEvent> {
  const { signal, connection } = options;
  let last = options.after ?? null;
  let retryMs = firstRetryMs;
  while (!signal.aborted) {
    try {
      for await (const event of connect(client, path, last, options)) {
        if (event === null) return;
        retryMs = firstRetryMs;
        if (event.id !== "") last = event.id;
        yield event;
      }
    } catch (error) {
      if (!signal.aborted && !isPassing(error)) throw error;
    }
    if (signal.aborted) return;
    connection?.("lost");
    await pause(retryMs, signal);
    retryMs = Math.min(retryMs * 2, longestRetryMs);
  }
}

/** What one connection brings; null: the service has no more of this stream. */
async function* connect(
  client: Client,
  path: string,
  last: string | null,
  { signal, connection }: FollowOptions,
): AsyncGenerator<StreamedEvent | null> {
  const silent = new AbortController();
  const headers = { Accept: "text/event-stream", ...(last === null ? {} : { "Last-Event-ID": last }) };
  const response = await client.send(path, { headers, signal: AbortSignal.any([signal, silent.signal]) });
  if (response.status === 204 || response.body === null) {
    yield null;
    return;
  }
  connection?.("open");
  yield* read(response.body, silent);
}

/** Whether the same request may succeed later. */
function isPassing(error: unknown): boolean {
  if (error instanceof ApiError) return error.status === 429 || error.status >= 500;
  return error instanceof Unreachable || error instanceof TypeError || (error as Error).name === "AbortError";
}

async function* read(body: ReadableStream<Uint8Array>, silent: AbortController): AsyncGenerator<StreamedEvent> {
  let timer = setTimeout(() => silent.abort(), silenceMs);
  const heard = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      clearTimeout(timer);
      timer = setTimeout(() => silent.abort(), silenceMs);
      controller.enqueue(chunk);
    },
  });
  const reader = body
    .pipeThrough(heard)
    .pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>)
    .pipeThrough(new EventSourceParserStream())
    .getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      const { id = "", event = "message", data } = next.value;
      yield { id, event, data: jsonOf(data) };
    }
  } finally {
    clearTimeout(timer);
    reader.cancel().catch(() => {});
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done);
  });
}
