/** Where the service is, and whether it may be called without TLS. */
import { usageFailure } from "../frame/exit.ts";

/**
 * An address of the service, without a slash at its end.
 *
 * @param what whose address it is, for the refusal
 * @throws Failure `usage` for what is no http or https address, and for plain http that leaves this machine
 */
export function serviceAddress(text: string, what: string, allowPlaintext: boolean): string {
  const url = URL.parse(text.includes("://") ? text : `https://${text}`);
  if (url === null || !["http:", "https:"].includes(url.protocol) || url.username !== "" || url.password !== "")
    throw usageFailure(`${what} is no http or https address`);
  if (url.protocol === "http:" && !allowPlaintext && !isLoopback(url.hostname))
    throw usageFailure(`${what} is ${url.origin}: plain http to another machine needs --allow-plaintext`);
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
}

/** @param host as `URL` has it: IPv6 in brackets */
export const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "[::1]" || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host);
