/** Streamable HTTP by the official client, every request through the guard of the egress adapter. */
import { type FetchLike, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { bounds } from "../../../../actors/tool-server/listing.ts";
import { type EgressEnvironment, EgressRefused, guardedStream } from "../../egress/port.ts";
import { messageBudget } from "../budget.ts";
import { inPlaceOf } from "../messages.ts";
import { boundedBody } from "./bounded-body.ts";

export interface HttpOptions {
  readonly url: string;
  /** Credentials by the names of their headers. */
  readonly headers: Readonly<Record<string, string>>;
  readonly outside: EgressEnvironment;
  /** Told of an address that may not be reached. Must not throw. */
  readonly refused: (refusal: EgressRefused) => void;
}

/** What JSON-RPC and the framing of events add to an answer. */
const envelopeBytes = 8_192;

export function httpTransport({ url, headers, outside, refused }: HttpOptions): StreamableHTTPClientTransport {
  const messages = messageBudget();

  const fetch: FetchLike = async (to, init) => {
    const signal = init?.signal ?? new AbortController().signal;
    const given = Object.fromEntries(new Headers(init?.headers));
    const text = typeof init?.body === "string" ? init.body : undefined;
    const answer = await guardedStream(
      {
        url: String(to),
        method: init?.method ?? "GET",
        headers: { ...given, ...headers },
        ...(text === undefined ? {} : { body: text }),
        signal,
      },
      outside,
    ).catch((error: unknown) => {
      if (error instanceof EgressRefused) refused(error);
      throw error;
    });
    const asked = requestId(text);
    const isEvents = answer.headers.get("content-type")?.toLowerCase().startsWith("text/event-stream") ?? false;
    // What stands for an answer that does not come any more; where it has come, the client leaves it aside.
    const standIn = (code: "tooLarge" | "lost", message: string) => {
      if (asked !== null) transport.onmessage?.(inPlaceOf(asked, code, message));
    };
    const body =
      answer.body === null
        ? null
        : boundedBody(answer.body, isEvents, bounds.answerBytes + envelopeBytes, {
            tooLarge: () => standIn("tooLarge", "The answer is larger than 10 MiB"),
            ended(resumable) {
              // After the answer that stands in its last bytes.
              if (isEvents && !resumable) setTimeout(() => standIn("lost", "The connection was lost"), 50).unref();
            },
            event: () => messages.take(1),
          });
    // A body that must not be there is none.
    const { status, statusText } = answer;
    const isBare = status === 204 || status === 205 || status === 304 || status < 200;
    return new Response(isBare ? null : body, {
      status: status < 200 ? 500 : status,
      statusText,
      headers: answer.headers,
    });
  };

  const transport = new StreamableHTTPClientTransport(new URL(url), {
    fetch,
    // Streams beside calls come back by themselves; calls of a lost connection fail.
    reconnectionOptions: {
      initialReconnectionDelay: 1_000,
      maxReconnectionDelay: 30_000,
      reconnectionDelayGrowFactor: 2,
      maxRetries: 5,
    },
    onInsufficientScope: "throw",
  });
  return transport;
}

/** The id of the one request in a body; null where there is none. */
function requestId(body: string | undefined): string | number | null {
  if (body === undefined) return null;
  try {
    const { id = null, method } = JSON.parse(body) as { id?: unknown; method?: unknown };
    const isId = typeof id === "string" || typeof id === "number";
    return isId && typeof method === "string" && method !== "subscriptions/listen" ? id : null;
  } catch {
    return null;
  }
}
