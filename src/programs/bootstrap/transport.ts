/**
 * One request to the dispatch gateway: through a unix socket of any node of the host, or over TCP where there are none. An
 * answer may take as long as a model does, so a node that says nothing is asked beside it whether it is there; when that is
 * not answered either, the request goes to another one. The gateway joins a message that comes again to the work under way.
 */
import { type Doors, openDoors } from "./doors.ts";

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
  /** For tests. */
  readonly times?: ProbeTimes;
}

export interface ProbeTimes {
  /** Silence before a node is first asked whether it is there, ms. */
  readonly firstMs: number;
  /** Between two such questions while a request waits, ms. */
  readonly everyMs: number;
  /** How long a node may take for that answer, ms. */
  readonly answerMs: number;
}

/** A node under load may be slow to say so, and a message that goes to two nodes costs more than the wait. */
const usualTimes: ProbeTimes = { firstMs: 15_000, everyMs: 15_000, answerMs: 5_000 };

export function createTransport({ url, token, sockets, times = usualTimes }: TransportOptions): Send {
  const base = url.href.replace(/[?#].*$/, "").replace(/\/+$/, "");
  // Sockets stay on the host and speak plain HTTP, even where a TLS proxy stands before the nodes.
  const socketBase = base.replace(/^https:/, "http:");
  const authorization: Record<string, string> = token === null ? {} : { authorization: `Bearer ${token}` };
  const doors: Doors | null = sockets === null ? null : openDoors(sockets, () => performance.now());

  function request(path: string, door: string | null, init: RequestInit): Promise<Response> {
    const common = { ...init, timeout: false, keepalive: false, redirect: "manual" } as const;
    return door === null ? fetch(base + path, common) : fetch(socketBase + path, { ...common, unix: door });
  }

  async function isThere(door: string | null): Promise<boolean> {
    const signal = AbortSignal.timeout(times.answerMs);
    const answer = await request("/health/live", door, { headers: authorization, signal }).catch(() => null);
    await answer?.body?.cancel().catch(() => {});
    // A node of an earlier version does not know the question.
    return answer !== null && answer.status < 500;
  }

  /** Sends once. @returns the reason when this node did not answer */
  async function ask(body: string, door: string | null, late: AbortSignal): Promise<Reply | string> {
    const gone = new AbortController();
    let timer = setTimeout(watch, times.firstMs);
    function watch(): void {
      void isThere(door).then((there) => {
        if (!there) gone.abort();
        else if (!gone.signal.aborted) timer = setTimeout(watch, times.everyMs);
      });
    }
    const cut = () => gone.abort();
    late.addEventListener("abort", cut);
    try {
      const headers = { "content-type": "application/json", ...authorization };
      const init = { method: "POST", headers, body, signal: gone.signal };
      const response = await request("/v1/dispatch-gateway", door, init);
      const text = await response.text();
      if (door !== null) doors?.answered(door);
      return readReply(response, text);
    } catch (error) {
      if (late.aborted) return { kind: "timed_out" };
      if (gone.signal.aborted) {
        if (door !== null) doors?.silent(door);
        return "no answer";
      }
      return error instanceof Error && "code" in error ? String(error.code) : "failed";
    } finally {
      late.removeEventListener("abort", cut);
      clearTimeout(timer);
      // Ends the watch that has just asked.
      gone.abort();
    }
  }

  return async (body, timeoutMs) => {
    const late = AbortSignal.timeout(timeoutMs);
    const candidates = doors?.candidates() ?? [];
    let reason = "";
    for (const door of candidates.length === 0 ? [null] : candidates) {
      const reply = await ask(body, door, late);
      if (typeof reply !== "string") return reply;
      reason = reply;
    }
    return { kind: "unreachable", reason };
  };
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
