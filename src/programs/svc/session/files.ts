/** Files of the command line: contexts in `config.yaml`, tokens beside it in a file that its owner alone can read. */
import { mkdir, open, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { Failure } from "../process/exit.ts";
import { type Io, variable } from "../process/io.ts";

const directoryMode = 0o700;
const fileMode = 0o600;

/** `$XDG_CONFIG_HOME/svc`, else `~/.config/svc`. */
export const configDirectory = (io: Pick<Io, "env">): string =>
  join(variable(io, "XDG_CONFIG_HOME") ?? join(variable(io, "HOME") ?? "/", ".config"), "svc");

/** @returns null where there is no such file */
export async function readText(path: string): Promise<string | null> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    throw new Failure("failed", `${path} cannot be read (${code})`);
  }
}

/** Replaces the file at once: a reader sees the former or the new text. No other user of the machine can read it. */
export async function replaceText(io: Pick<Io, "env">, path: string, text: string): Promise<void> {
  await mkdir(configDirectory(io), { recursive: true, mode: directoryMode });
  const next = `${path}.${crypto.randomUUID()}`;
  try {
    const file = await open(next, "wx", fileMode);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(next, path);
  } catch (error) {
    await rm(next, { force: true });
    throw new Failure("failed", `${path} cannot be written (${(error as NodeJS.ErrnoException).code})`);
  }
}

/** A holder that died leaves its lock; one this old is taken over. Refreshing a token takes far less. */
const staleMs = 30_000;
const retryMs = 50;

/** Does something while no other process does it. @throws Failure `failed` where the lock cannot be had in a minute */
export async function locked<T>(io: Io, path: string, act: () => Promise<T>): Promise<T> {
  await mkdir(configDirectory(io), { recursive: true, mode: directoryMode });
  const until = io.now() + 2 * staleMs;
  for (;;) {
    try {
      const lock = await open(path, "wx", fileMode);
      await lock.close();
      break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST")
        throw new Failure("failed", `${path} cannot be written (${(error as NodeJS.ErrnoException).code})`);
    }
    if (io.now() > until) throw new Failure("failed", `${path} is held by another process`);
    const age = await stat(path).then(
      ({ mtimeMs }) => io.now() - mtimeMs,
      () => 0,
    );
    if (age > staleMs) await rm(path, { force: true });
    else await Bun.sleep(retryMs);
  }
  try {
    return await act();
  } finally {
    await rm(path, { force: true });
  }
}
