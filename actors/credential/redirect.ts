/** Where a provider may send people back to: exactly what is configured; on this machine at any port (RFC 8252, 7.3). */

/** Whether a URL may be used at all: https, and http on this machine alone. */
export function isSafeUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || url.username !== "" || url.password !== "" || url.hash !== "") return false;
  return url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url.hostname));
}

/** @param hostname as `URL` has it */
const isLoopback = (hostname: string): boolean =>
  hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);

/** @param configured the provider's list, our own callback included */
export function isRedirectAllowed(asked: string, configured: readonly string[]): boolean {
  if (configured.includes(asked)) return true;
  const port = withoutPort(asked);
  return port !== null && configured.some((uri) => withoutPort(uri) === port);
}

/** Of a redirect to this machine: the same at any port; null for all others. */
function withoutPort(text: string): string | null {
  const url = isSafeUrl(text) ? new URL(text) : null;
  if (url === null || url.protocol !== "http:") return null;
  url.port = "";
  return url.href;
}
