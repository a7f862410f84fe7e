/** PostgreSQL and Redis of one test's own, to be killed and started again; Redis of the kind that the run has. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exclusively } from "../../src/store/embedded/exclusive.ts";
import { joinStores } from "../../src/store/embedded/stores.ts";
import { migrate } from "../../src/store/migrate.ts";
import { openPostgres, type Sql } from "../../src/store/postgres/pool.ts";
import { openRedis } from "../../src/store/redis/connections.ts";
import { redisKind, startRedis } from "../harness/redis/kind.ts";
import type { StoreAddress } from "../harness/runtime/runtime.ts";
import { until } from "../harness/until.ts";

export class OwnStores {
  private readonly joined: { leave(): Promise<void> }[] = [];
  private schemas = 0;

  private constructor(
    private readonly dataDir: string,
    private readonly databaseUrl: string,
    readonly redisUrl: string,
    /** Null where Redis is the server at `redisUrl`. */
    private readonly servers: Awaited<ReturnType<typeof startRedis>>,
  ) {}

  /** Starts both, durable as in production, in a folder of their own. */
  static async start(): Promise<OwnStores> {
    const dataDir = mkdtempSync(join(tmpdir(), "svc-faults-"));
    const [joined, servers] = await Promise.all([joinStores({ dataDir }), startRedis(redisKind)]);
    const { databaseUrl, redisUrl } = joined;
    if (databaseUrl === null || redisUrl === null) throw new Error("both stores were wanted");
    const stores = new OwnStores(dataDir, databaseUrl, redisUrl, servers);
    stores.joined.push(joined);
    return stores;
  }

  /** A migrated schema and a prefix that nobody else uses. */
  async fresh(): Promise<StoreAddress & { readonly sql: Sql }> {
    const name = `faults_${++this.schemas}`;
    const sql = openPostgres({ url: this.databaseUrl, schema: name, poolSize: 4 });
    await migrate(sql, name);
    const redis = { redisUrl: this.redisUrl, ...(this.servers === null ? {} : { redisServers: this.servers.servers }) };
    return { databaseUrl: this.databaseUrl, ...redis, schema: name, prefix: name, sql };
  }

  /** Stops PostgreSQL (SIGINT is its fast shutdown), has `meanwhile` done, and starts it again. */
  async withoutPostgres(signal: "SIGINT" | "SIGKILL", meanwhile: () => Promise<void>): Promise<void> {
    const pid = Number(readFileSync(join(this.dataDir, "stores/postgres/postmaster.pid"), "utf8").split("\n")[0]);
    await this.outage(pid, this.databaseUrl, signal, meanwhile);
  }

  /** kill -9 of Redis, of every server where there are several, `meanwhile`, and Redis again. */
  async withoutRedis(meanwhile: () => Promise<void>): Promise<void> {
    if (this.servers !== null) {
      await this.servers.withoutAll(meanwhile);
      return;
    }
    const redis = openRedis(this.redisUrl);
    const pid = Number(/process_id:(\d+)/.exec(await redis.info("server"))?.[1]);
    redis.disconnect();
    await this.outage(pid, this.redisUrl, "SIGKILL", meanwhile);
  }

  /** kill -9 of Redis, and an empty one in its place, on the same port. */
  async replaceRedis(): Promise<void> {
    await this.withoutRedis(async () => rmSync(join(this.dataDir, "stores/redis"), { recursive: true, force: true }));
  }

  private async outage(
    pid: number,
    url: string,
    signal: NodeJS.Signals,
    meanwhile: () => Promise<void>,
  ): Promise<void> {
    const port = Number(new URL(url).port);
    // While this process holds the lock, no other one starts the store again.
    await exclusively(join(this.dataDir, "stores/lock"), 30_000, async () => {
      process.kill(pid, signal);
      await meanwhile();
      // Children of a killed server keep its port for a moment; a store that finds it taken comes back on another one.
      await until(() => isFree(port), { what: `port ${port} to be free`, timeoutMs: 20_000 });
    });
    this.joined.push(await joinStores({ dataDir: this.dataDir }));
  }

  async dispose(): Promise<void> {
    await this.servers?.dispose();
    for (const one of this.joined) await one.leave();
    rmSync(this.dataDir, { recursive: true, force: true });
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
