/**
 * HTTP calls the service itself makes to addresses that others wrote: webhooks, deliveries, pages.
 *
 * Each hop is resolved and checked here and then sent to the very address that was checked, so that a name
 * which changes its mind in between gains nothing.
 */

import type { NetworkSpec } from "../../../actors/agent/manifest/spec.ts";
import { parseHostPattern } from "../../../actors/policy/network/pattern.ts";
import { listsOf, type NetworkPolicy, policyOf } from "../../../actors/policy/network/policy.ts";
import { readBody, UnreadableBody } from "../../lib/answer-body.ts";
import { orAborted } from "../../lib/timers.ts";
import {
  type Destination,
  destinationOf,
  type EgressEnvironment,
  EgressFailed,
  type FailureCode,
  type Reach,
} from "./destination.ts";

export interface GuardedRequest {
  /** http or https, without user info. */
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** For everything: names, connections, redirects and the body. */
  readonly timeoutMs: number;
  /** Of the body after decompression; the rest is cut off, and not decompressed. */
  readonly maxBytes: number;
  /** The network policy of the manifest that the call is for; null lists nothing. */
  readonly network: NetworkSpec | null;
  /**
   * What the policy decides. `listed`: everything, its mode included. `public`: only which addresses off the open
   * internet may be reached, which it has to list by address; every public host may be called. `lists`: what its lists
   * hold in every mode; with an empty allowlist every public host may be called.
   */
  readonly reach: Reach;
  /** Addresses off the open internet that a list other than the policy's holds, as entries of such a list. */
  readonly alsoListed?: readonly string[];
  /** Asked of every address of a hop, before anything is resolved. @throws what refuses the call */
  readonly admit?: (url: URL) => void;
  /** False: a redirect is the answer. Default true. */
  readonly follow?: boolean;
  readonly signal: AbortSignal;
}

export interface GuardedOptions extends EgressEnvironment {
  /** PEM certificates trusted instead of the usual ones. */
  readonly trust?: readonly string[];
}

export interface GuardedResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array;
  /** Whether the body had more than `maxBytes`. */
  readonly truncated: boolean;
  /** The last address asked, and those before it. */
  readonly url: string;
  readonly redirects: readonly string[];
}

const maxRedirects = 10;
const redirectCodes: readonly number[] = [301, 302, 303, 307, 308];
/** Ours to set, or about one connection only. */
const ownHeaders: readonly string[] = [
  "accept-encoding",
  "host",
  "connection",
  "content-length",
  "keep-alive",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
];
/** All that another origin may learn: anything else could be a credential. */
const harmlessHeaders: readonly string[] = ["accept", "accept-language", "content-type", "user-agent"];

export interface Hop {
  readonly url: URL;
  readonly method: string;
  readonly headers: Headers;
  readonly body: string | Uint8Array<ArrayBuffer> | undefined;
}

/** @throws EgressRefused for what is not allowed, EgressFailed for what did not work. Any status is a result. */
export async function guardedFetch(request: GuardedRequest, options: GuardedOptions): Promise<GuardedResponse> {
  const deadline = AbortSignal.timeout(request.timeoutMs);
  const signal = AbortSignal.any([deadline, request.signal]);
  const policy = policyFor(request);
  const redirects: string[] = [];
  let hop: Hop = {
    url: webUrl(request.url, null, request.admit),
    method: request.method.toUpperCase(),
    headers: sendable(request.headers),
    body: request.body instanceof Uint8Array ? new Uint8Array(request.body) : request.body,
  };
  try {
    for (;;) {
      signal.throwIfAborted();
      const { hostname, port, protocol } = hop.url;
      const to = port === "" ? (protocol === "https:" ? 443 : 80) : Number(port);
      const destination = await orAborted(destinationOf(policy, request.reach, hostname, to, options), signal);
      const response = await send(hop, destination, options, signal);
      const isFollowed = request.follow !== false && redirectCodes.includes(response.status);
      const location = isFollowed ? response.headers.get("location") : null;
      if (location === null) {
        const { body, truncated } = await bounded(response, request.maxBytes);
        return { status: response.status, headers: response.headers, body, truncated, url: hop.url.href, redirects };
      }
      await response.body?.cancel();
      if (redirects.length === maxRedirects) {
        throw new EgressFailed("too_many_redirects", `More than ${maxRedirects} redirects`);
      }
      redirects.push(hop.url.href);
      hop = following(hop, response.status, webUrl(location, hop.url, request.admit));
    }
  } catch (error) {
    if (deadline.aborted) throw new EgressFailed("timeout", `No answer within ${request.timeoutMs} ms`);
    if (request.signal.aborted) throw new EgressFailed("aborted", "The call was given up");
    throw error;
  }
}

