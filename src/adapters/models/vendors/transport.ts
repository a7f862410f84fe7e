/**
 * The way to a vendor: `fetch` with what the SDK does not do. Failures of the connection are told apart
 * from failures of the vendor, before and in the middle of the reply; redirects are not followed, because
 * they would carry the key elsewhere; a reply has a largest size.
 */
import { plainBody, UnreadableBody } from "../../../lib/answer-body.ts";

/** No connection, or one that broke. */
export class ConnectionFailure extends Error {
  override readonly name = "ConnectionFailure";
}

/** The answer to a question for a stream is one JSON document: it holds the whole reply. */
export class AnsweredWhole extends Error {
  override readonly name = "AnsweredWhole";
  constructor(readonly response: Response) {
    super("the vendor answered in one piece");
  }
}

const largestReplyBytes = 64 * 1024 * 1024;

type Fetch = (input: RequestInfo | URL, init?: RequestInit) => Promise<Response>;

export interface TransportOptions {
  /** Header to leave out: without a key, the one in which the SDK would send empty credentials. */
  readonly omittedHeader: string | null;
  readonly largestReplyBytes?: number;
}

/** A `fetch` for the SDK's providers, whose requests all ask for a stream. Rejects with `AnsweredWhole` as well. */
export function transport(options: TransportOptions): typeof fetch {
  const limit = options.largestReplyBytes ?? largestReplyBytes;
  const send: Fetch = async (input, init) => {
    const headers = new Headers(init?.headers);
    if (options.omittedHeader !== null) headers.delete(options.omittedHeader);
    headers.set("accept-encoding", "identity");
    let response: Response;
    try {
      // Bun would give up by itself after five minutes; the caller's signal is the only clock.
      const request: BunFetchRequestInit = {
        ...init,
        headers,
        redirect: "manual",
        timeout: false,
        decompress: false,
      };
      response = await fetch(input instanceof Request ? input.url : input, request);
    } catch (error) {
      if (init?.signal?.aborted) throw error;
      throw new ConnectionFailure(reason(error));
    }
    const body = plainBody(response);
    if (body === null) return response;
    const { status, statusText } = response;
    const plain = new Headers(response.headers);
    plain.delete("content-encoding");
    const answer = { status, statusText, headers: plain };
    const within = guarded(body, limit, init?.signal ?? null);
    if (!response.ok) return new Response(within, answer);
    const { first, whole } = await lookedAt(within);
    if (first === openingBrace) throw new AnsweredWhole(new Response(whole, answer));
    return new Response(whole, answer);
  };
  return Object.assign(send, { preconnect: () => {} });
}

const openingBrace = "{".charCodeAt(0);
/** Bytes looked at before the first that is no white space; a body that begins with more is taken as a stream. */
const mostWhiteSpace = 4096;

/** The first byte of a body that is no white space, and the body as it was. Event streams begin with a word or `:`. */
async function lookedAt(
  body: ReadableStream<Uint8Array>,
): Promise<{ readonly first: number | undefined; readonly whole: ReadableStream<Uint8Array> }> {
  const reader = body.getReader();
  const seen: Uint8Array[] = [];
  let size = 0;
  let first: number | undefined;
  while (first === undefined && size < mostWhiteSpace) {
    const { done, value } = await reader.read();
    if (done) break;
    seen.push(value);
    size += value.length;
    first = value.find((byte) => byte > 0x20);
  }
  const whole = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const piece = seen.shift();
      if (piece !== undefined) return controller.enqueue(piece);
      const { done, value } = await reader.read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (why) => reader.cancel(why),
  });
  return { first, whole };
}

function guarded(
  body: ReadableStream<Uint8Array>,
  limit: number,
  signal: AbortSignal | null,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let bytes = 0;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) return controller.close();
        bytes += value.byteLength;
        if (bytes > limit) {
          await reader.cancel();
          return controller.error(new UnreadableBody(`the reply is larger than ${limit} bytes`));
        }
        controller.enqueue(value);
      } catch (error) {
        controller.error(signal?.aborted ? error : new ConnectionFailure(reason(error)));
      }
    },
    cancel: (why) => reader.cancel(why),
  });
}

/** The system's short code (ECONNREFUSED …) where there is one: messages may carry addresses. */
function reason(error: unknown): string {
  if (error instanceof Error && "code" in error && typeof error.code === "string") return error.code;
  return "connection failed";
}
