/**
 * The sockets by which the agents of a host reach a node: one for each tenant, in a folder that only the instances of that
 * tenant are given. Connections that an agent makes faster than the node takes them line up at its own tenant's socket, and
 * others find theirs free.
 *
 *   <directory>/t-<part of a hash>/<node>.sock   of one tenant; two share one by a chance of 1 in 4096
 *   <directory>/<node>.sock                      of instances that a version without such folders launched
 *
 * A node of such a version listens at the latter alone. While it runs beside nodes of this one, they link its socket into
 * every tenant's folder, so that the instances that they launched reach it once they are gone (a rollback).
 *
 * The folders stay: instances have them mounted, and there are at most 4096 of them.
 */
import { createHash } from "node:crypto";
import { chmodSync, type FSWatcher, linkSync, mkdirSync, readdirSync, rmSync, statSync, watch } from "node:fs";
import type { Socket } from "node:net";
import { join } from "node:path";
import { type AgentSocket, listenToAgents, removeDeadSockets } from "./unix-sockets.ts";

const folderName = /^t-[0-9a-f]{3}$/;
/** How often the directory is looked at for folders that the system did not tell of, ms. */
const lookMs = 1_000;

/** The folder of a tenant's sockets. */
export function socketFolder(directory: string, tenant: string): string {
  return join(directory, `t-${createHash("sha256").update(tenant).digest("hex").slice(0, 3)}`);
}

/** Makes the folder, so that every node of this host begins to listen in it. @returns its path */
export function makeSocketFolder(directory: string, tenant: string): string {
  const path = socketFolder(directory, tenant);
  mkdirSync(path, { recursive: true });
  // Agents must be able to pass through here, under any umask of the service.
  chmodSync(path, 0o755);
  return path;
}

export interface TenantSockets {
  /** Takes no more connections, and takes the sockets away; connections that there are go on. */
  close(): void;
}

/**
 * Listens in every tenant's folder, also in those that are made later.
 * @param name   of this node's sockets
 * @param accept makes what takes the connections of one socket
 */
export async function listenToTenants(
  directory: string,
  name: string,
  accept: () => (client: Socket) => void,
): Promise<TenantSockets> {
  mkdirSync(directory, { recursive: true });
  await removeDeadSockets(directory);
  for (const folder of foldersIn(directory)) await removeDeadSockets(join(directory, folder));
  const listening = new Map<string, AgentSocket>();
  let seenAt = Number.NaN;

  function listenIn(folder: string): Promise<void> {
    const path = join(directory, folder, name);
    if (listening.has(path)) return Promise.resolve();
    const socket = listenToAgents(path, accept());
    listening.set(path, socket);
    return socket.ready.catch((error: unknown) => {
      listening.delete(path);
      throw error;
    });
  }
  function look(): void {
    // One call a second while nothing is new.
    const madeAt = statSync(directory, { throwIfNoEntry: false })?.mtimeMs ?? Number.NaN;
    if (madeAt === seenAt) return;
    seenAt = madeAt;
    for (const folder of foldersIn(directory)) {
      listenIn(folder).catch(() => {
        seenAt = Number.NaN;
      });
    }
    linkFormer(directory);
  }

  await listenIn("");
  look();
  const looking = setInterval(look, lookMs);
  let watcher: FSWatcher | null = null;
  try {
    watcher = watch(directory, () => look());
    // Too many watches on this machine, for instance: the clock does it alone.
    watcher.on("error", () => watcher?.close());
  } catch {}

  return {
    close() {
      clearInterval(looking);
      watcher?.close();
      for (const [path, socket] of listening) {
        rmSync(path, { force: true });
        socket.close();
      }
    },
  };
}

/** Links the sockets of nodes that have none in the tenants' folders into them. They are left there, dead, when those stop. */
function linkFormer(directory: string): void {
  const folders = foldersIn(directory);
  for (const name of socketsIn(directory)) {
    const path = join(directory, name);
    const number = inode(path);
    const missing = folders.filter((folder) => inode(join(directory, folder, name)) === null);
    const isFormer = folders.every((folder) => [null, number].includes(inode(join(directory, folder, name))));
    if (number === null || !isFormer) continue;
    for (const folder of missing) {
      try {
        linkSync(path, join(directory, folder, name));
      } catch {
        // Its node is gone, or has just made a socket of its own there; or it runs as another user.
      }
    }
  }
}

const inode = (path: string): number | null => statSync(path, { throwIfNoEntry: false })?.ino ?? null;

function socketsIn(directory: string): string[] {
  try {
    return readdirSync(directory).filter((name) => name.endsWith(".sock"));
  } catch {
    return [];
  }
}

function foldersIn(directory: string): string[] {
  try {
    return readdirSync(directory).filter((name) => folderName.test(name));
  } catch {
    return [];
  }
}
