/** How many streams each tenant has open over all nodes. Nodes say how many they have; what one says holds for 30 s. */
import { repeatedly } from "../../lib/timers.ts";
import { openRedis, type RedisServers } from "../../store/redis/connections.ts";
import { scriptCommand } from "../../store/redis/script.ts";

const holdsSeconds = 30;
const sayEveryMs = 10_000;
const soonMs = 500;

/** Streams of tenants beside those of this node. */
export interface TenantCounts {
  /**
   * Whether one more stream may be opened here.
   * @param own those that are open here
   * @param most over all nodes
   */
  take(tenant: string, own: number, most: number): Promise<boolean>;
  /** The tenant has fewer streams here. */
  left(tenant: string): void;
}

export interface TenantCountsOptions {
  readonly redisServers: RedisServers;
  /** Of every key. */
  readonly prefix: string;
  /** Names this node among all. */
  readonly node: string;
  /** The open streams of this node, by tenant. */
  readonly own: () => ReadonlyMap<string, number>;
}

export function openTenantCounts({ redisServers, prefix, node, own }: TenantCountsOptions) {
  const redis = openRedis(redisServers);
  const taking = scriptCommand(redis, "streams-take");
  const fewer = new Set<string>();
  let timer: ReturnType<typeof setTimeout> | null = null;

  const say = (tenant: string, count: number, more: number, most: number) =>
    taking([`${prefix}:streams:${tenant}`], [node, count, more, most, holdsSeconds]);

  async function sayAll(tenants: Iterable<string>): Promise<void> {
    await Promise.all([...tenants].map((tenant) => say(tenant, own().get(tenant) ?? 0, 0, 0)));
  }
  const end = repeatedly(
    sayEveryMs,
    () => sayAll(own().keys()),
    () => {},
  );

  return {
    take: async (tenant: string, count: number, most: number): Promise<boolean> =>
      // Without Redis each node goes by its own.
      (await say(tenant, count, 1, most).catch(() => 1)) === 1,

    left(tenant: string): void {
      fewer.add(tenant);
      timer ??= setTimeout(() => {
        timer = null;
        const tenants = [...fewer];
        fewer.clear();
        // A node that cannot say it is believed to have them for a while.
        sayAll(tenants).catch(() => {});
      }, soonMs);
    },

    async close(): Promise<void> {
      if (timer !== null) clearTimeout(timer);
      await end();
      await Promise.race([sayAll([...fewer, ...own().keys()]).catch(() => {}), Bun.sleep(soonMs)]);
      redis.disconnect();
    },
  };
}
