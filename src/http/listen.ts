/** Opening an app on a port, and closing it after the answers under way. */
import http from "node:http";
import { waitAtMost } from "../lib/timers.ts";
import type { App } from "./app.ts";
import { maxHeaderBytes } from "./entry.ts";
import { type SocketPeer, socketHandler } from "./sockets.ts";

export interface ListenOptions {
  readonly hostname: string;
  /** 0 = any free one. */
  readonly port: number;
  /** Seconds after which a connection with nothing on it is cut; default 30. Single requests may ask for longer. */
  readonly idleTimeoutSeconds?: number;
  /** Whether other processes listen at the port as well; the system spreads connections over them. */
  readonly shared?: boolean;
}

export interface Listening {
  readonly port: number;
  /** Tells clients to leave their connections, takes no more of them, lets streams end, waits for answers under way, then cuts what is left. */
  stop(graceMs: number): Promise<void>;
}

/**
 * What Bun reads of a head before it answers 431 itself, without a body. Twice our own bound, so that the usual
 * oversized head gets an answer with a code.
 */
const readHeaderBytes = 2 * maxHeaderBytes;
/** Bodies are bounded per route while they are read; past this one the connection is simply refused. */
const maxBodyBytes = 1024 ** 4;
/** Segments that a path with `..` in it may have to be told as such. Bun itself matches no more than 100. */
const maxSegments = 64;

/** How long clients with a connection are told to take another before none is accepted any more, ms. */
const lastAnswersMs = 150;

/** The last one on its connection. */
async function lastAnswer(app: App, request: Request): Promise<Response> {
  const answer = await app.handle(request);
  answer.headers.set("Connection", "close");
  return answer;
}

/** @throws when the port is taken */
export function listen(
  app: App,
  { hostname, port, idleTimeoutSeconds = 30, shared = false }: ListenOptions,
): Listening {
  Reflect.set(http, "maxHeaderSize", readHeaderBytes);
  const server = Bun.serve<SocketPeer, string>({
    hostname,
    port,
    idleTimeout: idleTimeoutSeconds,
    maxRequestBodySize: maxBodyBytes,
    reusePort: shared,
    development: false,
    routes: climbingRoutes(app),
    websocket: socketHandler,
    fetch: (request) => (isClosing ? lastAnswer(app, request) : app.handle(request)),
  });
  let isClosing = false;
  app.elysia.server = server;
  return {
    port: server.port ?? port,
    async stop(graceMs) {
      // A request that meets a connection just closed fails at its client: first they are told to use this one no more.
      isClosing = true;
      await Bun.sleep(Math.min(lastAnswersMs, graceMs));
      app.beginStop();
      const quiet = server.stop(false);
      await waitAtMost(graceMs, quiet);
      await server.stop(true);
    },
  };
}

type Params = Readonly<Record<string, string>>;
type NativeRoute = (request: Request & { readonly params: Params }) => Promise<Response>;

/**
 * Routes of Bun's own router, one for each number of segments behind a route that ends in `*`. Their parameters are the
 * segments as they were sent (decoded), where `request.url` shows a path whose `..` is resolved. A path that climbs is
 * answered by those, so that the route refuses it; every other one goes the usual way.
 */
function climbingRoutes(app: App): Record<string, NativeRoute> {
  const routes: Record<string, NativeRoute> = {};
  for (const path of new Set(app.climbing.map((route) => route.path))) {
    const handlers = new Map(
      app.climbing.filter((route) => route.path === path).map(({ method, handle }) => [String(method), handle]),
    );
    let deeper = path.slice(0, -"/*".length);
    for (let depth = 0; depth < maxSegments; depth++) {
      deeper += `/:rest${depth}`;
      const serve: NativeRoute = (request) => {
        const rest = Array.from({ length: depth + 1 }, (_, index) => request.params[`rest${index}`] ?? "");
        const handle = handlers.get(request.method === "HEAD" ? "GET" : request.method);
        if (handle === undefined || !rest.some(climbs)) return app.handle(request);
        return handle(request, { ...request.params, "*": rest.map(encodeURIComponent).join("/") });
      };
      routes[deeper] = serve;
      routes[`${deeper}/`] = serve;
    }
  }
  return routes;
}

/** URL parsers take `\` for `/`. */
const climbs = (segment: string): boolean => segment.split(/[\\/]/).includes("..");
