/** Opening an app on a port, and closing it after the answers under way. */
import http from "node:http";
import { waitAtMost } from "../lib/timers.ts";
import type { App } from "./app.ts";

export interface ListenOptions {
  readonly hostname: string;
  /** 0 = any free one. */
  readonly port: number;
  /** Seconds after which a connection with nothing on it is cut; default 30. Single requests may ask for longer. */
  readonly idleTimeoutSeconds?: number;
}

export interface Listening {
  readonly port: number;
  /** Takes no more connections, lets streams end, waits for answers under way, then cuts what is left. */
  stop(graceMs: number): Promise<void>;
}

/** Room for a 16 KiB token with other headers beside it; Bun's own bound would cut it off without an answer. */
const maxHeaderBytes = 64 * 1024;
/** Bodies are bounded per route while they are read; past this one the connection is simply refused. */
const maxBodyBytes = 1024 ** 4;

/** @throws when the port is taken */
export function listen(app: App, { hostname, port, idleTimeoutSeconds = 30 }: ListenOptions): Listening {
  Reflect.set(http, "maxHeaderSize", maxHeaderBytes);
  app.elysia.listen({
    hostname,
    port,
    idleTimeout: idleTimeoutSeconds,
    maxRequestBodySize: maxBodyBytes,
    reusePort: false,
    development: false,
  });
  const { server } = app.elysia;
  if (!server) throw new Error("The listener did not open");
  return {
    port: server.port ?? port,
    async stop(graceMs) {
      app.beginStop();
      const quiet = server.stop(false);
      await waitAtMost(graceMs, quiet);
      await server.stop(true);
    },
  };
}
