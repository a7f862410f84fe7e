/** Requests of the provider's client: no redirects, an answer of bounded size, a key of ours on all that changes something. */
import { readBody } from "../../lib/answer-body.ts";

/** Of one answer; a page of a hundred invoices with their lines is the largest. */
const maxAnswerBytes = 16 * 1024 * 1024;

/** Keys that the client makes up itself begin with it: they would not survive the call. */
const keyOfClient = "stripe-node-retry-";

/** `fetch` for the provider's client. @throws TypeError for a mutation without a key of the caller's */
export async function paymentFetch(url: string | URL | Request, init?: RequestInit): Promise<Response> {
  const headers = new Headers(init?.headers);
  const key = headers.get("idempotency-key");
  if (init?.method === "POST" && (key === null || key.startsWith(keyOfClient))) {
    throw new TypeError("a change at the payment provider needs an idempotency key");
  }
  headers.set("Accept-Encoding", "identity");
  const response = await fetched(url, { ...init, headers, redirect: "manual", decompress: false });
  const { bytes, truncated } = await readBody(response, maxAnswerBytes);
  if (truncated) throw new Error(`the provider's answer has more than ${maxAnswerBytes} bytes`);
  const kept = new Headers(response.headers);
  for (const name of ["content-encoding", "content-length"]) kept.delete(name);
  return new Response(bytes.length === 0 ? null : new Uint8Array(bytes), { status: response.status, headers: kept });
}

/** The client repeats requests whose connection was reset, beyond the time they have: it is not told of that. */
async function fetched(url: string | URL | Request, init: BunFetchRequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    if (init.signal?.aborted === true) throw init.signal.reason;
    throw new Error(error instanceof Error ? error.message : "no answer", { cause: error });
  }
}
