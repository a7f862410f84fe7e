/**
 * What every request must be before it is routed: a well-formed `Host` that this listener serves, a target and
 * headers within bounds. Everything behind it may therefore parse `request.url`.
 *
 * Bun builds `request.url` from `Host`. Of a `Host` that is none it makes a text that no URL parser reads.
 */
import { Problem } from "../../actors/kernel/problem.ts";

/** Bytes of method, target and headers together; above it 431 `headers_too_large`. Room for a token of 16 KiB. */
export const maxHeaderBytes = 64 * 1024;
/** Bytes of a URL; above it 414 `uri_too_long`. */
const maxUrlBytes = 32 * 1024;

/** Which names a listener answers to; null for any. */
export interface ServedNames {
  /** The host of the public URL, as `URL.hostname` writes it. */
  readonly publicHost: string;
  /** Origins that may call from a browser beside those on loopback names and on the public host. */
  readonly origins: readonly string[];
}

/** @returns why a request goes no further; null when it does */
export type EntryCheck = (request: Request) => Problem | null;

/**
 * @param names what a node in development answers to. A page of another site whose name was made to resolve to this
 *   machine (DNS rebinding) sends that name as its `Host`, and is refused.
 */
export function entryCheck(names: ServedNames | null): EntryCheck {
  // Clients of one node mostly send one and the same host: it is parsed once.
  let lastHost: string | null = null;
  let lastFault: (() => Problem) | null = null;
  function hostFault(host: string): Problem | null {
    if (host !== lastHost) {
      lastFault = faultOfHost(host, names);
      lastHost = host;
    }
    return lastFault === null ? null : lastFault();
  }

  return ({ method, url, headers }) => {
    const host = headers.get("host");
    // Requests made inside the process, and those of HTTP/1.0, have none.
    const wrong = host === null ? null : hostFault(host);
    if (wrong !== null) return wrong;
    if (url.length > maxUrlBytes) {
      return new Problem("uri_too_long", `The URL is longer than ${maxUrlBytes} bytes`, { limit_bytes: maxUrlBytes });
    }
    // Bun puts `Host` before the path of a target; that of CONNECT it takes as it is.
    const isSure = host !== null && method !== "CONNECT";
    if (url.includes("#") || !(isSure || (/^https?:/.test(url) && URL.canParse(url)))) {
      return new Problem("malformed_request", "The target of the request is not the path of a URL");
    }
    if (names !== null) {
      const origin = headers.get("origin");
      if (origin !== null && !isServedOrigin(origin, names)) {
        return new Problem("origin_forbidden", "Pages of this origin may not call a node in development");
      }
    }
    if (sizeOf(headers) + url.length <= maxHeaderBytes) return null;
    const message = `The request's head is larger than ${maxHeaderBytes} bytes`;
    return new Problem("headers_too_large", message, { limit_bytes: maxHeaderBytes });
  };
}

/** A name, an IPv4 address or an IPv6 address in brackets, and maybe a port. */
const hostForm = /^(?:[a-z0-9_][a-z0-9_.-]{0,252}|\[[0-9a-f:.]{2,45}\])(?::\d{0,5})?$/i;

function faultOfHost(host: string, names: ServedNames | null): (() => Problem) | null {
  const text = `http://${host}/`;
  if (!hostForm.test(host) || !URL.canParse(text)) {
    return () => new Problem("invalid_host", "The Host header is no host and port");
  }
  if (names === null || isServedName(new URL(text).hostname, names)) return null;
  const message = "A node in development answers only to loopback names and to the host of SVC_PUBLIC_URL";
  return () => new Problem("misdirected_request", message);
}

const isServedName = (hostname: string, { publicHost }: ServedNames): boolean =>
  hostname === publicHost || isLoopback(hostname);

/** @param hostname as `URL.hostname` writes it: lower case, numbers as dotted quads */
function isLoopback(hostname: string): boolean {
  const name = hostname.endsWith(".") ? hostname.slice(0, -1) : hostname;
  return name === "localhost" || name.endsWith(".localhost") || /^127(?:\.\d+){3}$/.test(name) || name === "[::1]";
}

function isServedOrigin(origin: string, names: ServedNames): boolean {
  if (names.origins.includes(origin) || names.origins.includes("*")) return true;
  return URL.canParse(origin) && isServedName(new URL(origin).hostname, names);
}

/** As the headers came, a line each. */
function sizeOf(headers: Headers): number {
  let bytes = 0;
  headers.forEach((value, name) => {
    bytes += name.length + value.length + 4;
  });
  return bytes;
}
