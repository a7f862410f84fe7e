/**
 * The internal listener: TCP, and unix sockets of this node beside those of its neighbours. A sandbox without a network
 * is given the directory of its tenant's sockets, and reaches any node by them.
 */
import type { Socket } from "node:net";
import { basename, dirname } from "node:path";
import type { App } from "../../http/app.ts";
import { listenToTenants } from "../../lib/sockets/tenant-sockets.ts";
import { type ExecutionTokens, withoutPathToken } from "../execution-tokens/port.ts";
import { connectionGates } from "./connection-gate.ts";

export interface InternalListenerOptions {
  readonly hostname: string;
  /** 0 = any free one. */
  readonly port: number;
  /** Path of the unix socket of agents of no tenant's folder, or null for no sockets at all. */
  readonly socket: string | null;
  /** By which instances are told apart at the socket. */
  readonly tokens: Pick<ExecutionTokens, "verify">;
  /** Seconds a connection may be idle between requests; 30 when absent. */
  readonly idleSeconds?: number;
}

export interface InternalListener {
  readonly port: number;
  /** Once it listens at its sockets too. Rejects with what kept it from that. */
  readonly ready: Promise<void>;
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
  // Left out, two programs would share the port, and agents of one reach the other.
  const tcp = Bun.serve({ ...common, hostname: options.hostname, port: options.port, reusePort: false });
  const port = tcp.port ?? options.port;
  const opening = options.socket === null ? Promise.resolve(null) : listenOnSockets(options.socket, port, options);
  // Told by `ready`.
  opening.catch(() => {});
  return {
    port,
    ready: opening.then(() => {}),
    async stop(graceMs) {
      app.beginStop();
      const gate = await opening.catch(() => null);
      // New messages go to another node at once.
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

async function listenOnSockets(path: string, port: number, { hostname, tokens }: InternalListenerOptions) {
  const host = hostname === "0.0.0.0" ? "127.0.0.1" : hostname === "::" ? "::1" : hostname;
  const gateOf = connectionGates({ to: { host, port }, tokens });
  const clients = new Set<Socket>();
  const sockets = await listenToTenants(dirname(path), basename(path), () => {
    const gate = gateOf();
    return (client) => {
      clients.add(client);
      client.once("close", () => clients.delete(client));
      // It listens nowhere itself.
      gate.emit("connection", client);
    };
  });
  const door: OpenDoor = {
    close: () => sockets.close(),
    cut: () => {
      for (const client of clients) client.destroy();
    },
  };
  return door;
}
