/** One WebSocket to the service: through proxies, with the trust of this machine, and what a refusal says of waiting. */
import { edgeProtocol } from "../../../../actors/edge/frames.ts";
import { textWithin } from "../../../../actors/tool/fitting.ts";
import { machineClocks } from "../clock.ts";
import { proxyFor } from "./proxy.ts";

export interface SocketHandlers {
  readonly opened: () => void;
  /** Null: the message was no text. */
  readonly message: (text: string | null) => void;
  /** Told once, whichever way it ends. @param refused HTTP status of a refused upgrade */
  readonly closed: (code: number, reason: string, refused: number | null) => void;
}

export interface EdgeSocket {
  send(text: string): void;
  /** Ends it, and tells `closed` at once. */
  close(code: number, reason: string): void;
  /** Bytes that were sent and have not left yet. */
  readonly unsent: () => number;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The types of browsers are loaded as well: Bun's sockets take options, and can be ended at once. */
const BunSocket = WebSocket as unknown as new (url: URL, options: Bun.WebSocketOptions) => Bun.WebSocket;

/** A close frame holds no more, bytes of UTF-8; a longer reason could not be sent. */
const longestReason = 123;
/** How long the other side may take to answer a close, ms. */
const closeWithinMs = 1_000;

export function openSocket(url: URL, environment: Environment, handlers: SocketHandlers): EdgeSocket {
  const proxy = proxyFor(url, environment);
  const socket = new BunSocket(url, {
    protocols: [edgeProtocol],
    // What is compressed can be a thousand times larger than what came.
    perMessageDeflate: false,
    ...(proxy === null ? {} : { proxy }),
  });
  let refused: number | null = null;
  let failure = "";
  let isOver = false;
  const over = (code: number, reason: string) => {
    if (isOver) return;
    isOver = true;
    handlers.closed(code, reason, refused);
  };
  socket.onopen = () => {
    if (isOver) return;
    if (socket.protocol === edgeProtocol) handlers.opened();
    else over(1006, `the service does not speak ${edgeProtocol}`);
  };
  socket.onmessage = ({ data }) => {
    if (!isOver) handlers.message(typeof data === "string" ? data : null);
  };
  socket.onerror = (event) => {
    failure = "message" in event && typeof event.message === "string" ? event.message : "";
    refused = statusIn(failure);
  };
  socket.onclose = ({ code, reason }) => over(code, reason === "" ? failure : reason);
  return {
    send: (text) => {
      if (socket.readyState === WebSocket.OPEN) socket.send(text);
    },
    close: (code, reason) => {
      over(code, reason);
      if (socket.readyState === WebSocket.CONNECTING) socket.terminate();
      else {
        socket.close(code, textWithin(reason, longestReason));
        const timer = setTimeout(() => socket.terminate(), closeWithinMs);
        socket.addEventListener("close", () => clearTimeout(timer));
      }
    },
    unsent: () => socket.bufferedAmount,
  };
}

const statusIn = (failure: string): number | null => {
  const status = /Expected 101 status code: (\d{3})/.exec(failure)?.[1];
  return status === undefined ? null : Number(status);
};

/** How long the question may take, ms. */
const askWithinMs = 10_000;
const longestWaitMs = 3_600_000;

/**
 * What an upgrade that was refused says of the time until the next one, ms; 0: nothing. A WebSocket keeps the headers of
 * its refusal to itself, so the service is asked once more.
 */
export async function refusedFor(url: URL): Promise<number> {
  const address = new URL(url);
  address.protocol = url.protocol === "wss:" ? "https:" : "http:";
  const asking = new AbortController();
  const timer = setTimeout(() => asking.abort(), askWithinMs);
  try {
    const response = await fetch(address, {
      redirect: "manual",
      signal: asking.signal,
      headers: {
        Connection: "Upgrade",
        Upgrade: "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": crypto.getRandomValues(new Uint8Array(16)).toBase64(),
        "Sec-WebSocket-Protocol": edgeProtocol,
      },
    });
    const value = response.headers.get("retry-after") ?? "";
    const ms = /^\d{1,9}$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - machineClocks.wall();
    return Number.isFinite(ms) ? Math.max(0, Math.min(ms, longestWaitMs)) : 0;
  } catch {
    return 0;
  } finally {
    clearTimeout(timer);
    // Where the service takes the upgrade this time, nothing is to be left of it.
    asking.abort();
  }
}
