import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { identify } from "../../../src/lib/processes/process-table.ts";
import { type JoinedStores, joinStores } from "../../../src/store/embedded/stores.ts";
import { postgres } from "../../../src/store/postgres/driver.ts";
import { openRedis } from "../../../src/store/redis/connections.ts";
import { until } from "../../harness/until.ts";

// One data directory for all: making a cluster is the slow part, and every test starts from stopped stores.
const dataDir = mkdtempSync(join(tmpdir(), "svc stores-"));
const stores = join(dataDir, "stores");
const joins: JoinedStores[] = [];
const nodes: NodeProcess[] = [];

afterEach(async () => {
  for (const node of nodes.splice(0)) await node.kill();
  for (const joined of joins.splice(0)) await joined.leave();
  // Nodes that were killed left the stores running: one that comes and goes ends them.
  await (await joinStores({ dataDir })).leave();
});
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

async function joinHere(): Promise<JoinedStores> {
  const joined = await joinStores({ dataDir });
  joins.push(joined);
  return joined;
}

interface NodeProcess {
  readonly urls: Pick<JoinedStores, "databaseUrl" | "redisUrl" | "started">;
  leave(): Promise<void>;
  kill(): Promise<void>;
}

async function startNode(): Promise<NodeProcess> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "node-program.ts"), dataDir], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  const reader = child.stdout.getReader();
  let line = "";
  while (!line.includes("\n")) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`the node ended after: ${line}`);
    line += new TextDecoder().decode(value);
  }
  const node = {
    urls: JSON.parse(line),
    leave: async () => {
      await child.stdin.end();
      await child.exited;
    },
    kill: async () => {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
  nodes.push(node);
  return node;
}

async function query<T>({ databaseUrl }: Pick<JoinedStores, "databaseUrl">, text: string): Promise<T[]> {
  const sql = postgres(databaseUrl ?? "", { max: 1, onnotice: () => {} });
  try {
    return (await sql.unsafe(text)) as unknown as T[];
  } finally {
    await sql.end();
  }
}

async function redisCommand(
  { redisUrl }: Pick<JoinedStores, "redisUrl">,
  ...args: [string, ...string[]]
): Promise<unknown> {
  const redis = openRedis(redisUrl ?? "");
  try {
    return await redis.call(...args);
  } finally {
    redis.disconnect();
  }
}

function storePid(name: "postgres" | "redis"): number {
  return Number(readFileSync(join(stores, `${name}.pid`), "utf8"));
}

function storePids(): number[] {
  return [storePid("postgres"), storePid("redis")];
}

function allGone(pids: readonly number[]): boolean {
  return pids.every((pid) => identify(pid) === null);
}

test("the first node starts them, the last one out stops them", async () => {
  const first = await startNode();
  expect(first.urls.started).toBe(true);
  const second = await startNode();
  expect(second.urls).toEqual({ ...first.urls, started: false });
  const pids = storePids();
  await first.leave();
  expect(await query<{ one: number }>(second.urls, "select 1 as one")).toMatchObject([{ one: 1 }]);
  await second.leave();
  await until(() => allGone(pids), { what: "the end of the stores" });
});

test("nodes that start at the same moment share one pair of stores", async () => {
  const started = await Promise.all([startNode(), startNode(), startNode()]);
  expect(started.filter(({ urls }) => urls.started)).toHaveLength(1);
  expect(new Set(started.map(({ urls }) => urls.databaseUrl)).size).toBe(1);
});

test("one process that joins twice counts twice", async () => {
  const first = await joinHere();
  const second = await joinHere();
  await first.leave();
  await first.leave();
  expect(await redisCommand(second, "PING")).toBe("PONG");
});

test("they survive kill -9 of their node; the next node joins and stops them", async () => {
  const owner = await startNode();
  await query(owner.urls, "create table if not exists kept (id int); insert into kept values (1)");
  const pids = storePids();
  await owner.kill();
  expect(allGone(pids)).toBe(false);
  const next = await startNode();
  expect(next.urls).toEqual({ ...owner.urls, started: false });
  expect(await query<{ id: number }>(next.urls, "select id from kept")).toMatchObject([{ id: 1 }]);
  await next.leave();
  await until(() => allGone(pids), { what: "the end of the stores" });
});

test("killed stores start again with everything that was acknowledged", async () => {
  const first = await startNode();
  await query(first.urls, "create table crashed (id int); insert into crashed values (7)");
  await redisCommand(first.urls, "SET", "crashed", "7");
  await Bun.sleep(1100); // appendfsync everysec: what is older than a second is on disk
  const pids = storePids();
  await first.kill();
  for (const pid of pids) process.kill(pid, "SIGKILL");
  await until(() => allGone(pids), { what: "the end of the stores" });
  const second = await joinHere();
  expect(second.started).toBe(true);
  expect(await query<{ id: number }>(second, "select id from crashed")).toMatchObject([{ id: 7 }]);
  expect(await redisCommand(second, "GET", "crashed")).toBe("7");
});

test("a store that dies under its nodes is started again on its port", async () => {
  const joined = await joinHere();
  await joinHere();
  await query(joined, "create table revived (id int); insert into revived values (3)");
  const before = storePids();
  for (const pid of before) process.kill(pid, "SIGKILL");
  const rows = await until(() => query<{ id: number }>(joined, "select id from revived"), { what: "PostgreSQL" });
  expect(rows).toMatchObject([{ id: 3 }]);
  await until(async () => (await redisCommand(joined, "PING")) === "PONG", { what: "Redis" });
  expect(storePids()).not.toEqual(before);
});

describe("leftovers", () => {
  test("a pid that went to another process is no store, a taken port is given up", async () => {
    const before = await joinHere();
    await before.leave();
    for (const name of ["postgres", "redis"]) {
      writeFileSync(join(stores, `${name}.pid`), `${process.pid}\n`);
    }
    const squatters = await Promise.all(
      [before.databaseUrl, before.redisUrl].map((url) => squat(Number(new URL(url ?? "").port))),
    );
    const after = await joinHere();
    expect(after.started).toBe(true);
    expect(new URL(after.databaseUrl ?? "").port).not.toBe(new URL(before.databaseUrl ?? "").port);
    expect(new URL(after.redisUrl ?? "").port).not.toBe(new URL(before.redisUrl ?? "").port);
    for (const release of squatters) release();
  });

  test("PostgreSQL's lock file naming a foreign process does not stop it", async () => {
    await (await joinHere()).leave();
    writeFileSync(
      join(stores, "postgres/postmaster.pid"),
      `${process.pid}\n/elsewhere\n1\n1\n\n127.0.0.1\n1 1\nready\n`,
    );
    expect((await joinHere()).started).toBe(true);
  });

  test("entries of dead nodes, cut-off entries and cut-off pid files count for nothing", async () => {
    const folder = join(dataDir, "nodes");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "1-recycled"), JSON.stringify({ pid: process.pid, born: "long ago" }));
    writeFileSync(join(folder, "2-cut-off"), '{"pid":');
    writeFileSync(join(stores, "postgres.pid"), "");
    writeFileSync(join(stores, "redis.port"), "abc");
    const joined = await joinHere();
    const pids = storePids();
    await joined.leave();
    await until(() => allGone(pids), { what: "the end of the stores" });
    expect(readdirSync(folder)).toEqual([]);
  });

  test("a cluster whose making was interrupted is made anew", async () => {
    const other = mkdtempSync(join(tmpdir(), "svc-draft-"));
    mkdirSync(join(other, "stores/postgres.draft"), { recursive: true });
    writeFileSync(join(other, "stores/postgres.draft/PG_VERSION"), "18");
    const joined = await joinStores({ dataDir: other, durable: false, want: { postgres: true, redis: false } });
    expect(joined.redisUrl).toBeNull();
    expect(await query<{ one: number }>(joined, "select 1 as one")).toMatchObject([{ one: 1 }]);
    await joined.leave();
    rmSync(other, { recursive: true });
  });
});

