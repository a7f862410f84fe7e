/** Where the service is, and whether it may be called without TLS. */

/**
 * An address of the service, without a slash at its end.
 *
 * @param what whose address it is, for the refusal
 * @param refuse makes the failure for what is no http or https address, and for plain http that leaves this machine
 */
export function serviceAddress(
  text: string,
  what: string,
  allowPlaintext: boolean,
  refuse: (message: string) => Error,
): string {
  const url = URL.parse(text);
  if (url === null || !["http:", "https:"].includes(url.protocol) || url.username !== "" || url.password !== "")
    throw refuse(`${what} is no http or https address`);
  if (url.protocol === "http:" && !allowPlaintext && !isLoopback(url.hostname))
    throw refuse(`${what} is ${url.origin}: plain http to another machine needs --allow-plaintext`);
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
}

/** @param host as `URL` has it: IPv6 in brackets */
export const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "[::1]" || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host);
