/**
 * The internal listener: TCP, and a unix socket of this node beside those of its neighbours. A sandbox
 * without a network is given the directory of sockets and reaches the first node that accepts.
 */
import { rmSync } from "node:fs";
import type { Server as NetServer, Socket } from "node:net";
import type { App } from "../../http/app.ts";
import { listenToAgents } from "../../lib/unix-sockets.ts";
import type { ExecutionTokens } from "../execution-tokens/port.ts";
import { createConnectionGate } from "./connection-gate.ts";
import { withoutPathToken } from "./identity.ts";

export interface InternalListenerOptions {
  readonly hostname: string;
  /** 0 = any free one. */
  readonly port: number;
  /** Path of the unix socket, or null for none. */
  readonly socket: string | null;
  /** By which instances are told apart at the socket. */
  readonly tokens: Pick<ExecutionTokens, "verify">;
  /** Seconds a connection may be idle between requests; 30 when absent. */
  readonly idleSeconds?: number;
}

export interface InternalListener {
  readonly port: number;
  /** Takes no more connections, waits for answers under way, then cuts what is left: bootstraps come again. */
  stop(graceMs: number): Promise<void>;
}

/** The route bounds its bodies while it reads them; Bun's own refusal would have no JSON body. */
const maxBodyBytes = 1024 ** 4;
/** Seconds a connection may be idle between requests. Waiting for a model is not idle: see `serve`. */
const usualIdleSeconds = 30;

/** @throws when the port is taken */
export function listenInternally(app: App, options: InternalListenerOptions): InternalListener {
  const { idleSeconds = usualIdleSeconds } = options;
  const common = {
    fetch: serve(app, idleSeconds),
    idleTimeout: idleSeconds,
    maxRequestBodySize: maxBodyBytes,
    development: false,
  };
  const tcp = Bun.serve({ ...common, hostname: options.hostname, port: options.port });
  const port = tcp.port ?? options.port;
  const gate = options.socket === null ? null : listenOnSocket(options.socket, port, options);
  return {
    port,
    async stop(graceMs) {
      app.beginStop();
      // New messages go to another node at once.
      if (options.socket !== null) rmSync(options.socket, { force: true });
      gate?.close();
      await Promise.race([tcp.stop(false), Bun.sleep(graceMs)]);
      await tcp.stop(true);
      gate?.cut();
    },
  };
}

interface Server {
  timeout(request: Request, seconds: number): void;
}

/**
 * An answer may take as long as a model does. The body's own deadline guards the time before it, the listener's
 * idle bound the time after.
 */
function serve(app: App, idleSeconds: number) {
  return (request: Request, server: Server): Promise<Response> => {
    server.timeout(request, 0);
    return app.handle(withoutPathToken(request)).finally(() => server.timeout(request, idleSeconds));
  };
}

interface OpenDoor {
  /** Takes no more connections. */
  close(): void;
  cut(): void;
}

function listenOnSocket(path: string, port: number, { hostname, tokens }: InternalListenerOptions): OpenDoor {
  const host = hostname === "0.0.0.0" ? "127.0.0.1" : hostname === "::" ? "::1" : hostname;
  const gate: NetServer = createConnectionGate({ to: { host, port }, tokens });
  const clients = new Set<Socket>();
  const socket = listenToAgents(path, (client) => {
    clients.add(client);
    client.once("close", () => clients.delete(client));
    // It listens nowhere itself.
    gate.emit("connection", client);
  });
  return {
    close: () => socket.close(),
    cut: () => {
      for (const client of clients) client.destroy();
    },
  };
}