function policyFor({ network, reach, alsoListed = [] }: GuardedRequest): NetworkPolicy {
  const policy = reach === "lists" ? listsOf(network) : policyOf(network);
  const also = alsoListed.map(parseHostPattern).filter((pattern) => pattern !== null);
  // Whether a host may be called at all is decided by the policy's own list.
  return also.length === 0 ? policy : { ...policy, addresses: also };
}

export function webUrl(text: string, base: URL | null, admit: (url: URL) => void = () => {}): URL {
  const url = URL.canParse(text, base ?? undefined) ? new URL(text, base ?? undefined) : null;
  if (url !== null) admit(url);
  if (url === null || !["http:", "https:"].includes(url.protocol) || url.username !== "" || url.password !== "") {
    throw new EgressFailed("invalid_url", "Only http and https URLs without user info are called");
  }
  return url;
}

export function sendable(headers: Readonly<Record<string, string>>): Headers {
  const kept = Object.entries(headers).filter(([name]) => !ownHeaders.includes(name.toLowerCase()));
  try {
    return new Headers(kept);
  } catch {
    throw new EgressFailed("invalid_url", "A header is not one that can be sent");
  }
}

/** The next request, as the Fetch standard has it, with less told to another origin. */
function following(hop: Hop, status: number, url: URL): Hop {
  const turnsToGet = status === 303 ? hop.method !== "HEAD" : status < 303 && hop.method === "POST";
  const headers = new Headers(hop.headers);
  if (url.origin !== hop.url.origin) {
    for (const name of [...headers.keys()]) if (!harmlessHeaders.includes(name)) headers.delete(name);
  }
  if (!turnsToGet) return { ...hop, url, headers };
  headers.delete("content-type");
  return { url, method: "GET", headers, body: undefined };
}

/** Tries the addresses in turn; only a connection that never came about is tried again. */
export async function send(
  hop: Hop,
  { addresses }: Destination,
  options: GuardedOptions,
  signal: AbortSignal,
): Promise<Response> {
  const { url } = hop;
  const headers = new Headers(hop.headers);
  headers.set("Host", url.host);
  headers.set("Accept-Encoding", "identity");
  const name = url.hostname.replace(/^\[|\]$/g, "");
  const tls = {
    serverName: name,
    ...(options.trust === undefined ? {} : { ca: [...options.trust] }),
  };
  let last: unknown;
  for (const address of addresses) {
    const pinned = new URL(url);
    pinned.hostname = address.includes(":") ? `[${address}]` : address;
    try {
      return await fetch(pinned, {
        method: hop.method,
        headers,
        ...(hop.body === undefined ? {} : { body: hop.body }),
        redirect: "manual",
        // Connections are kept by address: one that was made for another name must not be reused.
        keepalive: false,
        decompress: false,
        signal,
        ...(url.protocol === "https:" ? { tls } : {}),
      });
    } catch (error) {
      signal.throwIfAborted();
      last = error;
      if (failureOf(error) !== "unreachable") break;
    }
  }
  throw new EgressFailed(failureOf(last), `${url.host} could not be called: ${codeOf(last)}`);
}

function codeOf(error: unknown): string {
  const code = (error as { readonly code?: unknown } | null)?.code;
  return typeof code === "string" ? code : "failed";
}

function failureOf(error: unknown): FailureCode {
  const code = codeOf(error);
  if (/TLS|CERT|SSL|SIGNATURE|ISSUER/.test(code)) return "tls_failed";
  return /ConnectionRefused|FailedToOpenSocket|ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT/.test(code)
    ? "unreachable"
    : "upstream_error";
}

/** Reads at most that much of an answer, decoded. */
async function bounded(response: Response, maxBytes: number): Promise<{ body: Uint8Array; truncated: boolean }> {
  try {
    const { bytes, truncated } = await readBody(response, maxBytes);
    return { body: bytes, truncated };
  } catch (error) {
    const why = error instanceof UnreadableBody ? error.message : codeOf(error);
    throw new EgressFailed("upstream_error", `The answer could not be read: ${why}`);
  }
}
