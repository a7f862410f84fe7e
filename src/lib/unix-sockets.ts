/** Unix sockets in a directory that several nodes of a host share. */
import { rmSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";

/** The kernel takes about a hundred bytes of path for a socket: it is named from inside its directory. */
export function within<T>(directory: string, open: () => T): T {
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
