/** A guarded call whose answer is read as it comes: one hop, to the very address that was checked. */
import { listedByUrl, policyOf } from "../../../actors/policy/network/policy.ts";
import { orAborted } from "../../lib/timers.ts";
import { destinationOf, EgressFailed } from "./destination.ts";
import { type GuardedOptions, send, sendable, webUrl } from "./guarded-fetch.ts";

export interface StreamedRequest {
  /** http or https, without user info. An address off the open internet has to stand in it, and in the node's list. */
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
}

/**
 * @returns the answer of any status, redirects included, which are not followed
 * @throws EgressRefused for what is not allowed, EgressFailed for what did not work or comes compressed
 */
export async function guardedStream(request: StreamedRequest, options: GuardedOptions): Promise<Response> {
  const { signal } = request;
  const url = webUrl(request.url, null);
  const port = url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port);
  const policy = policyOf(listedByUrl(request.url));
  const destination = await orAborted(destinationOf(policy, "public", url.hostname, port, options), signal);
  const hop = { url, method: request.method, headers: sendable(request.headers), body: request.body };
  const response = await send(hop, destination, options, signal);
  const encoding = response.headers.get("content-encoding");
  if (encoding !== null && encoding.toLowerCase() !== "identity") {
    await response.body?.cancel();
    throw new EgressFailed("upstream_error", `${url.host} sent an answer in a compression that was not asked for`);
  }
  return response;
}
