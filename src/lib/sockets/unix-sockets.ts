/** Unix sockets in a directory that several nodes of a host share. */
import { chmodSync, mkdirSync, rmSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { basename, dirname, join } from "node:path";

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

/** Connections that are taken before other events of the node have their turn. */
const connectionsAtOnce = 64;
/** How long nothing listens after more than that, ms; twice as long each time a flood goes on, up to the longest. */
const pauseMs = 20;
const longestPauseMs = 500;
/** A socket that was not flooded for so long begins with the short pause again, ms. */
const calmMs = 2_000;

export interface AgentSocket {
  /** Once it listens. Rejects with what kept it from listening. */
  readonly ready: Promise<void>;
  /** Takes no more connections; those that there are go on. */
  close(): void;
}

/**
 * Listens at a unix socket of agents. The runtime takes connections as long as there are any, and an agent that makes them
 * faster than that would keep the node from everything else. So a socket that gave too many at once is closed for a
 * moment: connections are refused then, and bootstraps come again.
 * @param path absolute; what is there is replaced
 */
export function listenToAgents(path: string, accept: (client: Socket) => void): AgentSocket {
  mkdirSync(dirname(path), { recursive: true });
  let server: Server | undefined;
  let again: ReturnType<typeof setTimeout> | undefined;
  let closed = false;
  let taken = 0;
  let pause = pauseMs;
  let pausedAt = Number.NEGATIVE_INFINITY;

  function open(failed: (error: Error) => void, opened: () => void): void {
    if (closed) return;
    rmSync(path, { force: true });
    const next = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
      if (taken === 0) {
        setImmediate(() => {
          taken = 0;
        });
      }
      taken += 1;
      if (taken === connectionsAtOnce) rest();
      accept(client);
    });
    server = next;
    next.once("error", failed);
    next.once("listening", opened);
    within(dirname(path), () => void next.listen({ path: `./${basename(path)}` }));
    // Agents run as another user; tokens and credentials guard what is behind it.
    chmodSync(path, 0o666);
  }
  function rest(): void {
    server?.close();
    const now = performance.now();
    pause = now - pausedAt < calmMs ? Math.min(2 * pause, longestPauseMs) : pauseMs;
    pausedAt = now;
    again = setTimeout(reopen, pause);
  }
  function reopen(): void {
    const later = () => {
      again = setTimeout(reopen, pause);
    };
    try {
      open(later, () => {});
    } catch {
      later();
    }
  }

  return {
    ready: new Promise<void>((resolve, reject) => open(reject, resolve)),
    close() {
      closed = true;
      clearTimeout(again);
      server?.close();
    },
  };
}
