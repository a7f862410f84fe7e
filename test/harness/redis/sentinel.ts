/** A primary, a replica and three Sentinels that watch them. */
import type { SentinelServers } from "../../../src/store/redis/servers.ts";
import { until } from "../until.ts";
import { host, openPlace, type Place, RedisServer, serverSettings } from "./server.ts";

const name = "svc-primary";
const watchers = 3;
const silentMs = 1_000;

export class SentinelRedis {
  private constructor(
    private readonly place: Place,
    private readonly data: readonly RedisServer[],
    private readonly sentinels: readonly RedisServer[],
  ) {}

  static async start(): Promise<SentinelRedis> {
    const place = await openPlace();
    const [primaryPort = 0, replicaPort = 0, ...ports] = await place.ports(2 + watchers);
    const data = [primaryPort, replicaPort].map((port, index) => {
      const folder = `${place.folder}/data-${index}`;
      const follow = index === 0 ? [] : [`replicaof ${host} ${primaryPort}`];
      return new RedisServer(place.program, folder, port, [...serverSettings(folder, port), ...follow]);
    });
    await Promise.all(data.map((server) => server.start()));
    await until(async () => (await data[1]?.admin.info("replication"))?.includes("master_link_status:up"), {
      what: "the replica to follow",
    });
    const sentinels = ports.map((port, index) => {
      const folder = `${place.folder}/sentinel-${index}`;
      const settings = [
        `bind ${host}`,
        `port ${port}`,
        `dir ${folder}`,
        "loglevel warning",
        `sentinel monitor ${name} ${host} ${primaryPort} 2`,
        `sentinel down-after-milliseconds ${name} ${silentMs}`,
        `sentinel failover-timeout ${name} 5000`,
      ];
      return new RedisServer(place.program, folder, port, settings, true);
    });
    await Promise.all(sentinels.map((server) => server.start()));
    const redis = new SentinelRedis(place, data, sentinels);
    await redis.watched();
    return redis;
  }

  get servers(): SentinelServers {
    const sentinels = this.sentinels.map(({ port }) => ({ host, port }));
    return { sentinels, name, sentinelPassword: null, username: null, password: null, tls: false };
  }

  /** Every Sentinel knows the replica and the others. */
  private async watched(): Promise<void> {
    await until(
      async () => {
        for (const { admin } of this.sentinels) {
          const facts = (await admin.call("SENTINEL", "MASTER", name)) as string[];
          const fact = (key: string) => Number(facts[facts.indexOf(key) + 1]);
          if (fact("num-slaves") < 1 || fact("num-other-sentinels") < watchers - 1) return false;
        }
        return true;
      },
      { what: "the Sentinels to know all", timeoutMs: 30_000 },
    );
  }

  /** Resolves when the primary has a replica again, as every Sentinel sees it. */
  async followed(): Promise<void> {
    const primary = await this.primary();
    await until(
      async () => {
        const replicas = this.data.filter((server) => server !== primary);
        const roles = await Promise.all(replicas.map(({ admin }) => admin.info("replication")));
        return roles.every((role) => role.includes("master_link_status:up"));
      },
      { what: "a replica of the new primary", timeoutMs: 30_000 },
    );
    await until(
      async () => {
        for (const { admin } of this.sentinels) {
          const [replica] = (await admin.call("SENTINEL", "REPLICAS", name)) as string[][];
          const flags = replica?.[replica.indexOf("flags") + 1];
          if (flags !== "slave") return false;
        }
        return true;
      },
      { what: "the Sentinels to see it", timeoutMs: 30_000 },
    );
  }

  private async primary(): Promise<RedisServer> {
    const asked = this.sentinels[0] as RedisServer;
    const [, port] = (await asked.admin.call("SENTINEL", "GET-MASTER-ADDR-BY-NAME", name)) as string[];
    const found = this.data.find((server) => server.port === Number(port));
    if (found === undefined) throw new Error("no primary");
    return found;
  }

  /** Kills the primary and resolves when the replica has taken over. */
  async killPrimary(): Promise<RedisServer> {
    const killed = await this.primary();
    await killed.kill();
    await until(
      async () => {
        const next = await this.primary();
        return next !== killed && (await next.admin.info("replication")).includes("role:master");
      },
      { what: "a fail-over", timeoutMs: 30_000 },
    );
    return killed;
  }

  /** Kills the servers, but not the Sentinels, has `meanwhile` done, and starts them again with what is on their disks. */
  async withoutAll(meanwhile: () => Promise<void>): Promise<void> {
    await Promise.all(this.data.map((server) => server.kill()));
    await meanwhile();
    await Promise.all(this.data.map((server) => server.start()));
    await this.followed();
  }

  async dispose(): Promise<void> {
    await Promise.all([...this.sentinels, ...this.data].map((server) => server.dispose()));
    this.place.remove();
  }
}
