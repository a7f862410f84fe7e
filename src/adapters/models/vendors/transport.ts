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

const largestReplyBytes = 64 * 1024 * 1024;

type Fetch = (input: RequestInfo | URL, init?: RequestInit) => Promise<Response>;

export interface TransportOptions {
  /** Header to leave out: without a key, the one in which the SDK would send empty credentials. */
  readonly omittedHeader: string | null;
  readonly largestReplyBytes?: number;
}

/** A `fetch` for the SDK's providers. */
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
    return new Response(guarded(body, limit, init?.signal ?? null), { status, statusText, headers: plain });
  };
  return Object.assign(send, { preconnect: () => {} });
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
