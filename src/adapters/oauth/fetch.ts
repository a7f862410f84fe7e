/** Requests to OAuth providers: no redirects, 10 s for a connection, 30 s for everything, a small answer. */
import { readBody } from "../../lib/answer-body.ts";
import { withTimeout } from "../../lib/timers.ts";

const connectMs = 10_000;
const totalMs = 30_000;
const maxBytes = 256 * 1024;

export interface ProviderRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: URLSearchParams;
}

/** @returns the whole answer, of any status @throws Error when there is none in time, or one that is too large */
export async function providerFetch(url: string, { method, headers, body }: ProviderRequest): Promise<Response> {
  const signal = AbortSignal.timeout(totalMs);
  await requireReachable(new URL(url));
  const response = await fetch(url, {
    method,
    headers: { ...headers, "Accept-Encoding": "identity" },
    ...(body === undefined ? {} : { body }),
    redirect: "manual",
    decompress: false,
    signal,
  });
  const { bytes, truncated } = await readBody(response, maxBytes);
  if (truncated) throw new Error(`the answer has more than ${maxBytes} bytes`);
  const kept = new Headers(response.headers);
  for (const name of ["content-encoding", "content-length"]) kept.delete(name);
  return new Response(bytes.length === 0 ? null : new Uint8Array(bytes), { status: response.status, headers: kept });
}

/**
 * `fetch` has one time limit for everything: a provider that cannot be reached is told from one that thinks for long by a
 * connection of our own before.
 */
async function requireReachable({ hostname, port, protocol }: URL): Promise<void> {
  const connected = Bun.connect({
    hostname: hostname.replace(/^\[|\]$/g, ""),
    port: port === "" ? (protocol === "https:" ? 443 : 80) : Number(port),
    socket: { data() {} },
  });
  // One that comes about too late is closed as well.
  connected.then((socket) => socket.end()).catch(() => {});
  await withTimeout(connected, connectMs, () => new Error(`no connection within ${connectMs / 1000} s`));
}