test("durable where it counts, closed to strangers", async () => {
  const joined = await joinHere();
  const [settings] = await query<Record<string, string>>(
    joined,
    "select current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit, current_setting('listen_addresses') as listen",
  );
  expect({ ...settings }).toEqual({ fsync: "on", commit: "on", listen: "127.0.0.1" });
  expect(await redisCommand(joined, "CONFIG", "GET", "appendonly")).toEqual(["appendonly", "yes"]);
  expect(await redisCommand(joined, "CONFIG", "GET", "appendfsync")).toEqual(["appendfsync", "everysec"]);
  expect(await redisCommand(joined, "CONFIG", "GET", "maxmemory-policy")).toEqual(["maxmemory-policy", "noeviction"]);
  for (const file of ["password", "redis.conf"]) expect(statSync(join(stores, file)).mode & 0o777).toBe(0o600);
  const stranger = joined.databaseUrl?.replace(/:[^:@]+@/, ":guess@") ?? null;
  await expect(query({ databaseUrl: stranger }, "select 1")).rejects.toThrow(/password/);
  await expect(
    redisCommand({ redisUrl: joined.redisUrl?.replace(/:[^:@]+@/, ":guess@") ?? null }, "GET", "x"),
  ).rejects.toThrow();
});

function squat(port: number): Promise<() => void> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => resolve(() => server.close()));
  });
}
