/** WebSockets of a listener: a route takes the request over, and what it gives hears the messages. */
import type { Server, ServerWebSocket } from "bun";
import { Problem } from "../../actors/kernel/problem.ts";

/** What a route does with its socket. None of it may throw. */
export interface SocketPeer {
  opened(socket: Socket): void;
  /** @param text null: it was binary */
  message(text: string | null): void;
  /** Everything that waited on the socket has gone out. */
  drained(): void;
  closed(): void;
}

export interface Socket {
  /** Never blocks: what the client does not take waits here. */
  send(text: string): void;
  /** Bytes that the client has not taken yet. */
  unsent(): number;
  close(code: number, reason: string): void;
  /** Ends it without a word to the client. */
  terminate(): void;
}

/** What may be behind one socket, bytes; routes that allow less look at it themselves. */
const maxUnsentBytes = 16 * 1024 * 1024;
/** Longest message that reaches a route; the connection of a longer one is closed with 1009. */
const maxMessageBytes = 2 * 1024 * 1024;

/** A listener that upgrades requests. */
export type SocketServer = Pick<Server<SocketPeer>, "upgrade">;

/** A request and the listener that it came to. */
interface Asked {
  readonly request: Request;
  readonly server: Partial<SocketServer> | null;
}

/** How `Bun.serve` hands sockets over to the peers of their routes. */
export const socketHandler = {
  maxPayloadLength: maxMessageBytes,
  backpressureLimit: maxUnsentBytes,
  closeOnBackpressureLimit: false,
  perMessageDeflate: false,
  // Routes know how long their clients may be silent.
  idleTimeout: 0,
  sendPings: false,
  open: (socket: ServerWebSocket<SocketPeer>) => socket.data.opened(new OpenSocket(socket)),
  message: (socket: ServerWebSocket<SocketPeer>, message: string | Buffer) =>
    socket.data.message(typeof message === "string" ? message : null),
  drain: (socket: ServerWebSocket<SocketPeer>) => socket.data.drained(),
  close: (socket: ServerWebSocket<SocketPeer>) => socket.data.closed(),
};

class OpenSocket implements Socket {
  constructor(private readonly socket: ServerWebSocket<SocketPeer>) {}
  send(text: string): void {
    this.socket.send(text);
  }
  unsent(): number {
    return this.socket.getBufferedAmount();
  }
  close(code: number, reason: string): void {
    this.socket.close(code, reason);
  }
  terminate(): void {
    this.socket.terminate();
  }
}

/**
 * Requires that the request asks for a WebSocket of this subprotocol.
 * @throws Problem 426 `upgrade_required`, 400 `subprotocol_required`
 */
export function requireSocket({ request, server }: Asked, protocol: string): void {
  const wanted = request.headers.get("upgrade")?.toLowerCase() === "websocket";
  if (!wanted || server?.upgrade === undefined)
    throw new Problem("upgrade_required", "This is a WebSocket", {}, { Upgrade: "websocket", Connection: "Upgrade" });
  const offered = request.headers.get("sec-websocket-protocol")?.split(",") ?? [];
  if (!offered.some((one) => one.trim() === protocol))
    throw new Problem("subprotocol_required", `The subprotocol is ${protocol}`);
}

/**
 * Makes a WebSocket of the request, which `requireSocket` has let through.
 * @throws Problem 400 `subprotocol_required` for a handshake that is none
 */
export function acceptSocket({ request, server }: Asked, protocol: string, data: SocketPeer): Response {
  const headers = { "Sec-WebSocket-Protocol": protocol };
  if (server?.upgrade?.(request, { data, headers }) !== true)
    throw new Problem("malformed_request", "The handshake is none of a WebSocket");
  // The listener has answered; this stands for it in the log.
  return new Response(null, { status: 101 });
}
