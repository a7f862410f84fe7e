/** The embedded PostgreSQL: makes its cluster once, describes how it runs. */
import { chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { commandLine, identify } from "../../lib/processes/process-table.ts";
import { postgres } from "../postgres/driver.ts";
import type { DaemonSpec } from "./daemon.ts";
import { type Account, locatePostgres, type PostgresBinaries, postgresAccount, runAs } from "./postgres-binaries.ts";

export interface PostgresServerOptions {
  /** Folder of all stores of the data directory. */
  readonly folder: string;
  readonly password: string;
  /** False trades crash safety for speed; for tests. */
  readonly durable: boolean;
  readonly maxConnections: number;
}

/** Makes the cluster if there is none yet and returns how to run it. To be called under the lock. */
export async function preparePostgres(options: PostgresServerOptions): Promise<DaemonSpec> {
  const account = postgresAccount();
  const binaries = locatePostgres(account);
  const cluster = join(options.folder, "postgres");
  if (!existsSync(cluster)) await makeCluster(cluster, binaries, account, options);
  const settings = Object.entries(serverSettings(options)).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  return {
    name: "PostgreSQL",
    pidFile: join(options.folder, "postgres.pid"),
    mark: cluster,
    portFile: join(options.folder, "postgres.port"),
    logFile: join(options.folder, "postgres.log"),
    beforeStart: () => disarmLock(cluster),
    command: (port) =>
      runAs(account, cluster, [
        "/usr/bin/env",
        ...allocation,
        binaries.postgres,
        "-D",
        cluster,
        "-p",
        String(port),
        ...settings,
      ]),
    answers: (port) => answers(postgresUrl(port, options.password)),
    // Fast shutdown: connections are cut, everything is written.
    stopSignal: "SIGINT",
  };
}

/**
 * Settings of glibc's allocator: a backend keeps the memory of one statement for the next. It would otherwise give it
 * back to the system after every commit of a lane and take it again, which was a sixth of the CPU time of a commit.
 */
const allocation = [`MALLOC_TOP_PAD_=${1024 * 1024}`, `MALLOC_TRIM_THRESHOLD_=${4 * 1024 * 1024}`];

export function postgresUrl(port: number, password: string): string {
  return `postgres://svc:${password}@127.0.0.1:${port}/postgres`;
}

function serverSettings({ durable, maxConnections }: PostgresServerOptions): Record<string, string> {
  const safety = durable ? "on" : "off";
  return {
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    max_connections: String(maxConnections),
    shared_buffers: "128MB",
    max_wal_size: durable ? "2GB" : "512MB",
    // Two cores and short statements: a parallel plan costs more than it brings.
    max_parallel_workers_per_gather: "0",
    fsync: safety,
    synchronous_commit: safety,
    full_page_writes: safety,
    // Compiling a plan takes longer than any statement of ours runs.
    jit: "off",
    timezone: "UTC",
    log_min_messages: "warning",
    log_checkpoints: "off",
  };
}

async function makeCluster(
  cluster: string,
  { initdb }: PostgresBinaries,
  account: Account | null,
  { folder, password, durable }: PostgresServerOptions,
): Promise<void> {
  // Made aside and renamed: a start that was killed half-way leaves nothing that looks like a cluster.
  const draft = join(folder, "postgres.draft");
  const passwordFile = join(folder, "postgres.initial-password");
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { mode: 0o700 });
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (account !== null) {
    chownSync(draft, account.uid, account.gid);
    chownSync(passwordFile, account.uid, account.gid);
  }
  try {
    const command = [
      initdb,
      `--pgdata=${draft}`,
      "--username=svc",
      `--pwfile=${passwordFile}`,
      "--auth=scram-sha-256",
      "--encoding=UTF8",
      "--locale-provider=builtin",
      "--builtin-locale=C.UTF-8",
      "--locale=C",
      ...(durable ? [] : ["--no-sync"]),
    ];
    const child = Bun.spawn(runAs(account, draft, command), { cwd: "/", stdout: "pipe", stderr: "pipe" });
    const [output, complaint, exitCode] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    if (exitCode !== 0) throw new Error(`initdb failed: ${complaint.trim() || output.trim()}`);
    renameSync(draft, cluster);
  } finally {
    rmSync(passwordFile, { force: true });
  }
}

/** A pid that no system hands out. */
const unusedPid = 2 ** 30;

/**
 * PostgreSQL refuses to start while the pid in its lock file exists, even as a zombie that is not reaped
 * or as some other program that got the number since. Only the pid is replaced: by the rest of the file
 * PostgreSQL still finds out whether processes of the former server are at work, and waits for them.
 */
function disarmLock(cluster: string): void {
  const file = join(cluster, "postmaster.pid");
  if (!existsSync(file)) return;
  const [pid, ...rest] = readFileSync(file, "utf8").split("\n");
  if (identify(Number(pid)) !== null && commandLine(Number(pid)).includes(cluster)) return;
  writeFileSync(file, [unusedPid, ...rest].join("\n"));
}

async function answers(url: string): Promise<boolean> {
  const sql = postgres(url, { max: 1, connect_timeout: 2, onnotice: () => {} });
  try {
    await sql`select 1`;
    return true;
  } catch {
    return false;
  } finally {
    await sql.end({ timeout: 0 });
  }
}
