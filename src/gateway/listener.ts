/**
 * The internal listener: TCP, and a unix socket of this node beside those of its neighbours. A sandbox
 * without a network is given the directory of sockets and reaches whichever node lives.
 */
import { chmodSync, mkdirSync, rmSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { App } from "../http/app.ts";
import { withoutPathToken } from "./identity.ts";

export interface InternalListenerOptions {
  readonly hostname: string;
  /** 0 = any free one. */
  readonly port: number;
  /** Path of the unix socket, or null for none. */
  readonly socket: string | null;
}

export interface InternalListener {
  readonly port: number;
  /** Takes no more connections, waits for answers under way, then cuts what is left: bootstraps come again. */
  stop(graceMs: number): Promise<void>;
}

/** The route bounds its bodies while it reads them; Bun's own refusal would have no JSON body. */
const maxBodyBytes = 1024 ** 4;
/** Seconds a connection may be idle between requests. Waiting for a model is not idle: see `serve`. */
const idleSeconds = 30;

/** @throws when the port is taken */
export function listenInternally(app: App, options: InternalListenerOptions): InternalListener {
  const common = {
    fetch: serve(app),
    idleTimeout: idleSeconds,
    maxRequestBodySize: maxBodyBytes,
    development: false,
  };
  const tcp = Bun.serve({ ...common, hostname: options.hostname, port: options.port });
  const unix = options.socket === null ? null : listenOnSocket(options.socket, common);
  return {
    port: tcp.port ?? options.port,
    async stop(graceMs) {
      app.beginStop();
      // New messages go to another node at once.
      if (options.socket !== null) rmSync(options.socket, { force: true });
      const servers = unix === null ? [tcp] : [tcp, unix];
      const quiet = Promise.all(servers.map((server) => server.stop(false)));
      await Promise.race([quiet, Bun.sleep(graceMs)]);
      await Promise.all(servers.map((server) => server.stop(true)));
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
function serve(app: App) {
  return (request: Request, server: Server): Promise<Response> => {
    server.timeout(request, 0);
    return app.handle(withoutPathToken(request)).finally(() => server.timeout(request, idleSeconds));
  };
}

function listenOnSocket(path: string, common: { fetch(request: Request, server: Server): Promise<Response> }) {
  mkdirSync(dirname(path), { recursive: true });
  rmSync(path, { force: true });
  // Bun does not lift the idle bound of single requests here; and a local peer that is gone never stays half-open.
  const patient: typeof common = Object.assign({}, common, { idleTimeout: 0 });
  const server = within(dirname(path), () => Bun.serve({ ...patient, unix: `./${basename(path)}` }));
  // Agents run as another user; tokens guard what is behind it.
  chmodSync(path, 0o666);
  return server;
}

/** The kernel takes about a hundred bytes of path for a socket: it is named from inside its directory. */
function within<T>(directory: string, open: () => T): T {
  const before = process.cwd();
  process.chdir(directory);
  try {
    return open();
  } finally {
    process.chdir(before);
  }
}

/** Takes away the sockets of nodes that were killed; one that still answers is left alone. */
export async function removeDeadSockets(directory: string): Promise<void> {
  const names = await readdir(directory).catch(() => []);
  for (const name of names.filter((candidate) => candidate.endsWith(".sock"))) {
    const path = join(directory, name);
    const answers = await Bun.connect({ unix: path, socket: { data() {} } }).then(
      (socket) => {
        socket.end();
        return true;
      },
      () => false,
    );
    if (!answers) rmSync(path, { force: true });
  }
}
