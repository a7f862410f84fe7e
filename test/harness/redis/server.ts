/** Redis servers of a test's own, as processes in a folder of their own, to be killed and started again. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { findOrInstall } from "../../../src/lib/processes/system-package.ts";
import { until } from "../until.ts";

export const host = "127.0.0.1";

/** One server, or one Sentinel. */
export class RedisServer {
  private child: Bun.Subprocess | null = null;
  private isFrozen = false;
  /** Commands to this very server, wherever it stands among the others. */
  readonly admin: Redis;

  constructor(
    private readonly program: string,
    private readonly folder: string,
    readonly port: number,
    /** Lines of its configuration file. */
    settings: readonly string[],
    private readonly isSentinel = false,
  ) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "redis.conf"), `${settings.join("\n")}\n`);
    this.admin = new Redis({ host, port, lazyConnect: true, retryStrategy: () => 50, maxRetriesPerRequest: null });
    this.admin.on("error", () => {});
  }

  async start(): Promise<void> {
    // Its own file, which it rewrites.
    const command = [this.program, join(this.folder, "redis.conf"), ...(this.isSentinel ? ["--sentinel"] : [])];
    const log = Bun.file(join(this.folder, "redis.log"));
    this.child = Bun.spawn(command, { cwd: this.folder, stdin: "ignore", stdout: log, stderr: log });
    await until(async () => (await this.admin.ping()) === "PONG", { what: `Redis on port ${this.port}` });
  }

  /** SIGKILL: what it did not hand to its replicas is lost with it. */
  async kill(): Promise<void> {
    this.child?.kill("SIGKILL");
    await this.child?.exited;
    this.child = null;
  }

  /** SIGSTOP: its sockets stay open and silent. */
  freeze(): void {
    this.child?.kill("SIGSTOP");
    this.isFrozen = true;
  }

  thaw(): void {
    this.child?.kill("SIGCONT");
    this.isFrozen = false;
  }

  /** It answers. */
  get isRunning(): boolean {
    return this.child !== null && !this.isFrozen;
  }

  async dispose(): Promise<void> {
    this.thaw();
    await this.kill();
    this.admin.disconnect();
  }
}

/** Where a group of servers lives. */
export interface Place {
  readonly program: string;
  readonly folder: string;
  /** @param count distinct free ports */
  ports(count: number): Promise<readonly number[]>;
  remove(): void;
}

/** @throws where redis-server is missing and cannot be installed */
export async function openPlace(): Promise<Place> {
  const program = await findOrInstall({
    program: "redis-server",
    packages: { apt: "redis-server", brew: "redis" },
    root: process.getuid?.() === 0,
    log: (message) => console.error(message),
  });
  if (program === null) throw new Error("redis-server is needed");
  const folder = mkdtempSync(join(tmpdir(), "svc-redis-"));
  return { program, folder, ports: freePorts, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Settings that every server of these tests has. */
export function serverSettings(folder: string, port: number): string[] {
  return [
    `bind ${host}`,
    `port ${port}`,
    `dir ${folder}`,
    "daemonize no",
    'save ""',
    "appendonly yes",
    "appendfsync everysec",
    "maxmemory-policy noeviction",
    "repl-diskless-sync-delay 0",
    "loglevel warning",
  ];
}

/** @param count distinct ports that nothing listens on */
export async function freePorts(count: number): Promise<readonly number[]> {
  // All are held until the last is found, so that none is given twice.
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(0, host, resolve));
      return server;
    }),
  );
  const ports = servers.map((server) => (server.address() as { port: number }).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
