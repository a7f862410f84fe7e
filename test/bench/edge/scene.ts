/** A node with ten thousand daemons, for the rows of the edge bench, and what it and they spend. */
import { openPostgres, type Sql } from "../../../src/store/postgres/pool.ts";
import { type CpuTimes, cpuTimes } from "../cpu.ts";
import { type BenchService, startBenchService } from "../service.ts";
import type { BenchStores } from "../stores.ts";
import { SimulatedFleet } from "./fleet.ts";
import { type BenchHosts, makeHosts } from "./hosts.ts";

/** Least and most milliseconds that a simulated command takes. */
export const work: readonly [number, number] = [5, 50];
const byRoute = 200;
/** Hosts come from addresses of their own, as a balancer tells them. */
const env = { SVC_TRUSTED_PROXIES: "127.0.0.0/8" };

export interface Scene {
  readonly stores: BenchStores;
  readonly sql: Sql;
  readonly fleet: SimulatedFleet;
  readonly hosts: BenchHosts;
  readonly count: number;
  /** Nodes over the same stores; the first is the one that is measured. */
  readonly nodes: readonly BenchService[];
  readonly node: BenchService;
  /** Milliseconds a second that the node took before it had a host. */
  readonly idleAlone: number;
  /** Another one, that hosts are led to only when the bench says so. */
  addNode(): Promise<BenchService>;
  stop(): Promise<void>;
}

export const linkUrl = ({ url }: BenchService): string => `${url.replace("http", "ws")}/v1/edge/connect`;

/** @param schema of its own, so that scenes know nothing of each other's hosts */
export async function openScene(
  stores: BenchStores,
  schema: string,
  count: number,
  idleSeconds: number,
): Promise<Scene> {
  const nodes = [await startBenchService(stores, schema, [], env)];
  const node = nodes[0] as BenchService;
  const sql = openPostgres({ url: stores.databaseUrl, schema, poolSize: 4 });
  await Bun.sleep(5_000);
  const idleAlone = (await spentDuring({ stores, node }, () => Bun.sleep(idleSeconds * 1000))).node / idleSeconds;
  const hosts = await makeHosts(stores, node, sql, count, Math.min(count, byRoute));
  const fleet = await SimulatedFleet.begin({ hostsFile: hosts.file, pins: hosts.pins, urls: [linkUrl(node)], work });
  return {
    ...{ stores, sql, fleet, hosts, count, nodes, node, idleAlone },
    async addNode() {
      const added = await startBenchService(stores, schema, [], env);
      nodes.push(added);
      return added;
    },
    async stop() {
      await fleet.stop();
      await sql.end({ timeout: 2 });
      await Promise.all(nodes.map((one) => one.stop()));
    },
  };
}

export interface Spent extends CpuTimes {
  readonly daemons: number;
  readonly seconds: number;
}

/** CPU milliseconds of the node, its stores and the daemons while it works. */
export async function spentDuring(
  { stores, node, fleet }: Pick<Scene, "stores" | "node"> & { readonly fleet?: SimulatedFleet },
  doing: () => Promise<unknown>,
): Promise<Spent> {
  const look = () => ({ ...cpuTimes(node.pid, stores.dataDir), daemons: fleet?.cpu() ?? 0, at: performance.now() });
  const before = look();
  await doing();
  const after = look();
  return {
    node: after.node - before.node,
    postgres: after.postgres - before.postgres,
    redis: after.redis - before.redis,
    daemons: after.daemons - before.daemons,
    seconds: (after.at - before.at) / 1000,
  };
}

/** @returns what a note of a row says of one of `count` pieces of work */
export function eachOf(spent: Spent, count: number): string {
  const each = (name: Exclude<keyof Spent, "seconds">) => Math.round((spent[name] * 1000) / count);
  const stores = `PostgreSQL ${each("postgres")}, Redis ${each("redis")}`;
  return `CPU each, µs: node ${each("node")}, ${stores}, daemons ${each("daemons")}`;
}
