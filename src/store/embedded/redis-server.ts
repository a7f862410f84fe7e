/** The embedded Redis: found on this machine or installed by its package manager, then described as a daemon. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Redis } from "ioredis";
import { findOrInstall } from "../../lib/processes/system-package.ts";
import type { DaemonSpec } from "./daemon.ts";

export interface RedisServerOptions {
  /** Folder of all stores of the data directory. */
  readonly folder: string;
  readonly password: string;
  /** False trades crash safety for speed; for tests. */
  readonly durable: boolean;
  /** One line about what takes long. */
  log(message: string): void;
}

/** Installs Redis if need be and returns how to run it. To be called under the lock. */
export async function prepareRedis(options: RedisServerOptions): Promise<DaemonSpec> {
  const program = await locateRedis(options.log);
  const data = join(options.folder, "redis");
  const settingsFile = join(options.folder, "redis.conf");
  mkdirSync(data, { recursive: true, mode: 0o700 });
  // In a file and not on the command line, where every user of the machine could read the password.
  writeFileSync(settingsFile, serverSettings(data, options), { mode: 0o600 });
  return {
    name: "Redis",
    pidFile: join(options.folder, "redis.pid"),
    mark: settingsFile,
    portFile: join(options.folder, "redis.port"),
    logFile: join(options.folder, "redis.log"),
    command: (port) => [program, settingsFile, "--port", String(port)],
    answers: (port) => answers(redisUrl(port, options.password)),
    stopSignal: "SIGTERM",
  };
}

export function redisUrl(port: number, password: string): string {
  return `redis://:${password}@127.0.0.1:${port}`;
}

function serverSettings(data: string, { password, durable }: RedisServerOptions): string {
  return `${[
    "bind 127.0.0.1",
    `dir ${JSON.stringify(data)}`,
    `requirepass ${password}`,
    "daemonize no",
    // Its command line stays as given, so that it is recognised.
    "set-proc-title no",
    'save ""',
    `appendonly ${durable ? "yes" : "no"}`,
    "appendfsync everysec",
    "maxmemory-policy noeviction",
    "loglevel warning",
  ].join("\n")}\n`;
}

async function locateRedis(log: (message: string) => void): Promise<string> {
  const program = await findOrInstall({
    program: "redis-server",
    packages: { apt: "redis-server", brew: "redis", dnf: "redis", apk: "redis" },
    root: process.getuid?.() === 0,
    log,
  });
  if (program !== null) return program;
  throw new Error(
    "redis-server is not on PATH: install Redis 7 or newer (Debian: apt-get install redis-server; macOS: brew install redis) or set REDIS_URL.",
  );
}

async function answers(url: string): Promise<boolean> {
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null, connectTimeout: 2000 });
  redis.on("error", () => {});
  try {
    await redis.connect();
    return (await redis.ping()) === "PONG";
  } catch {
    return false;
  } finally {
    redis.disconnect();
  }
}
