/** Streams of events that go on over broken connections, where they were. */
import { createParser, type EventSourceMessage } from "eventsource-parser";
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
  /** Whether the stream ends with this event; then no further attempt is made. */
  readonly isLast?: (event: StreamedEvent) => boolean;
  /** Told when the connection is lost, each time an attempt fails, and when it is back. */
  readonly connection?: (state: "open" | "lost") => void;
  /** What is silent for longer is taken for dead, ms: the service sends a comment every 15 s. 45,000 when absent. */
  readonly silenceMs?: number;
}

const usualSilenceMs = 45_000;
const firstRetryMs = 250;
const longestRetryMs = 10_000;
/** Characters of one event. */
const largestEvent = 64 * 1024 * 1024;
/** A connection that ends within this time and brings nothing says that there is no more: so do two of them, ms. */
const atOnceMs = 2_000;

/**
 * The events of a stream, each once, across restarts of the service. What could not be kept arrives as `event: gap`.
 * Ends with the signal, with the last event, and where the service has no more: it answers 204, or ends two attempts in
 * a row at once without an event. `Retry-After` of a refusal that will pass is waited for.
 * @throws ApiError for a stream that is refused
 */
export async function* follow(client: Client, path: string, options: FollowOptions): AsyncGenerator<StreamedEvent> {
  const { signal, connection, isLast } = options;
  const course = new Course(options.after ?? null);
  while (!signal.aborted) {
    try {
      for await (const event of connect(client, path, course, options)) {
        if (event === null) return;
        course.took(event);
        yield event;
        if (isLast?.(event)) return;
      }
      // It ended as it should: the service leaves, or has no more.
      if (course.isOver()) return;
    } catch (error) {
      if (signal.aborted) return;
      if (!isPassing(error)) throw error;
      course.broke(error);
      connection?.("lost");
    }
    await pause(course.waitMs(), signal);
  }
}

/** Where a reader of a stream stands. */
class Course {
  #failed = 0;
  #retryAfterMs = 0;
  /** Connections in a row that ended at once and brought nothing. */
  #empty = 0;
  #openedAt = 0;
  #taken = 0;

  /** @param last id of the last event that was read */
  constructor(public last: string | null) {}

  opened(): void {
    // It is there again: what follows is another loss.
    this.#failed = Math.min(this.#failed, 2);
    this.#openedAt = performance.now();
    this.#taken = 0;
  }

  took({ id }: StreamedEvent): void {
    this.#taken += 1;
    this.#failed = 0;
    if (id !== "") this.last = id;
  }

  broke(error: unknown): void {
    this.#empty = 0;
    this.#retryAfterMs = error instanceof ApiError ? (error.retryAfter ?? 0) * 1000 : 0;
  }

  /** Told of a connection that ended as it should: whether there is no more to come. */
  isOver(): boolean {
    const isEmpty = this.#taken === 0 && performance.now() - this.#openedAt < atOnceMs;
    this.#empty = isEmpty ? this.#empty + 1 : 0;
    return this.#empty === 2;
  }

  /** Until the next attempt. Many readers of one node come back one after the other. */
  waitMs(): number {
    const backoff = Math.min(longestRetryMs, firstRetryMs * 2 ** this.#failed++);
    const least = this.#retryAfterMs;
    this.#retryAfterMs = 0;
    return Math.max(least, backoff * (0.5 + Math.random() / 2));
  }
}

/** Whether the same request may succeed later. */
const isPassing = (error: unknown): boolean =>
  error instanceof Unreachable ||
  (error instanceof ApiError && (error.status === 408 || error.status === 429 || error.status >= 500));

/** What one connection brings; null: the service has no more of this stream. @throws ApiError, Unreachable */
async function* connect(
  client: Client,
  path: string,
  course: Course,
  { signal, connection, silenceMs = usualSilenceMs }: FollowOptions,
): AsyncGenerator<StreamedEvent | null> {
  // One of its own for each connection: nothing of it is left on the caller's, which may live for days.
  const ending = new AbortController();
  const leave = () => ending.abort();
  signal.addEventListener("abort", leave);
  if (signal.aborted) leave();
  const within = async <T>(step: Promise<T>): Promise<T> => {
    const timer = setTimeout(leave, silenceMs);
    try {
      return await step;
    } catch (error) {
      throw ending.signal.aborted ? new Unreachable(new Error("the stream is silent")) : error;
    } finally {
      clearTimeout(timer);
    }
  };
  let reader: ReadableStreamDefaultReader<Uint8Array> | null = null;
  try {
    const headers = { Accept: "text/event-stream", ...(course.last === null ? {} : { "Last-Event-ID": course.last }) };
    const response = await within(client.send(path, { headers, signal: ending.signal }));
    reader = response.body?.getReader() ?? null;
    if (response.status === 204 || reader === null) {
      yield null;
      return;
    }
    requireStream(response);
    course.opened();
    connection?.("open");
    const parsed = parsing();
    for (;;) {
      const next = await within(reader.read()).catch(broken);
      if (next.done) return;
      yield* parsed(next.value);
    }
  } finally {
    signal.removeEventListener("abort", leave);
    // Also where the caller takes no more: the connection is closed at once.
    await reader?.cancel().catch(() => {});
    leave();
  }
}

function broken(error: unknown): never {
  throw error instanceof Unreachable ? error : new Unreachable(error);
}

/** A proxy may answer for a service that is away. */
function requireStream({ headers }: Response): void {
  const type = headers.get("Content-Type") ?? "nothing";
  if (!type.startsWith("text/event-stream"))
    throw new Unreachable(new Error(`answered with ${type}, not with a stream`));
}

/** What comes, as the events that are complete with it. */
function parsing(): (chunk: Uint8Array) => readonly StreamedEvent[] {
  const decoder = new TextDecoder();
  let complete: StreamedEvent[] = [];
  const parser = createParser({
    maxBufferSize: largestEvent,
    onEvent: (message) => complete.push(streamed(message)),
    onError: ({ type, message }) => {
      if (type === "max-buffer-size-exceeded") throw new Unreachable(new Error(message));
    },
  });
  return (chunk) => {
    complete = [];
    parser.feed(decoder.decode(chunk, { stream: true }));
    return complete;
  };
}

const streamed = ({ id = "", event = "message", data }: EventSourceMessage): StreamedEvent => ({
  id,
  event,
  data: jsonOf(data),
});

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
    if (signal.aborted) done();
  });
}
