/** Which headers of a delivery reach the workflow (docs/reference/stimuli.md). */

export interface ForwardedHeaders {
  /** Lower-case names; values are ASCII. */
  readonly headers: Readonly<Record<string, string>>;
  /** Whether some were left out for want of room. */
  readonly truncated: boolean;
}

const maxHeaders = 64;
/** Of names and values together. */
const maxBytes = 16 * 1024;

/** Of the connection, not of the message (RFC 9110, 7.6.1), and those that would claim a tenant. */
const withheld: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "x-tenant-id",
  "x-svc-tenant",
]);
const confidential = /authorization|cookie|token|secret|password|signature|api-key/;
/** Other control characters have no place in a value, and stores refuse some of them. */
const plain = /^[\t\x20-\x7e]*$/;

/**
 * The headers that are handed on, in the order they came; from the first one that finds no room all are left out.
 * @param received names in any case; repeats are joined by `, `
 * @param wanted lower-case names; `*` stands for all that may be handed on at all
 */
export function forwardedHeaders(
  received: Iterable<readonly [string, string]>,
  wanted: readonly string[],
): ForwardedHeaders {
  const joined = new Map<string, string>();
  for (const [written, value] of received) {
    const name = written.toLowerCase();
    const before = joined.get(name);
    joined.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  const ofConnection =
    joined
      .get("connection")
      ?.toLowerCase()
      .split(",")
      .map((name) => name.trim()) ?? [];
  const wantsAll = wanted.includes("*");
  const forwarded: [string, string][] = [];
  let bytes = 0;
  for (const [name, value] of joined) {
    if (!wantsAll && !wanted.includes(name)) continue;
    if (withheld.has(name) || confidential.test(name) || ofConnection.includes(name) || !plain.test(value)) continue;
    bytes += name.length + value.length;
    if (forwarded.length === maxHeaders || bytes > maxBytes) return { headers: own(forwarded), truncated: true };
    forwarded.push([name, value]);
  }
  return { headers: own(forwarded), truncated: false };
}

/** Own members under any name, `__proto__` too. */
const own = (entries: readonly [string, string][]): Record<string, string> => Object.fromEntries(entries);
