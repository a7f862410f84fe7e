/**
 * One request to the dispatch gateway. Every node of the host listens on a socket of its own in one
 * directory; the first that accepts serves the request, so a node may die and another take over. Without sockets, TCP.
 */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

export type Reply =
  | { readonly kind: "answered"; readonly status: number; readonly retryAfterMs: number | null; readonly body: unknown }
  /** The bytes that came back make no sense; what stands between may have sent them. */
  | { readonly kind: "unreadable"; readonly status: number }
  /** No gateway answered. */
  | { readonly kind: "unreachable"; readonly reason: string }
  | { readonly kind: "timed_out" };

export type Send = (body: string, timeoutMs: number) => Promise<Reply>;

export interface TransportOptions {
  readonly url: URL;
  readonly token: string | null;
  readonly sockets: string | null;
}

export function createTransport(options: TransportOptions): Send {
  const base = options.url.href.replace(/[?#].*$/, "").replace(/\/+$/, "");
  const address = `${base}/v1/dispatch-gateway`;
  // Sockets stay on the host and speak plain HTTP, even where a TLS proxy stands before the nodes.
  const socketAddress = address.replace(/^https:/, "http:");
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (options.token !== null) headers.authorization = `Bearer ${options.token}`;
  let lastGood: string | null = null;

  return async (body, timeoutMs) => {
    const signal = AbortSignal.timeout(timeoutMs);
    let reason = "no gateway socket";
    for (const socket of routes(options.sockets, lastGood)) {
      const init = {
        method: "POST",
        headers,
        body,
        signal,
        timeout: false,
        keepalive: false,
        redirect: "manual",
      } as const;
      try {
        const response =
          socket === null ? await fetch(address, init) : await fetch(socketAddress, { ...init, unix: socket });
        const text = await response.text();
        lastGood = socket;
        return readReply(response, text);
      } catch (error) {
        if (signal.aborted) return { kind: "timed_out" };
        reason = error instanceof Error && "code" in error ? String(error.code) : "failed";
      }
    }
    return { kind: "unreachable", reason };
  };
}

/** Sockets to try, the one that answered last first, then the newest; null stands for TCP. */
function routes(directory: string | null, lastGood: string | null): readonly (string | null)[] {
  if (directory === null) return [null];
  const sockets = listSockets(directory);
  if (sockets.length === 0) return [null];
  return lastGood !== null && sockets.includes(lastGood)
    ? [lastGood, ...sockets.filter((socket) => socket !== lastGood)]
    : sockets;
}

export function listSockets(directory: string): string[] {
  try {
    return readdirSync(directory)
      .map((name) => join(directory, name))
      .map((path) => ({ path, stat: statSync(path, { throwIfNoEntry: false }) }))
      .filter(({ stat }) => stat?.isSocket() ?? false)
      .sort((a, b) => (b.stat?.mtimeMs ?? 0) - (a.stat?.mtimeMs ?? 0))
      .map(({ path }) => path);
  } catch {
    return [];
  }
}

/** An answer of the gateway, its body read. */
export function readReply(response: Response, text: string): Reply {
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body !== "object" || body === null || Array.isArray(body)) {
      return { kind: "unreadable", status: response.status };
    }
    return { kind: "answered", status: response.status, retryAfterMs: retryAfter(response.headers), body };
  } catch {
    return { kind: "unreadable", status: response.status };
  }
}

function retryAfter(headers: Headers): number | null {
  const value = headers.get("retry-after");
  if (value === null) return null;
  if (/^[0-9]+$/.test(value)) return Number(value) * 1_000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? null : Math.max(0, at - Date.now());
}
